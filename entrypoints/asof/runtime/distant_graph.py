"""The graph of a generation that another process writes, as its handlers see it while it is built.

They are told from memory what they ask of nearly every structured fact. A question to the other process waits for all
that was sent there, so where many are asked, as by messages of chat, the build goes on in this process alone: it makes
the graph again from the log, which takes less than to derive it.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from asof.runtime.graph_process import GraphProcess, QuestionFailed
from asof_agents.layer import Layer
from asof_projections.belief_cache import BeliefCache
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import EntityRow, Slot, Statement
from asof_projections.projector import BATCH, place_beside, put, replacing
from asof_projections.projector import discard as discard_store
from asof_streams.events import Event, Record
from asof_streams.sqlite_log import SqliteLog

_FEW: Final = 500  # questions that say nothing of what is to come
_RECORDS: Final = 5  # that another process writes in the time that one question costs


class DistantGraph:
    """A GenerationStore of a log from its first event on, and the layer that writes it.

    opened: has what is opened where this process takes over; its owner closes it.
    """

    def __init__(self, process: GraphProcess, log: SqliteLog, path: Path, opened: ExitStack) -> None:
        self._process = process
        self._log = log
        self._path = path
        self._opened = opened
        self._beliefs = BeliefCache()
        self._here: SqliteGraph | None = None  # once this process has taken over
        self._asked = self._written = 0
        self.layer = DistantLayer(log, self)

    def __getattr__(self, name: str) -> Any:
        """Return a method of the graph that is not kept in memory."""
        return partial(self._ask, name)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the other process still writes the graph, and the log."""
        return self._here is None

    @property
    def is_lost(self) -> bool:
        """Whether the other process ended by itself: what it has not appended is to be derived again."""
        return self._process.has_ended

    def entities_named(self, group: str, name: str) -> list[EntityRow]:
        if self._here is not None:
            return self._here.entities_named(group, name)
        return self._beliefs.entities_named(group, name, self._read_named)

    def single(self, group: str, relation: str) -> bool:
        return self._beliefs.single(group, relation) if self._here is None else self._here.single(group, relation)

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        if self._here is not None:
            return self._here.slot(group, subject, relation, value)
        return self._beliefs.slot(group, subject, relation, value, self._read_slot)

    def fact_with_ref(self, group: str, ref: str) -> Statement | None:
        if self._here is not None:
            return self._here.fact_with_ref(group, ref)
        return self._beliefs.fact_with_ref(group, ref, partial(self._ask, "fact_with_ref"))

    def statement(self, uuid: str) -> Statement | None:
        if self._here is not None:
            return self._here.statement(uuid)
        return self._beliefs.statement(uuid, partial(self._ask, "statement"))

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position: seen by this store's own reads at once."""
        if self._here is not None:
            self._here.apply(records)
            return
        self._written += len(records)
        for record in records:
            self._beliefs.apply(record)
        self._process.apply(records)

    def follow_log(self) -> None:
        """Apply what the log has."""
        records = self._log.read()
        while batch := list(islice(records, BATCH)):
            self.apply(batch)
        self._process.skip()

    def append(self, checkpoint: int) -> None:
        """Have what was applied since the last call appended to the log, without waiting for it."""
        self._process.append(checkpoint)

    def settle(self) -> None:
        """Wait until the log has all that was appended."""
        if self._here is None:
            self._process.settle()

    def take_over(self) -> SqliteGraph:
        """Go on in this process alone."""
        if self._here is None:
            self.layer.flush()
            self.abandon()
            self._here = self._opened.enter_context(replacing(self._log, self._path))
            self._here.answer_handlers()
            self.layer.resume()
            self._beliefs = BeliefCache()  # the graph answers
        return self._here

    def finish(self) -> None:
        """Put the whole graph in its place, where the other process wrote it."""
        if self._here is None:
            self._process.finish()
            put(place_beside(self._path), self._path)

    def abandon(self) -> None:
        """Drop what the other process wrote of the graph, once the log has what was appended."""
        if self._here is None:
            try:
                self._process.settle()
            finally:
                self._process.kill()
                discard_store(place_beside(self._path))

    def _read_named(self, group: str, name: str) -> list[EntityRow]:
        entities: list[EntityRow] = self._ask("entities_named", group, name)
        return entities

    def _read_slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        slot: Slot = self._ask("read_slot", group, subject, relation, value)
        return slot

    def _ask(self, name: str, *values: Any, **named: Any) -> Any:
        if self._here is None:
            self._asked += 1
            if self._asked < _FEW or self._asked * _RECORDS < self._written:
                with suppress(QuestionFailed):
                    return self._process.ask(name, values, named)
        return getattr(self.take_over(), name)(*values, **named)


class DistantLayer(Layer):
    """The layer of a distant graph: the process that writes the graph appends to the log, until this one takes over."""

    def __init__(self, log: SqliteLog, store: DistantGraph) -> None:
        super().__init__(log, store)
        self._graph = store
        self._has_sent = False

    def emit(self, group: str, recorded_at: int, cause: int, events: Sequence[Event]) -> list[Record]:
        if not self._graph.is_elsewhere:
            return super().emit(group, recorded_at, cause, events)
        records = self._number(group, recorded_at, cause, events)
        self._has_sent = True
        self._graph.apply(records)
        return records

    def apply_ahead(self, group: str, recorded_at: int, cause: int, events: Sequence[Event], behind: int) -> None:
        self._graph.take_over()  # for these come again, in a larger batch
        super().apply_ahead(group, recorded_at, cause, events, behind)

    def flush(self) -> None:
        """Have what was emitted appended, without waiting for it."""
        if not self._graph.is_elsewhere:
            super().flush()
        elif self._has_sent or self.checkpoint != self._durable:
            self._graph.append(self.checkpoint)
            self._has_sent, self._durable = False, self.checkpoint

    def settle(self) -> None:
        """Wait until all that was flushed is in the log."""
        self._graph.settle()

    def resume(self) -> None:
        """Go on from the end of the log, with a store that has all of it."""
        self._next = self._committed = self.log.end()


@contextmanager
def distant_graph(process: GraphProcess, log: SqliteLog, path: Path, opened: ExitStack) -> Iterator[DistantGraph]:
    """Yield a graph that takes the place of what is at a path when this ends without an error.

    After an error nothing is left of it, and the log has what was flushed, unless the process had failed.
    """
    graph = DistantGraph(process, log, path, opened)
    try:
        graph.follow_log()
        yield graph
        graph.finish()
    except BaseException:
        with suppress(Exception):  # what happened first is raised
            graph.abandon()
        raise
