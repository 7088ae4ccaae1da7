"""Whether time per message grows: the messages around the 100,000th beside the first 1,000, for facts and for chat."""

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

import asof
from asof.memory import Memory
from bench import synthetic
from bench.figures import Figure, Target
from bench.material import Material

_CHUNK = 1_000
_REPEATS = 7  # fresh directories for the first thousand, and chunks around the last
_TARGET = (Target("ratio ms a message", 1.3),)

Take = Callable[[Memory, list[bytes]], object]


def measure(material: Material) -> Iterator[Figure]:
    many = material.count(100_000, 3 * _CHUNK)
    facts = list(synthetic.fact_lines(many))
    yield _growing(material.folder / "growth-facts", "facts", facts, Memory.import_facts)
    yield _growing(
        material.folder / "growth-chat", "turns of synthetic chat", list(synthetic.chat_lines(many)), Memory.produce
    )


def _growing(folder: Path, what: str, lines: list[bytes], take: Take) -> Figure:
    """Each chunk is one call, which ends with everything durable and visible."""
    first = [next(_chunks(folder / str(number), lines, take)) for number in range(_REPEATS)]
    every = list(_chunks(folder / "all", lines, take))
    last = every[-_REPEATS:]
    return Figure(
        f"{what}: at {len(lines):,}",
        "ms a message",
        {"ms a message": median(last) * 1e3},
        {"ms a message": median(first) * 1e3},
        f"the first {_CHUNK:,}",
        _TARGET,
        note=f"on average over all {sum(every) / len(every) * 1e3:.3f} ms a message",
    )


def _chunks(directory: Path, lines: list[bytes], take: Take) -> Iterator[float]:
    """Yield the seconds a message of each chunk."""
    source = iter(lines)
    with asof.open(directory, embedder="none") as memory:
        memory.erase("nobody")  # so that the directory is made, and what is loaded late is loaded
        while chunk := list(islice(source, _CHUNK)):
            began = time.perf_counter()
            take(memory, chunk)
            yield (time.perf_counter() - began) / len(chunk)
