"""The engine turns messages into episodic events and the semantic events of every generation.

A runtime calls `ingest` for each message, then `flush`. `ingest` is idempotent by position: it skips a message that was
ingested before. Handlers are pure: the engine passes them a view of what is known and applies their events at once, so
that the next message sees them.

Order of writes: `flush` appends the events and the checkpoint to a log in one step, and commits the store after that.
A crash or an error between the two leaves a store behind its log, never ahead of it; the store catches up when it is
opened, or before this process reads or writes it again. The episodic log is flushed before the generations' logs, so a
generation may also be behind the episodic log; the next message, or the next flush, brings it up to date.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.generation import Generation
from asof_agents.layer import EpisodicStore, Layer, group_batches
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.parking import park_if_unexpected, warn_of_failures
from asof_agents.ports import EpisodeView
from asof_agents.recorder import Recorder
from asof_agents.redaction import tell, what_is_left
from asof_agents.retry import derive_again, record_again
from asof_streams.episodic import GroupErased, MessageParked, MessageRetried
from asof_streams.events import Event, Record
from asof_streams.messages import ErasureRequest, RedactionRequest, RetryRequest

_AFTER_FLUSH: Final = frozenset({ErasureRequest, RedactionRequest, RetryRequest})


class Engine:
    """Turns messages into events, one after the other; the module's docstring has the order of its writes.

    erase: called with a group and the position of its erasure request, before the erasure is on any log.
    redact: called with a group and the positions of those of its messages that are erased, likewise; what a generation
    has of the group is erased then.
    messages: returns a message by its position as its producer knows it, on Kafka its offset; None: there is none.
    meter: counts what messages come to, and measures the phases.
    """

    def __init__(
        self,
        episodic: Layer,
        store: EpisodicStore,
        extractors: ExtractorRegistry,
        generations: Collection[Generation],
        erase: Callable[[str, int], None],
        redact: Callable[[str, Sequence[int]], None],
        messages: Callable[[int], Record | None],
        answers: Answers | None = None,
        meter: IngestionMeter = UNMETERED,
    ) -> None:
        self.episodic = episodic
        self.store = store
        self.extractors = extractors
        self.generations = generations
        self._recorder = Recorder(episodic, store, extractors, answers, meter)
        self._meter = meter
        self._erase = erase
        self._redact = redact
        self._message = messages

    @property
    def checkpoint(self) -> int:
        """The position of the next message to ingest."""
        return self.episodic.checkpoint

    def park(self, message: Record, reason: str) -> None:
        """Record, in the place of what follows from a message, that the runtime gave it up: a rebuild keeps that."""
        events: list[Event] = [MessageParked(reason=reason)]
        if isinstance(message.event, RetryRequest) and (retried := self._message(message.event.position)):
            at = retried.position
            events = [MessageRetried(position=at), MessageParked(reason=reason, position=at)]
        self._emit(message, events)

    def ingest(self, message: Record) -> None:
        """Ingest one record of the messages log. Positions come in order; one before the checkpoint is skipped."""
        if message.position < self.episodic.checkpoint:
            return
        self.episodic.catch_up()
        self._meter.begin(message)
        with self._meter.phases["total"]:
            self._ingest(message)

    def _ingest(self, message: Record) -> None:
        event = message.event  # of each message: to say no, isinstance of a pydantic class takes six times as long
        if type(event) in _AFTER_FLUSH:
            self.flush()
        if type(event) is RedactionRequest:
            self._tell_again(message, event)
            return
        if type(event) is ErasureRequest:
            self._erase(message.group, message.position)
        if type(event) is RetryRequest:
            events = record_again(self._recorder, self._message(event.position), message)
        else:
            events = park_if_unexpected(partial(self._recorder.record, message, message))
        self._emit(message, events)

    def _tell_again(self, message: Record, request: RedactionRequest) -> None:
        """Erase some messages of a group: tell what is left of it once more, then erase all that was told before.

        The checkpoint moves last, so after a crash it is all done again, from what was told last. A replay tells it
        again as well, so that its events come in the same order.
        """
        if request.positions:
            group, log = message.group, self.episodic.log
            left = what_is_left(log, request)
            self._redact(group, [at for at in request.positions if at < message.position])
            start = self.episodic.end
            self._put(message, message.position, [GroupErased()], message.position)
            for batch in left:
                events = park_if_unexpected(partial(tell, self._recorder, batch))
                self._put(batch[0], batch[0].cause, events, message.position)
            self.flush()
            log.erase(group, before=start)
        self.episodic.checkpoint = message.position + 1
        if request.positions:
            self.flush()  # what comes next is not to stand on a topic before this says that it is answered

    def _put(self, first: Record, cause: int, events: Sequence[Event], checkpoint: int) -> None:
        """Emit the episodic events of a message, of the group and time of a record, and those that follow from them."""
        with self._meter.phases["graph_update"]:
            emitted = self.episodic.emit(first.group, first.recorded_at, cause, events) if events else []
        self.episodic.checkpoint = checkpoint
        if emitted:
            for generation in self.generations:
                self._catch_up(generation, emitted[0].position)
                ingest_batch(generation, emitted, self.store)

    def _emit(self, message: Record, events: Sequence[Event]) -> None:
        warn_of_failures(message.position, self.episodic.log.name, events)
        self._meter.count_recorded(events)
        self._put(message, message.position, events, message.position + 1)
        if type(message.event) is RetryRequest:
            self.flush()  # a withdrawal of what it recorded reads that in the log

    def _catch_up(self, generation: Generation, stop: int) -> None:
        """Ingest the batches that a generation has missed: a flush may have failed after the episodic log's append."""
        if generation.layer.checkpoint < stop:
            for batch in group_batches(self.episodic.log.read(generation.layer.checkpoint, stop)):
                ingest_batch(generation, batch, self.store)

    def flush(self) -> None:
        """Make the events of all ingested messages durable, then visible."""
        self.episodic.flush()
        for generation in self.generations:
            self._catch_up(generation, self.episodic.end)
            generation.layer.flush()

    def roll_back(self) -> None:
        """Drop the events since the last flush, after an error; the next `ingest` begins with that message again."""
        self.episodic.roll_back()
        for generation in self.generations:
            generation.layer.roll_back()


def ingest_batch(generation: Generation, batch: Sequence[Record], known: EpisodeView) -> None:
    """Derive the semantic events of one message from its episodic events. Batches come in the log's order."""
    first, layer = batch[0], generation.layer
    if batch[-1].position < layer.checkpoint:
        return
    layer.catch_up()
    events = derive_batch(generation, batch, known)
    if events:
        warn_of_failures(first.cause, layer.log.name, events)
        generation.meter.count_derived(events)
        with generation.meter.phases["graph_update"]:
            layer.emit(first.group, first.recorded_at, first.cause, events)
    layer.checkpoint = batch[-1].position - batch[-1].place + batch[-1].size


def derive_batch(generation: Generation, batch: Sequence[Record], known: EpisodeView) -> list[Event]:
    """Return the semantic events of one message, given its episodic events; a retry is made after a flush."""
    event = batch[0].event
    if type(event) is MessageRetried:
        generation.layer.flush()
        generation.layer.settle()
        return derive_again(generation, batch, event.position, known)
    return park_if_unexpected(partial(generation.derive, batch, known))
