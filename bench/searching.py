"""Search by words and vectors: among many facts and turns, in processor time, and at once after an import.

Processor time is that of all threads of the process: a search embeds its question while it looks up words. It is scaled
by a loop that runs beside it, and next to it stands the same of the question's embedding alone.
"""

import json
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import asof
from asof.runtime.layout import DirectoryLayout
from asof_projections.embedding.minilm import MiniLMEmbedder
from bench import synthetic
from bench.figures import Figure, Target, percentiles, slowness, timed
from bench.material import Material
from bench.random_vectors import give_vectors

_ASKED: Final = 200  # at full scale


def measure(material: Material) -> Iterator[Figure]:
    yield from _among(material, material.count(100_000, 200))
    yield from _at_once(material.folder / "at-once", material.count(2_000, 100))


def _among(material: Material, count: int) -> Iterator[Figure]:
    """Search a group of so many facts and as many turns; what the turns say are facts too."""
    directory, lines = material.folder / "searched-both", synthetic.fact_lines(count)
    with asof.open(directory, embedder="none") as memory:
        memory.produce(_turns(count))
        while missing := max(count - _facts(memory), 0):  # some lines say the same
            memory.import_facts(islice(lines, missing))
    give_vectors(DirectoryLayout(directory))
    with asof.open(directory, embedder="minilm") as memory:
        facts = _facts(memory)
        questions = list(_questions(count, material.count(_ASKED, 30)))
        before = slowness()
        both, alone = (
            [_processor(memory.search, question, group_id="bench", over=over) for question in questions][10:]
            for over in ("both", "facts")
        )
    embedder = MiniLMEmbedder()
    embedding = [_processor(embedder.embed, [question]) for question in questions][10:]
    slow = (before + slowness()) / 2
    for among, times, targets in (
        (f"{facts:,} facts and {count:,} turns", both, (Target("p50", 40), Target("p99", 120))),
        (f"{facts:,} facts alone", alone, (Target("p50", 25),)),
    ):
        yield Figure(
            f"search among {among}, its embedding included",
            "ms of processor time, scaled",
            percentiles(times, 1e3 / slow),
            percentiles(embedding, 1e3 / slow),
            "embedding the question",
            targets=targets,
            note=f"divided by {slow:.2f}; the vectors are random: a search among any takes as long",
        )


def _facts(memory: asof.Memory) -> int:
    return int(memory.stats()["generations"]["main"]["facts"])


def _at_once(directory: Path, count: int) -> Iterator[Figure]:
    """Import some facts, search at once, and again when their vectors are made."""
    with asof.open(directory, embedder="minilm") as memory:
        memory.import_facts(synthetic.fact_lines(count))
        before, began, worked = slowness(), time.perf_counter(), time.process_time()
        first = memory.search("Where does Ana Adler 0 live?", group_id="bench")
        seconds, worked = time.perf_counter() - began, time.process_time() - worked
        assert first.vectors_behind
        while memory.search("Where does Ana Adler 0 live?", group_id="bench").vectors_behind:
            time.sleep(0.05)
        made = time.perf_counter() - began
        slow = (before + slowness()) / 2
        again = timed(lambda: memory.search("Where does Ana Adler 1 live?", group_id="bench"))
    values = {"at once": worked / slow, "at once, by the clock": seconds, "all vectors made": made, "then": again}
    yield Figure(
        f"search after an import of {count:,} facts", "s", values, targets=(Target("at once", 1),),
        note=f"at once by words, in processor time divided by {slow:.2f}; the model is loaded in that time",
    )  # fmt: skip


def _turns(count: int) -> Iterator[dict[str, Any]]:
    for line in synthetic.chat_lines(count):
        yield json.loads(line) | {"group_id": "bench"}


def _questions(count: int, asked: int) -> Iterator[str]:
    """Yield so many questions about facts and about turns, in turns; half of the latter name who spoke."""
    people = synthetic.subjects(count)
    for number in range(asked // 2):
        yield f"Where does {synthetic.person(number * 7 % people)} live, and who are their friends?"
        who = synthetic.invented(*(("speaker", number % 5) if number % 2 else ("person", number)))
        yield f"When did {who} start working at the company in {synthetic.invented('place', number)}?"


def _processor(call: Any, *arguments: Any, **named: Any) -> float:
    """Return how many seconds of processor time a call takes, those of other threads included."""
    began = time.process_time()
    call(*arguments, **named)
    return time.process_time() - began
