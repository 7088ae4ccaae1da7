"""Believing in a process of its own, while the writer records: long work then uses two cores.

Only the logs are between the two. The writer says how far the episodic log and its store are whole; the other process
reads that far into every generation, and loads the graph of a young one in bulk, beside the one that readers see. It
dies with its writer; whatever ends it, the logs are whole, and the writer goes on from them.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread

from asof.bootstrap import existing, following_store
from asof.children import sweep_seldom
from asof.extracting import Reading
from asof.generating import follow, generation_of, open_semantic
from asof.places import Places
from asof_agents.engine import Generation
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite import SqliteGraph
from asof_projections.projector import building, put
from asof_streams.errors import AsofError
from asof_streams.sqlite_log import SqliteLog

_YOUNG = 100_000  # records of a semantic log: read again in some seconds, less than a bulk load saves
_NO_MORE = -1


class Apart:
    """The other process, as the writer has it; the writer has closed its generations. OSError: it cannot be started."""

    def __init__(self, places: Places) -> None:
        self._places = places
        command = [sys.executable, "-P", "-m", "asof.apart", str(places.root)]
        path = {"PYTHONPATH": os.pathsep.join(sys.path)}
        self._process = Popen(  # noqa: S603 - of its own session: an interruption is the writer's to handle
            command, bufsize=0, stdin=PIPE, stdout=DEVNULL, start_new_session=True, env=os.environ | path
        )

    def follow(self, stop: int) -> None:
        """Let the generations follow the episodic log up to a position."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended early: the writer makes it good
            self._process.stdin.write(b"%d\n" % stop)

    def join(self, stop: int) -> bool:
        """Wait until all is followed up to a position, and put the loaded graphs in place; whether there are any."""
        try:
            self.follow(stop)
            self.follow(_NO_MORE)
            if self._process.wait() != 0:
                return False
        finally:
            self.kill()
        loaded = [info for info in existing(self._places).generations if self._loaded(info).exists()]
        for info in loaded:
            put(self._loaded(info), self._places.graph(info.name))
        return bool(loaded)

    def kill(self) -> None:
        """End it at once."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()

    def _loaded(self, info: GenerationInfo) -> Path:
        return self._places.building(info.name, self._process.pid)


def main() -> int:
    """Follow as the writer says, and no longer than it lives."""
    stops: SimpleQueue[int] = SimpleQueue()
    Thread(target=_listen, args=(stops,), daemon=True).start()
    sweep_seldom()
    places = Places(Path(sys.argv[1]))
    try:
        with ExitStack() as stack:
            episodic = stack.enter_context(SqliteLog(places.episodic))
            episodes = stack.enter_context(SqliteGraph(places.episodes, episodic.name))
            generations = [_generation(places, info, episodic, stack) for info in existing(places).generations]
            while (stop := stops.get()) != _NO_MORE:
                for generation in generations:
                    follow(generation, episodic, episodes, stop)
    except AsofError:
        return 1  # the writer will meet it too, and say so
    return 0


def _generation(places: Places, info: GenerationInfo, episodic: SqliteLog, stack: ExitStack) -> Generation:
    log = stack.enter_context(open_semantic(places, info, episodic))
    if log.end() < _YOUNG:
        store = stack.enter_context(building(log, places.building(info.name, os.getpid())))
        store.answer_handlers()
    else:
        store = stack.enter_context(following_store(log, places.graph(info.name)))
    return generation_of(places, info, log, store, Reading())


def _listen(stops: "SimpleQueue[int]") -> None:
    for line in _lines():
        stops.put(int(line))
    os._exit(1)  # the writer is gone


def _lines() -> Iterator[bytes]:
    with open(0, "rb", buffering=0, closefd=False) as told:
        yield from told


if __name__ == "__main__":
    os._exit(main())
