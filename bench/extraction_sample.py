"""Draw a reproducible sample of the relationships that the rules read out of real conversations, to check by hand.

    python bench/extraction_sample.py [--size 100] [--seed 7] [--ontology default]

Each line: id, subject, relation, object (type), stance, times, confidence; then the sentence. After the sample, how
many relationships and mentions each conversation gives, and how many messages a second of processor time.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, KnownNames, Relationship, Turn
from asof_ontologies.registry import load
from asof_streams.instants import parse, render

_DATA = Path(os.environ.get("ASOF_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


class _Extracts(Protocol):
    def extract(self, turn: Turn, before: list[Turn], known: KnownNames) -> Extraction: ...


def conversation(path: Path, extractor: _Extracts) -> Iterator[tuple[Turn, Extraction]]:
    """Read one conversation as the mentions agent does: four turns of context, names remembered by the group."""
    names: dict[str, str] = {}
    before: list[Turn] = []

    def known(asked: Any) -> Mapping[str, str]:
        return {name: names[name.casefold()] for name in asked if name.casefold() in names}

    for line in path.read_text("utf-8").splitlines():
        message = json.loads(line)
        name, role, text = message["name"], message["role"], message["content"]
        turn = Turn(f"{message['group_id']}/{name}", role, message["role_type"], text, parse(message["timestamp"]))
        found = extractor.extract(turn, before, known)
        for mention in found.mentions:
            if not mention.speaker:
                names.setdefault(mention.text.casefold(), mention.type)
        before = [*before[-3:], Turn(turn.episode_id, role, turn.role_type, text, turn.said_at, found.mentions)]
        yield turn, found


def describe(turn: Turn, found: Relationship) -> str:
    """Everything a reader needs to judge one relationship."""
    source = turn.role if found.source.speaker else found.source.text
    since = "" if found.valid_from is None else f" from {render(found.valid_from)}"
    until = "" if found.valid_to is None else f" to {render(found.valid_to)}"
    words = f" ({found.time_words!r}, {found.grain})" if found.time_words else ""
    said = turn.text[slice(*found.span)].replace("\n", " ")
    target = f"{found.target.text} ({found.target.type})"
    fact = f"{source} -{found.relation}-> {target}"
    return f"{fact}  {found.stance}{since}{until}{words} {found.confidence}\n      {render(turn.said_at)} {said}"


def main() -> None:
    options = argparse.ArgumentParser(description="Draw relationships to check by hand.")
    options.add_argument("--size", type=int, default=100)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--ontology", default="default")
    chosen = options.parse_args()
    paths = sorted((_DATA / "locomo-dev").glob("locomo-conv-*.jsonl"))
    if not paths:
        sys.exit(f"no conversations under {_DATA}: set ASOF_TEST_DATA to the folder that holds locomo-dev")
    extractor = EnglishExtractor(load(chosen.ontology), find_times)
    drawn: list[tuple[str, str, str]] = []
    totals = []
    for path in paths:
        began = time.process_time()
        read = list(conversation(path, extractor))
        seconds = time.process_time() - began
        relationships = sum(len(found.relationships) for _, found in read)
        mentions = sum(len(found.mentions) for _, found in read)
        totals.append(
            f"{path.stem}: {len(read)} messages, {mentions} mentions, {relationships} relationships, "
            f"{len(read) / seconds:.0f} messages/s"
        )
        for turn, found in read:
            for index, relationship in enumerate(found.relationships):
                place = f"{turn.episode_id}#{index}"
                rank = hashlib.sha256(f"{chosen.seed}:{place}".encode()).hexdigest()
                drawn.append((rank, place, describe(turn, relationship)))
    for number, (_, place, text) in enumerate(sorted(drawn)[: chosen.size], start=1):
        print(f"{number:3} {place}  {text}")
    print()
    print("\n".join(totals))


if __name__ == "__main__":
    main()
