"""How many of a public corpus of English time expressions are read right: time_expressions.py [--failures].

Right: the start is equal, and the end where the example states one. Where it states a direction, After asks for a
`since` from that start, and Before for an `until` to it. An `until` has no start of its own ("by Friday"): the corpus
writes the reference time there.
"""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from asof_agents.extraction.english.dates import read_time
from asof_agents.extraction.ports import TimeHint
from asof_streams.instants import from_datetime, render

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ASOF_TEST_DATA") or ROOT.parent / "shared" / "data")
CORPUS = DATA / "time-expressions" / "time_en.json"


def wall_clock(text: str, reference: datetime) -> int:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=reference.tzinfo))


def is_right(example: dict[str, Any], hint: TimeHint | None, reference: datetime) -> bool:
    if hint is None:
        return False
    start = wall_clock(example["start"], reference)
    end = example["end"] and wall_clock(example["end"], reference)
    match example["direction"]:
        case "After":
            return hint.kind == "since" and hint.start == start
        case "Before":
            return hint.kind == "until" and hint.end == start
    if hint.kind == "until":
        return start == from_datetime(reference) and hint.end == end
    return hint.start == start and end in (None, hint.end)


def read_corpus(path: Path = CORPUS) -> list[tuple[dict[str, Any], TimeHint | None, bool]]:
    """Return every example with how it is read, and whether that is right."""
    corpus = json.loads(path.read_text(encoding="utf-8"))
    reference = datetime.fromisoformat(corpus["reference"])
    zone = reference.tzinfo or UTC
    results = []
    for example in corpus["examples"]:
        hint = read_time(example["text"], from_datetime(reference), zone=zone)
        results.append((example, hint, is_right(example, hint, reference)))
    return results


def main() -> None:
    results = read_corpus()
    common = [result for result in results if not result[0]["holiday"]]
    for name, part in (("all", results), ("without a holiday", common)):
        right = sum(ok for _, _, ok in part)
        print(f"{name}: {right} of {len(part)} right ({right / len(part):.1%})")
    if "--failures" in sys.argv[1:]:
        for example, hint, ok in common:
            if not ok:
                read = hint and f"{hint.kind} {render(hint.start)} {render(hint.end)}"
                print(f"{example['text']!r}: wants {example['start']} {example['end'] or ''}, reads {read} (UTC)")


if __name__ == "__main__":
    main()
