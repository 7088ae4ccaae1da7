"""What `bench.versions` measures in a process of a version: an argument names a folder, each line on stdin a subject.

Its answer on stdout is the processor time of one unit, in milliseconds. It imports nothing but what the versions that
are compared have in common, so it stands alone: the interpreter of a version runs it as a file.
"""

import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any, Final

import numpy as np

import asof
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_streams.messages import FactStatement, accept
from asof_streams.sqlite_log import SqliteLog

WIDTH: Final = 384

Subject = Callable[[], float]
Question = Callable[[dict[str, Any], dict[str, Any]], object]  # of a fact, and of when it is asked


def processor(call: Callable[[], object], units: int) -> float:
    """Return the milliseconds of processor time that a unit of a call takes, those of other threads included."""
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1e3 / units


def appends(folder: Path, facts: list[bytes], opened: ExitStack) -> Iterator[tuple[str, Subject]]:
    messages = [accept(FactStatement, json.loads(line)) for line in facts[:1_000]]
    clock = count()

    def append(log: SqliteLog, size: int, calls: int) -> None:
        for _ in range(calls):
            log.accept(messages[:size], clock=next(clock))

    for size, calls in ((1, 200), (100, 20), (1_000, 3)):
        log = opened.enter_context(SqliteLog(folder / f"append-{size}.sqlite", writable=True))
        yield f"durable append, {size:,} a commit", partial(processor, partial(append, log, size, calls), size * calls)
    scanned = opened.enter_context(SqliteLog(folder / "scan.sqlite", writable=True))
    append(scanned, 1_000, 20)
    yield "log scan with decoding", partial(processor, lambda: deque(scanned.read(), maxlen=0), 20 * len(messages))


def writes(folder: Path, facts: list[bytes], chat: list[bytes], opened: ExitStack) -> Iterator[tuple[str, Subject]]:
    memory = opened.enter_context(asof.open(folder / "growing", embedder="none"))
    lines = cycle(facts)
    memory.import_facts([next(lines) for _ in range(100)])

    def one_by_one() -> float:
        given = [next(lines) for _ in range(40)]
        return processor(lambda: [memory.import_facts([line]) for line in given], len(given))

    def together() -> float:
        given = [next(lines) for _ in range(500)]
        return processor(lambda: memory.import_facts(given), len(given))

    starts = count()

    def talk() -> float:
        with asof.open(folder / f"chat-{next(starts)}", embedder="none") as fresh:
            fresh.erase("nobody")  # so that the directory is made, and what is loaded late is loaded
            return processor(lambda: fresh.produce(chat), len(chat))

    yield "import of 500 facts, one process", together
    yield "one fact a call", one_by_one
    yield "chat, `produce`", talk


def questions(folder: Path, facts: list[bytes], asked: int, opened: ExitStack) -> Iterator[tuple[str, Subject]]:
    memory = opened.enter_context(asof.open(folder / "facts", embedder="none"))
    memory.import_facts(facts[: len(facts) // 2])
    half = time.time_ns() // 1_000
    memory.import_facts(facts[len(facts) // 2 :])
    about = [json.loads(line) for line in facts[:: len(facts) // asked][:asked]]
    kinds: dict[str, Question] = {
        "slot": lambda fact, at: memory.facts(about=fact["subject"], relation=fact["relation"], **at),
        "facts about an entity": lambda fact, at: memory.facts(about=fact["subject"], **at),
        "entity": lambda fact, at: memory.entity(fact["subject"], **at),
        "two hops": lambda fact, at: memory.neighbourhood(fact["subject"], 2, **at),
        "search by words": lambda fact, at: memory.search(f"{fact['relation']} {fact['object']}", **at),
    }

    def each(ask: Question, some: list[dict[str, Any]], known: int | None) -> None:
        for fact in some:
            ask(fact, {"group_id": "bench", "valid_at": fact["valid_at"], "known_at": known})

    for name, ask in kinds.items():
        some = about[:10] if name.startswith("search") else about  # which takes a hundred times as long
        for moment, known in (("known now", None), ("known when half was", half)):
            yield f"{name}, {moment}", partial(processor, partial(each, ask, some, known), len(some))


def vectors(folder: Path, many: int) -> Iterator[tuple[str, Subject]]:
    rows = np.random.default_rng(0).standard_normal((many, WIDTH), dtype=np.float32)
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    index = FaissVectorIndex.open(folder / "vectors.index", "bench", WIDTH)
    index.add(range(many), rows)

    def search() -> None:
        for row in rows[:20]:
            index.search(row, 10, None)

    yield f"top-10 of {many:,} vectors", partial(processor, search, 20)


def main() -> None:
    folder, asked = Path(sys.argv[1]), int(sys.argv[2])
    facts, chat = (Path(name).read_bytes().splitlines() for name in sys.argv[3:])
    own = folder / "own"
    own.mkdir()
    with ExitStack() as opened:
        subjects = {
            **dict(appends(own, facts, opened)),
            **dict(writes(own, facts, chat, opened)),
            **dict(questions(folder, facts, asked, opened)),
            **dict(vectors(own, len(facts))),
        }
        print(json.dumps(list(subjects)), flush=True)
        for line in sys.stdin:
            print(subjects[json.loads(line)](), flush=True)


if __name__ == "__main__":
    main()
