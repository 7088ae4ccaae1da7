"""Believing in a process of its own, while the writer records: long work then uses two cores.

The writer says how far the episodic log and its store are whole; the other process reads that far into every
generation. Of a young one it loads the graph in bulk, beside the one that readers see, and lets the writer append the
events; the log of another it writes itself. It dies with its writer; whatever ends it, the logs are whole, and the
writer goes on from them.
"""

import marshal
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Thread
from typing import Final

from asof.runtime.extractors import Reading
from asof.runtime.generations import follow, generation_of, open_semantic
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import tune
from asof.runtime.wiring import existing, following_store, writable_log
from asof_agents.engine import Generation, Layer
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import building, put
from asof_streams.errors import AsofError
from asof_streams.sqlite_log import EncodedEvent, SqliteLog

_YOUNG: Final = 100_000  # records of a semantic log: read again in some seconds, less than a bulk load saves
_NO_MORE: Final = b"no more"
_STDIN, _STDOUT = 0, 1


class BulkBuilder:
    """The other process, as the writer has it; the writer has closed its generations. OSError: it cannot be started."""

    def __init__(self, places: DirectoryLayout) -> None:
        self._places = places
        command = [sys.executable, "-P", "-m", "asof.runtime.bulk_builder", str(places.root)]
        path = {"PYTHONPATH": os.pathsep.join(sys.path)}
        young = [info.name for info in existing(places).generations if _is_young(places, info)]
        with ExitStack() as opened:
            self._batches, theirs = map(opened.enter_context, Pipe(duplex=False))
            self._process = Popen(  # noqa: S603 - of its own session: an interruption is the writer's to handle
                command, bufsize=0, stdin=PIPE, stdout=theirs.fileno(), start_new_session=True, env=os.environ | path
            )
            theirs.close()
            opened.callback(self._end)
            self._logs = {name: opened.enter_context(writable_log(places.semantic(name))) for name in young}
            self._opened = opened.pop_all()

    def follow(self, stop: int) -> None:
        """Let the generations follow the episodic log up to a position; append what came of it so far."""
        self._tell(b"%d" % stop)
        while not self._batches.closed and self._batches.poll() and (batch := self._batch()):
            self._append(batch)

    def join(self, stop: int) -> bool:
        """Wait until all is followed up to a position, and put the loaded graphs in place; whether there are any."""
        try:
            self.follow(stop)
            self._tell(_NO_MORE)
            while batch := self._batch():
                self._append(batch)
            if batch is None:
                return False
            for log in self._logs.values():
                self._tell(log.head(log.end()).hex().encode())
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
        self._opened.close()

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()

    def _tell(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ValueError):  # it ended early: the writer makes it good
            self._process.stdin.write(line + b"\n")

    def _batch(self) -> bytes | None:
        """Return what comes next: empty where nothing more will, None where the process has ended."""
        try:
            return self._batches.recv_bytes()
        except (EOFError, OSError):
            return None

    def _append(self, batch: bytes) -> None:
        name, start, checkpoint, rows = marshal.loads(batch)  # noqa: S302 - from a process of ours
        drafts = [(*row[:5], EncodedEvent(*row[5:])) for row in rows]
        try:
            self._logs[name].append_encoded(start, drafts, checkpoint=checkpoint)
        except BaseException:
            self.kill()  # what comes after it cannot be appended
            raise

    def _loaded(self, info: GenerationInfo) -> Path:
        return self._places.building(info.name, self._process.pid)


class _Loading(Layer):
    """A layer whose store nobody sees before its end, so that the writer can append to its log meanwhile."""

    def __init__(self, name: str, log: SqliteLog, store: SqliteGraph, say: Callable[[bytes], None]) -> None:
        super().__init__(log, store)
        self._name = name
        self._say = say

    def flush(self) -> None:
        """Say what is to be appended."""
        rows = [(*draft[:5], draft.event.type, draft.event.version, draft.event.encode()) for draft in self._drafts]
        self._say(marshal.dumps((self._name, self.end - len(rows), self.checkpoint, rows)))
        self._drafts = []


def main() -> int:
    """Follow as the writer says, and no longer than it lives."""
    told: SimpleQueue[bytes] = SimpleQueue()
    said: SimpleQueue[bytes] = SimpleQueue()
    for work, queue in ((_listen, told), (_speak, said)):
        Thread(target=work, args=(queue,), daemon=True).start()
    tune()
    places = DirectoryLayout(Path(sys.argv[1]))
    try:
        with ExitStack() as stack:
            episodic = stack.enter_context(SqliteLog(places.episodic))
            episodes = stack.enter_context(SqliteGraph(places.episodes, episodic.name))
            opened = [_generation(places, info, episodic, stack, said.put) for info in existing(places).generations]
            while (line := told.get()) != _NO_MORE:
                for generation in opened:
                    follow(generation, episodic, episodes, int(line))
            said.put(b"")
            for layer in [generation.layer for generation in opened if isinstance(generation.layer, _Loading)]:
                layer.store.commit(layer.end, bytes.fromhex(told.get().decode()))
    except AsofError:
        return 1  # the writer will meet it too, and say so
    return 0


def _is_young(places: DirectoryLayout, info: GenerationInfo) -> bool:
    with SqliteLog(places.semantic(info.name)) as log:
        return log.end() < _YOUNG


def _generation(
    places: DirectoryLayout, info: GenerationInfo, episodic: SqliteLog, stack: ExitStack, say: Callable[[bytes], None]
) -> Generation:
    if not _is_young(places, info):
        log = stack.enter_context(open_semantic(places, info, episodic))
        store = stack.enter_context(following_store(log, places.graph(info.name)))
        return generation_of(places, info, log, store, Reading())
    log = stack.enter_context(SqliteLog(places.semantic(info.name)))
    store = stack.enter_context(building(log, places.building(info.name, os.getpid())))
    store.answer_handlers()
    generation = generation_of(places, info, log, store, Reading())
    generation.layer = _Loading(info.name, log, store, say)
    return generation


def _listen(told: "SimpleQueue[bytes]") -> None:
    for line in _lines():
        told.put(line.rstrip())
    os._exit(1)  # the writer is gone


def _lines() -> Iterator[bytes]:
    with open(_STDIN, "rb", buffering=0, closefd=False) as told:
        yield from told


def _speak(said: "SimpleQueue[bytes]") -> None:
    """Send what is said, however long the writer takes to hear it."""
    with suppress(BrokenPipeError):  # the writer is gone
        to = Connection(_STDOUT, readable=False)
        while True:
            to.send_bytes(said.get())


if __name__ == "__main__":
    os._exit(main())
