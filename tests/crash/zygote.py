"""A process that has imported everything and forks a child for each run, so that a kill costs milliseconds.

Reads one command a line, `<job> <directory> <lines> <seconds>`; forks a child that does the job, and kills it after so
many seconds (0: never). The child prints "started PID" first, "acked N" whenever N messages are acknowledged, and
"done" at the end. When it has ended, the zygote prints "gone".
"""

import itertools
import os
import signal
import sys
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

from asof.api.memory import Memory
from asof.runtime import bulk_build_state, generation_build, generations, ingestion
from asof.settings import Settings
from asof_agents.extraction.english import extractor
from asof_projections.vectors import faiss_index
from asof_streams import sqlite_log

START = 1_700_000_000_000_000
STEP = 1_000_000


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def open_memory(directory: Path, embedder: str = "none") -> Memory:
    """A memory whose clock follows from what is on the log, so that every run records the same times."""
    memory = Memory(Settings(data=directory, embedder=embedder), now=lambda: 0)
    memory._session.now = lambda: START + STEP * memory._session.writer().messages.end()
    return memory


def ingest(directory: Path, lines: list[bytes]) -> None:
    with open_memory(directory) as memory:
        for at in range(memory._session.writer().messages.end(), len(lines), 5):
            memory.produce(lines[at : at + 5])
            say(f"acked {memory._session.writer().messages.end()}")


def load(directory: Path, lines: list[bytes]) -> None:
    """Import what is left, with a second process from the 40th line on; as much is acknowledged at once every time."""
    for module, name, value in (
        (ingestion, "_CHUNK", 10),
        (bulk_build_state, "_MUCH", 40),
        (bulk_build_state, "FLUSH_EVERY", 40),
        (sqlite_log, "_LEAST_COMPRESSED", 10),
    ):
        setattr(module, name, value)
    with open_memory(directory) as memory:
        left = lines[memory._session.writer().messages.end() :]
        end = len(lines) - len(left)
        memory.import_facts(left, acknowledged=lambda accepted, _: say(f"acked {end + accepted}"))


def rebuild(directory: Path, _: list[bytes]) -> None:
    generations.FLUSH_EVERY = 5  # so that a build that is killed has kept something to go on with
    with open_memory(directory) as memory:
        if all(g.name != "again" for g in memory.generations()):
            memory.rebuild("again", input="episodes")


def fill(directory: Path, lines: list[bytes]) -> None:
    """Rebuild with a graph that is filled in bulk, as only a long build does."""
    generation_build.IN_BULK = 0
    rebuild(directory, lines)


def decide(directory: Path, _: list[bytes]) -> None:
    """Build a generation, let it answer, let the first one answer, and drop it, again and again."""
    with Memory(Settings(data=directory, embedder="none")) as memory:
        for count in itertools.count(1):
            if all(g.name != "again" for g in memory.generations()):
                memory.rebuild("again", input="episodes")
            memory.switch("again")
            memory.switch("main")
            memory.drop("again")
            say(f"acked {count}")


def save_index(directory: Path, _: list[bytes]) -> None:
    with open_memory(directory, "hash") as memory:
        memory.search("where does Ana live", limit=3, all_groups=True)


def snapshot(directory: Path, _: list[bytes]) -> None:
    """Take snapshots, then lose the graphs and make them again of those, again and again."""
    with open_memory(directory) as memory:
        for count in itertools.count(1):
            memory.snapshot()
            memory._session.release()
            for graph in (directory / "episodes.db", directory / "generations" / "main" / "graph.db"):
                graph.unlink(missing_ok=True)
            memory._session.writer()
            say(f"acked {count}")


def read(directory: Path, _: list[bytes]) -> None:
    """Look at every episode, and at the facts, again and again."""
    with Memory(Settings(data=directory, embedder="none")) as memory:
        for count in itertools.count(1):
            memory.episodes(limit=None)
            memory.facts(limit=None)
            say(f"acked {count}")


JOBS = {work.__name__: work for work in (ingest, load, rebuild, fill, decide, save_index, snapshot, read)}


def prepare() -> None:
    """Do once what every job would: read the ontology, and lay out files and rules."""
    with TemporaryDirectory() as folder, open_memory(Path(folder)) as memory:
        memory.add("I live in Rome.", role="Ana")


def main() -> None:
    prepare()
    for line in sys.stdin:
        job, directory, source, seconds = line.split()
        ended, held = os.pipe()  # the child holds one end as long as it lives
        child = os.fork()
        if child == 0:
            say(f"started {os.getpid()}")
            JOBS[job](Path(directory), Path(source).read_bytes().splitlines())
            say("done")
            os._exit(0)
        os.close(held)
        if not select([ended], [], [], float(seconds) or None)[0]:
            os.kill(child, signal.SIGKILL)
        os.close(ended)
        os.waitpid(child, 0)
        say("gone")


assert extractor
assert faiss_index
main()
