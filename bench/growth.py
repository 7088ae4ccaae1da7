"""How a memory grows: time a message, memory, disk, opening and questions at 1,000 messages, at 10,000 and so on.

One directory grows to 100,000 messages at full scale, and ten times as far with `--scale 10`. What is written between
two sizes is written by a process of its own, a hundred messages a call, each durable and visible at its end. The last
thousand before a size take turns with those around the 1,000th of a new directory: so both see the same machine. Then
other processes open the directory and ask. Time is that of the processor: a run may be stopped for a while.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from asof.runtime.layout import DirectoryLayout
from bench.asking import fake_model
from bench.figures import Figure, Target, Values
from bench.material import Material, child
from bench.random_vectors import give_vectors

_FULL: Final = 100_000  # messages
_FIRST: Final = 1_000
_ASKED: Final = 50  # questions of each kind
_TARGETS: Final = (Target("ratio us", 1.3),)
_FULL_TEXT: Final = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB '*_words_*'"
_KINDS: Final = {  # of files, by how their names begin and end
    "messages log": ("messages", "sqlite"),
    "episodic log": ("episodic", "sqlite"),
    "semantic log": ("semantic", "sqlite"),
    "episodes": ("episodes", "db"),
    "graph": ("graph", "db"),
    "vectors": ("vectors", "db"),
    "indexes of vectors": ("", "index"),
}


class _Measured(NamedTuple):
    """One thing that is measured at a size."""

    name: str
    unit: str
    values: Values
    note: str = ""
    baseline: Values | None = None  # None: what was measured at the first size
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class _Growth:
    """A directory that grows. model: the address of one that reads what is said; "": the rules do."""

    material: Material
    what: str
    model: str = ""

    def figures(self) -> Iterator[Figure]:
        sizes = _sizes(self.material.count(_FULL, 60))
        first: dict[str, Values] = {}
        for start, size in zip((0, *sizes), sizes, strict=False):
            for name, unit, values, note, baseline, targets in self._grown(start, size, sizes[-1]):
                at_first = first.setdefault(name, values)
                against = baseline or (None if at_first is values else at_first)
                beside = f"around the {_FIRST:,}th" if baseline else f"at {sizes[0]:,}"
                print(f"{self.what}, {size:,}: {name} {values} {baseline or ''}", file=sys.stderr, flush=True)
                yield Figure(f"{self.what}, {size:,}: {name}", unit, values, against, beside, targets, note)

    def _grown(self, start: int, size: int, most: int) -> Iterator[_Measured]:
        """Write messages up to a size; yield what is measured there."""
        written = child("grow", self._directory, self.what, start, size, most, self.model)
        memory = {"writer": written["writer_megabytes"], "of it SQLite's": written["sqlite_megabytes"]}
        yield _Measured(
            "a message", "us of processor time", {"us": written["us"]},
            f"{written['us_before']:.0f} on average since the size before",
            {"us": written["us_beside"]}, () if self.model else _TARGETS,
        )  # fmt: skip
        if self.model:
            yield _Measured("calls of the model", "calls a message", {"calls": written["calls"] / size})
        if self.what != "facts":
            give_vectors(DirectoryLayout(self._directory))
            words, vectors = self._asked(size, "none"), self._asked(size, "minilm")
            memory |= {"reader": words["reader_megabytes"], "reader with vectors": vectors["reader_megabytes"]}
            opening = {"to read": words["open"], "to write": words["open_to_write"]}
            yield _Measured("opening", "ms of processor time", opening)
            questions = words["questions"] | vectors["questions"]
            yield _Measured("questions", "ms of processor time", questions, "p50; vectors are random")
        yield _Measured("peak resident memory", "MB", memory, "the writer began at the size before")
        sizes = _bytes(self._directory)
        yield _Measured("disk", "bytes a message", {kind: taken / size for kind, taken in sizes.items()})

    @property
    def _directory(self) -> Path:
        return self.material.folder / self.what.replace(" ", "-")

    def _asked(self, size: int, embedder: str) -> dict[str, Any]:
        return child("ask", self._directory, size, embedder, min(self.material.count(_ASKED, 2), _ASKED))


def measure(material: Material) -> Iterator[Figure]:
    """Measure chat that is read by the rules, and structured facts."""
    yield from _Growth(material, "chat").figures()
    yield from _Growth(material, "facts").figures()


def measure_model(material: Material) -> Iterator[Figure]:
    """Measure chat that a language model reads, which answers at once: what is counted is asof's own work."""
    with fake_model(latency=0) as url:
        yield from _Growth(material, "chat by a model", url).figures()


def _sizes(most: int) -> list[int]:
    """Return the sizes at which to measure: the largest, and those a power of ten below it, from the first on."""
    smaller = [most // 10**power for power in (3, 2, 1)]
    return [*(size for size in smaller if size >= _FIRST), most]


def _bytes(directory: Path) -> Values:
    """Return the bytes of each kind of file; what is found by words is apart, where SQLite counts it."""
    files = {file: file.stat().st_size for file in directory.rglob("*") if file.is_file()}
    sizes = dict.fromkeys((*_KINDS, "full text", "in all"), 0.0)
    sizes["in all"] = float(sum(files.values()))
    for file, size in files.items():
        for kind, (beginning, ending) in _KINDS.items():
            if file.name.startswith(beginning) and file.suffix == f".{ending}":
                text = _full_text(file) if kind in {"episodes", "graph"} else 0.0
                sizes[kind] += size - text
                sizes["full text"] += text
    return sizes


def _full_text(file: Path) -> float:
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file)) as db:
        return float(db.execute(_FULL_TEXT).fetchone()[0] or 0)
    return 0.0
