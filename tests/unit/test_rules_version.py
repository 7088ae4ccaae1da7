"""The version of the rules names what they read: whoever changes what is read names a new version."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Final

from asof_agents.extraction.english.version import version_of
from asof_ontologies.registry import load
from reading import AGENT_MEMORY, DEFAULT, talk

BENCH: Final = Path(__file__).parents[2] / "bench"
VERSION, DIGEST = "rules-3", "1cbddc38d80057db"  # and that of what it reads


def conversations() -> Iterator[list[tuple[str, str]]]:
    """Yield conversations in everyday words, each as its turns: who says what."""
    for name in ("encouraging", "friends", "support", "chat-01", "chat-21"):
        for line in (BENCH / "conversations" / f"{name}.jsonl").read_text("utf-8").splitlines():
            yield [(turn["speaker"], turn["text"]) for turn in json.loads(line)["turns"]]
    agreements = json.loads((BENCH / "agreements.json").read_text("utf-8"))
    for story in agreements["tuned"]:
        yield [("Ana", step["text"]) for step in story]
    changes = json.loads((BENCH / "changes.json").read_text("utf-8"))
    for pair in (*changes["tuned"], *changes["varied"], *changes["unchanged"]):
        yield [("Ana", pair["before"]), ("Ana", pair["after"])]
    yield [("Ana", "Carla's birthday is on 14 May."), ("Ben", "I work at St. Mary's Hospital.")]


def digest_of_what_is_read() -> str:
    digest = hashlib.sha256()
    for turns in conversations():
        for extractor in (DEFAULT, AGENT_MEMORY):
            for found in talk(*turns, extractor=extractor):
                digest.update(json.dumps(astuple(found), ensure_ascii=False).encode())
    return digest.hexdigest()[:16]


def test_a_version_of_the_rules_reads_what_it_always_read() -> None:
    """Generations name their extractor by it.

    Whoever changes what is read raises it in version.py, and names it here: no directory is refused for that, no id
    changes, and `asof generations` tells what a generation was begun with. A version that no directory was written
    with yet may change its digest.
    """
    [version, _] = version_of(load("default")).split("/")

    assert (version, digest_of_what_is_read()) == (VERSION, DIGEST)
