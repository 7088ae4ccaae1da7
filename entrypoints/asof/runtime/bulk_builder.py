"""Large ingests use two processes: the writer appends episodic events, a second one derives beliefs from them.

The writer sends the position up to which the episodic log and its store are whole, and the builder reads up to it into
every generation. The graph of a young generation it loads in bulk, beside the one that readers see, while the writer
appends the events that it sends; the log of an older one it writes itself. It dies with its writer; whatever ends it,
the logs are whole, and the writer continues from them.
"""

import marshal
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof.runtime.extractors import ExtractorFactory
from asof.runtime.generations import follow, generation_of, open_semantic
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import following_store, writable_log
from asof_agents.generation import Generation
from asof_agents.layer import Layer
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import building, put
from asof_streams.sqlite_log import EncodedEvent, SqliteLog

_YOUNG: Final = 100_000  # records of a semantic log: read again in some seconds, less than a bulk load saves
_NO_MORE: Final = None
_PAUSE_SECONDS: Final = 0.1  # between looks at whether a process that is far behind has room for a position


class BulkBuilder:
    """The other process, as the writer has it; the writer has closed its generations. OSError: it cannot be started."""

    def __init__(self, places: DirectoryLayout, infos: Sequence[GenerationInfo]) -> None:
        self._places = places
        self._infos = infos
        young = [info.name for info in infos if _is_young(places, info)]
        with ExitStack() as opened:
            self._child = ChildProcess(_build, places, infos)
            opened.callback(self._child.kill)
            self._logs = {name: opened.enter_context(writable_log(places.semantic(name))) for name in young}
            for log in self._logs.values():
                log.compresses_batches = True
            self._opened = opened.pop_all()

    def follow(self, stop: int) -> None:
        """Let the generations follow the episodic log up to a position; append the events derived so far.

        Never waits: while the child has unread positions this one is skipped, and a later call sends a later one. If
        the writer waited, the child's events would pile up in its memory.
        """
        self._try_send(stop)
        while self._child.ready() and self._append_next():
            pass

    def join(self, stop: int) -> bool:
        """Wait until all is followed up to a position, and put the loaded graphs in place; whether there are any."""
        try:
            while not self._try_send(stop):
                if self._child.ready(_PAUSE_SECONDS) and not self._append_next():
                    return False
            self._send(_NO_MORE)
            while batch := self._batch():
                self._append(batch)
            if batch is None:
                return False
            self._send([log.head(log.end()) for log in self._logs.values()])
            if self._child.wait() != 0:
                return False
        finally:
            self.kill()
        loaded = [info for info in self._infos if self._loaded(info).exists()]
        for info in loaded:
            put(self._loaded(info), self._places.graph(info.name))
        return bool(loaded)

    def kill(self) -> None:
        """End it at once."""
        self._opened.close()

    def _send(self, message: Any) -> None:
        with suppress(ChannelClosed):  # it ended early: the writer makes it good
            self._child.send(message)

    def _try_send(self, stop: int) -> bool:
        """Return whether the position was sent, or nobody is there to read it."""
        with suppress(ChannelClosed):
            return self._child.offer(stop)
        return True

    def _append_next(self) -> bool:
        """Append the events of the next batch; False: there was none."""
        if batch := self._batch():
            self._append(batch)
        return bool(batch)

    def _batch(self) -> bytes | None:
        """Return the next batch: empty at the end of the build, None where the process has ended."""
        try:
            batch: bytes = self._child.receive()
        except Exception:  # noqa: BLE001 - whatever ended it, the writer meets it too as it makes good what is missing
            return None
        return batch

    def _append(self, batch: bytes) -> None:
        name, start, checkpoint, rows = marshal.loads(batch)  # noqa: S302 - from a process of ours
        make = tuple.__new__
        drafts = [(*row[:5], make(EncodedEvent, row[5:])) for row in rows]
        try:
            self._logs[name].append_encoded(start, drafts, checkpoint=checkpoint)
        except BaseException:
            self.kill()  # what comes after it cannot be appended
            raise

    def _loaded(self, info: GenerationInfo) -> Path:
        return self._places.building(info.name, self._child.pid)


class _Loading(Layer):
    """A layer whose store nobody sees before its end, so that the writer can append to its log meanwhile."""

    def __init__(self, name: str, log: SqliteLog, store: SqliteGraph, say: Callable[[bytes], None]) -> None:
        super().__init__(log, store)
        self._name = name
        self._say = say

    def flush(self) -> None:
        """Send the events that are to be appended."""
        rows = [
            (group, recorded_at, cause, place, size, event.type, event.version, event.encode())
            for group, recorded_at, cause, place, size, event in self._drafts
        ]
        self._say(marshal.dumps((self._name, self.end - len(rows), self.checkpoint, rows)))
        self._drafts = []


def _build(channel: Channel, places: DirectoryLayout, infos: Sequence[GenerationInfo]) -> None:
    """Follow as the writer says: positions to follow up to, then the heads of the logs that it appended to."""
    said: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_send_all, args=(channel, said), daemon=True).start()
    with ExitStack() as stack:
        episodic = stack.enter_context(SqliteLog(places.episodic))
        episodes = stack.enter_context(SqliteGraph(places.episodes, episodic.name))
        opened = [_generation(places, info, episodic, stack, said.put) for info in infos]
        while (stop := channel.receive()) is not _NO_MORE:
            for generation in opened:
                follow(generation, episodic, episodes, stop)
        said.put(b"")
        loading = [generation.layer for generation in opened if isinstance(generation.layer, _Loading)]
        for layer, head in zip(loading, channel.receive(), strict=True):
            layer.store.commit(layer.end, head, layer.checkpoint)


def _is_young(places: DirectoryLayout, info: GenerationInfo) -> bool:
    with SqliteLog(places.semantic(info.name)) as log:
        return log.end() < _YOUNG


def _generation(
    places: DirectoryLayout, info: GenerationInfo, episodic: SqliteLog, stack: ExitStack, say: Callable[[bytes], None]
) -> Generation:
    if not _is_young(places, info):
        log = stack.enter_context(open_semantic(places, info, episodic))
        store = stack.enter_context(following_store(log, places.graph(info.name)))
        return generation_of(places, info, log, store, episodic, ExtractorFactory())
    log = stack.enter_context(SqliteLog(places.semantic(info.name)))
    store = stack.enter_context(building(log, places.building(info.name, os.getpid())))
    store.answer_handlers()
    generation = generation_of(places, info, log, store, episodic, ExtractorFactory())
    generation.layer = _Loading(info.name, log, store, say)
    return generation


def _send_all(channel: Channel, said: "SimpleQueue[bytes]") -> None:
    """Send the messages, however long the writer takes to receive them."""
    with suppress(ChannelClosed):
        while True:
            channel.send(said.get())
