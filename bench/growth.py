"""Whether time per message grows: the messages around the 100,000th beside those around the 1,000th, facts and chat."""

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

import asof
from asof.api.memory import Memory
from bench import synthetic
from bench.figures import Figure, Target
from bench.material import Material

_CHUNK = 1_000  # at full scale: messages that are measured together
_REPEATS = 7  # at full scale: fresh directories, and chunks before the 100,000th
_TARGET = (Target("ratio ms a message", 1.3),)

Take = Callable[[Memory, list[bytes]], object]


def measure(material: Material) -> Iterator[Figure]:
    chunk, repeats = material.count(_CHUNK, 100), material.count(_REPEATS, 2)
    many, beginning = material.count(100_000, 3 * chunk), chunk // 2 + chunk
    facts = list(synthetic.fact_lines(many))
    starts = [facts[:beginning]] * repeats
    yield _growing(material.folder / "growing-facts", "facts", facts, starts, Memory.import_facts, chunk)
    chat = list(synthetic.chat_lines(many))
    stories = range(1, repeats + 1)  # all words of each are new to it
    others = [list(synthetic.chat_lines(beginning, story)) for story in stories]
    yield _growing(material.folder / "growing-chat", "turns of synthetic chat", chat, others, Memory.produce, chunk)


def _growing(folder: Path, what: str, lines: list[bytes], starts: list[list[bytes]], take: Take, chunk: int) -> Figure:
    """Each chunk is one call, which ends with all of it durable and visible; `starts` go into new directories."""
    directories = (folder / f"start-{number}" for number in range(len(starts)))
    first = [
        next(_chunks(directory, start, take, chunk, before=chunk // 2))
        for directory, start in zip(directories, starts, strict=True)
    ]
    every = list(_chunks(folder / "all", lines, take, chunk))
    return Figure(
        f"{what}: at {len(lines):,}",
        "ms a message",
        {"ms a message": median(every[-len(starts) :]) * 1e3},
        {"ms a message": median(first) * 1e3},
        f"those around the {chunk:,}th",
        _TARGET,
        note=f"on average over all {sum(every) / len(every) * 1e3:.3f} ms a message",
    )


def _chunks(directory: Path, lines: list[bytes], take: Take, size: int, before: int = 0) -> Iterator[float]:
    """Yield the seconds a message of each chunk; of the first messages, none."""
    source = iter(lines)
    with asof.open(directory, embedder="none") as memory:
        memory.erase("nobody")  # so that the directory is made, and what is loaded late is loaded
        take(memory, list(islice(source, before)))
        while chunk := list(islice(source, size)):
            began = time.perf_counter()
            take(memory, chunk)
            yield (time.perf_counter() - began) / len(chunk)
