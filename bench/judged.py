"""Precision and yield of the rules on a sample that a reader judged: python -m bench.judged [--unjudged]

The sample is of the LoCoMo conversations 26, 30 and 41, and lies in judged.json as ids and verdicts; its words are not
part of this repository. Precision: of a hundred relationships, those that come first by a hash of what they say, which
are right. Yield: of the statements worth keeping in a hundred turns, drawn so too, how many were read rightly. What the
rules read otherwise since has another id, and counts as not judged; --unjudged shows it.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Relationship, Turn
from asof_ontologies.registry import load
from bench.extraction_sample import conversation, describe
from bench.question_dates import READ
from bench.retrieval import DATA

FILE: Final = Path(__file__).with_name("judged.json")
DRAWN: Final = 100
VERDICTS: Final = ("right", "useless", "wrong")  # useless: true, and worth nothing
_LETTERS: Final = 16  # of an id


def id_of(turn: Turn, found: Relationship) -> str:
    """Return the id of a relationship: the hash of where it was said, and of all that it says."""
    subject = turn.role if found.source.speaker else found.source.text
    said = (subject, found.relation, found.target.text, found.stance, found.valid_from, found.valid_to)
    return _hash("|".join(map(str, (turn.episode_id, *said))))


def report(folder: Path = DATA, *, unjudged: bool = False) -> Iterator[str]:
    """Yield the lines of the report."""
    judged = json.loads(FILE.read_text("utf-8"))
    verdicts: dict[str, str] = judged["relationships"]
    worth: dict[str, int] = judged["turns"]
    extractor = EnglishExtractor(load("default"), find_times)
    read = [each for group in READ for each in conversation(folder / f"{group}.jsonl", extractor)]
    by_id = {id_of(turn, one): (turn, one) for turn, found in read for one in found.relationships}
    drawn = sorted(by_id)[:DRAWN]
    counts = Counter(verdicts.get(each, "not judged") for each in drawn)
    known = sum(counts[verdict] for verdict in VERDICTS)
    told = ", ".join(f"{verdict} {counts[verdict]}" for verdict in (*VERDICTS, "not judged"))
    yield f"precision: {counts['right'] / max(known, 1):.0%} of {known} relationships ({told})"
    of_turns = [each for each, (turn, _) in by_id.items() if turn.episode_id in worth]
    right = sum(verdicts.get(each) == "right" for each in of_turns)
    open_ = sum(each not in verdicts for each in of_turns)
    whole = sum(worth.values())
    yield f"yield: {right / whole:.0%} of {whole} statements worth keeping in {len(worth)} turns ({open_} not judged)"
    if unjudged:
        yield from (f"{each} {describe(*by_id[each])}" for each in sorted({*drawn, *of_turns}) if each not in verdicts)


def _hash(text: str) -> str:
    return hashlib.sha256(f"judged:{text}".encode()).hexdigest()[:_LETTERS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--unjudged", action="store_true", help="show what the rules read that nobody judged")
    print(*report(unjudged=parser.parse_args().unjudged), sep="\n")


if __name__ == "__main__":
    main()
