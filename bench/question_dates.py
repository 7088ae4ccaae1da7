"""How often the times in the evidence of an answer mean the time that it names: question_dates.py [CONVERSATION ...].

Of the temporal questions of LoCoMo whose answer is one time. Right: a time read out of a turn that holds the evidence,
or where it has none the day on which it was said, overlaps with the answer by at least half of the longer of the two,
or lies within an answer that is coarser ("June 2023").
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from asof_agents.extraction.english.dates import find_times, read_time
from asof_streams.instants import DAY, INF, NEG, parse
from bench.retrieval import DATA

READ: Final = ("locomo-conv-26", "locomo-conv-30", "locomo-conv-41")  # rules may be written on these
Period = tuple[int, int]


def meets(answer: Period, period: Period) -> bool:
    """Whether a period overlaps with an answer by half of the longer one, or lies within it."""
    common = min(answer[1], period[1]) - max(answer[0], period[0])
    longer = max(answer[1] - answer[0], period[1] - period[0])
    return 2 * common >= longer or common == period[1] - period[0]


def answer_of(question: dict[str, Any], said_at: int) -> Period | None:
    """Return the period that an answer names; None: it is not one time."""
    answer = str(question["answer"]).strip().rstrip(".").replace(",", "")
    text = re.sub(r"^(?:on|in|the|during|around)\s+", "", answer, flags=re.IGNORECASE)
    found = find_times(text, said_at)
    hint = found[0] if len(found) == 1 and found[0].words == text else read_time(text, said_at, tense="past")
    return None if hint is None or hint.start == NEG or hint.end == INF else (hint.start, hint.end)


def read(text: str, said_at: int) -> Iterator[Period]:
    """Yield the periods that a turn's words name, with a bare name of a day in the past and ahead."""
    for tense in ("past", "future"):
        for hint in find_times(text, said_at, tense=tense):
            yield (hint.end - DAY, hint.end) if hint.start == NEG else (hint.start, hint.end)


def measured(group: str, folder: Path = DATA) -> tuple[int, int, list[str]]:
    """Return how many questions are right, of how many, and lines about the others."""
    turns = {line["name"]: line for line in map(json.loads, (folder / f"{group}.jsonl").open(encoding="utf-8"))}
    right, asked, wrong = 0, 0, []
    for question in map(json.loads, (folder / "questions.jsonl").open(encoding="utf-8")):
        if (question["group_id"], question["category"]) != (group, "temporal"):
            continue
        evidence = [turns[name] for name in question["evidence"] if name in turns]
        answer = answer_of(question, parse(evidence[0]["timestamp"])) if evidence else None
        if answer is None:
            continue
        asked += 1
        found = [p for turn in evidence for p in read(turn["content"], parse(turn["timestamp"]))]
        said = [(at // DAY * DAY, at // DAY * DAY + DAY) for at in (parse(turn["timestamp"]) for turn in evidence)]
        if any(meets(answer, period) for period in found or said):
            right += 1
        else:
            texts = " | ".join(f"{turn['timestamp'][:10]} {turn['content']}" for turn in evidence)
            wrong.append(f"  {question['answer']}: {texts}")
    return right, asked, wrong


def report(groups: Iterable[str] = READ, folder: Path = DATA, *, failures: bool = False) -> Iterator[str]:
    """Yield a line about each conversation, and with `failures` about each question that is wrong."""
    for group in groups:
        right, asked, wrong = measured(group, folder)
        yield f"{group}: {right} of {asked} right ({right / max(asked, 1):.0%})"
        yield from wrong if failures else ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("conversations", nargs="*", default=READ)
    parser.add_argument("--failures", action="store_true", help="print the turns of those that are wrong")
    chosen = parser.parse_args()
    print(*report(chosen.conversations, failures=chosen.failures), sep="\n")


if __name__ == "__main__":
    main()
