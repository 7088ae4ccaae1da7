"""`asof mcp` as an editor sees it: from its start to its first answer, and `recall` among many facts.

Beside what the clock says stands the processor time of all processes of the server, as a multiple of which a loop is
counted: a machine that is busy or slow is so in both.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from socket import SO_PEERCRED, SOL_SOCKET
from struct import calcsize, unpack
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, Final, Self

from asof.mcp.local_socket import NAME, connected
from asof.runtime.layout import DirectoryLayout
from bench import synthetic
from bench.figures import Figure, Target, percentiles, slowness
from bench.material import Material, child
from bench.random_vectors import give_vectors

_RUNS: Final = 11  # at full scale
_ASKED: Final = 200  # so many at full scale
_WARMING: Final = 20  # calls that are not measured, before those that are
_PAUSE_SECONDS: Final = 0.05
_FIRST_QUESTION: Final = "Where does Ana live?"
_HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def measure(material: Material) -> Iterator[Figure]:
    facts = material.count(100_000, 200)
    directory, file = material.folder / "agents", material.folder / "agents.jsonl"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(facts))
    child("import", directory, file)
    give_vectors(DirectoryLayout(directory))
    runs, target = material.count(_RUNS, 1), Target("p50", 1.5)
    yield from _starting([material.folder / f"new-{run}" for run in range(runs)], "a new directory", target)
    yield from _starting([directory] * runs, f"{facts:,} facts", target)
    yield from _recalling(directory, facts, material.count(_ASKED, 10))


def _starting(directories: Iterable[Path], what: str, target: Target) -> Iterator[Figure]:
    """Start a server in each directory; measure until it has answered a session's first two requests."""
    greeted, answered, processor, whole = [], [], [], []
    for directory in directories:
        began = time.perf_counter()
        with _Agent(directory) as agent:
            greeted.append(time.perf_counter() - began)
            agent.recall(_FIRST_QUESTION)
            answered.append(time.perf_counter() - began)
            slow = slowness()
            processor.append(agent.processor_seconds(alone=True) / slow)
            whole.append(agent.processor_seconds() / slow)
        _end(directory)
    load = f"load {os.getloadavg()[0]:.1f}"
    yield Figure(f"asof mcp, from its start to its greeting ({what})", "s", percentiles(greeted), note=load)
    yield Figure(f"asof mcp, from its start to its first answer ({what})", "s", percentiles(answered), note=load)
    note = (
        "of the process that the editor starts and of the one that answers; its worker and its search start beside them"
    )
    yield Figure(
        "processor time of this, one after the other", "s", percentiles(processor), targets=(target,), note=note
    )
    note = "a first search waits until the vectors of all facts are read, where that takes longer than the rest"
    yield Figure("processor time of all processes until then", "s", percentiles(whole), note=note)


def _recalling(directory: Path, facts: int, asked: int) -> Iterator[Figure]:
    people = synthetic.subjects(facts)
    queries = [
        f"Where does {synthetic.person(n * 7 % people)} live, and who are their friends?"
        for n in range(_WARMING + asked)
    ]
    with _Agent(directory) as agent:
        for query in queries[:_WARMING]:
            agent.recall(query)
        spent, clock = agent.processor_seconds(), []
        for query in queries[_WARMING:]:
            began = time.perf_counter()
            agent.recall(query)
            clock.append(time.perf_counter() - began)
        each = (agent.processor_seconds() - spent) / asked / slowness()
    _end(directory)
    yield Figure(f"recall among {facts:,} facts, its embedding included", "ms", percentiles(clock, 1e3))
    note = "the facts' vectors are random, as those of serve"
    yield Figure("processor time of one", "ms", {"mean": each * 1e3}, targets=(Target("mean", 60),), note=note)


class _Agent:
    """An editor's end of a server: it has begun a session once the context is entered."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        command = [sys.executable, "-c", "from asof.cli import script; script()", "mcp", "--group", "bench"]
        environment = os.environ | {"ASOF_EMBEDDER": "minilm"}
        self._process = Popen(
            [*command, "--data", str(directory)], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment
        )
        self._id = 0

    def __enter__(self) -> Self:
        self.ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def recall(self, query: str) -> None:
        answer = self.ask("tools/call", {"name": "recall", "arguments": {"query": query}})
        assert not answer["result"].get("isError"), answer

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert answer["id"] == self._id, answer
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def processor_seconds(self, *, alone: bool = False) -> float:
        """Return what the processes of the server have taken: this one, the directory's, unless `alone` those below."""
        parents, ticks = dict[int, int](), dict[int, int]()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended
                fields = stat.read_text().rpartition(")")[2].split()
                process = int(stat.parent.name)
                parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])
        serving = _process_of(self._directory)
        counted = {self._process.pid, serving}
        while not alone and (below := {process for process, parent in parents.items() if parent in counted} - counted):
            counted |= below
        return sum(ticks[process] for process in counted) / os.sysconf("SC_CLK_TCK")


def _process_of(directory: Path) -> int:
    """Return the process that serves a directory."""
    with connected(directory) as connection:
        process, _, _ = unpack("3i", connection.getsockopt(SOL_SOCKET, SO_PEERCRED, calcsize("3i")))
    return int(process)


def _end(directory: Path) -> None:
    """End the process of a directory, so that the next start is one from nothing."""
    with suppress(OSError):
        os.kill(_process_of(directory), signal.SIGTERM)
    while (directory / NAME).exists():
        time.sleep(_PAUSE_SECONDS)
