"""What the subjects share: the scale, the folder to work in, and one directory of many facts, imported once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from bench import synthetic

_DATA = Path(os.environ.get("ASOF_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


class Material:
    """Data to measure with, made when first asked for. `scale` is a share of what the issue of record asks for.

    peers: the names of those that bench/peers compares; None: all. facts_of_peers: how many facts each of them loads;
    None: as many as the scale says.
    """

    def __init__(
        self, folder: Path, scale: float, peers: Sequence[str] | None = None, facts_of_peers: int | None = None
    ) -> None:
        self.folder = folder
        self.scale = scale
        self.peers = peers
        self.facts_of_peers = facts_of_peers

    def count(self, full: int, least: int = 10) -> int:
        """Return how many at this scale."""
        return max(round(full * self.scale), least)

    @property
    def facts(self) -> int:
        """How many facts the directory has."""
        return self.count(1_000_000, 1_000)

    @cached_property
    def imported(self) -> dict[str, Any]:
        """What the import of the facts says of itself: see bench.children."""
        file = self.folder / "facts.jsonl"
        with file.open("wb") as out:
            out.writelines(synthetic.fact_lines(self.facts))
        return child("import", self.folder / "facts", file)

    @property
    def directory(self) -> Path:
        """A data directory that holds them."""
        assert self.imported["refused"] == self.imported["parked"] == 0
        return self.folder / "facts"

    def chat(self, messages: int) -> tuple[str, list[bytes]]:
        """Return the name of a chat, and its first lines: of real conversations where they are here."""
        real = sorted((_DATA / "locomo-dev").glob("locomo-conv-*.jsonl"))
        name = "LoCoMo" if real else "synthetic"
        lines = _lines_of(real) if real else synthetic.chat_lines(messages)
        return name, list(islice(lines, messages))


def child(program: str, *arguments: object) -> dict[str, Any]:
    """Run a program of bench.children in a fresh process; return what it says."""
    command = [sys.executable, "-m", "bench.children", program, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parents[1])
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _lines_of(paths: list[Path]) -> Iterator[bytes]:
    for path in paths:
        with path.open("rb") as lines:
            yield from lines
