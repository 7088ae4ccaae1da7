"""Sends model requests ahead: while the engine ingests one message, the journal asks about the messages after it.

A request needs only the texts of its turns, never the result of an earlier extraction, so requests run concurrently
while events are emitted in log order. A prefetch is an optimisation: a handler that needs another answer requests it
itself. Prefetching stops at an erasure or a withdrawal until the engine has ingested it, so that no content is sent to
a model after its producer asked to take it back. So it does at the statement of a time zone, which requests depend on.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from asof_agents.engine import Engine
from asof_agents.extraction.llm.journal import Journal
from asof_agents.extraction.ports import Turn
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.extraction.turns import turn_of, turns
from asof_agents.generation import Generation, is_extracted_anew
from asof_agents.handlers import episodes
from asof_agents.handlers.mentions import CONTEXT_TURNS, context
from asof_agents.ports import EpisodeView
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Record
from asof_streams.log import EventLog
from asof_streams.messages import (
    ErasureRequest,
    Message,
    RedactionRequest,
    TimezoneStatement,
    WithdrawalRequest,
    takes_back,
)

_BARRIERS: Final = (ErasureRequest, RedactionRequest, WithdrawalRequest, TimezoneStatement)


class Prefetcher:
    """Requests answers for messages that an engine has not ingested yet."""

    def __init__(self, messages: EventLog, engine: Engine, journal: Journal) -> None:
        self._messages = messages
        self._engine = engine
        self._journal = journal
        self._next = 0  # the first position that was not read
        self._barrier = -1  # position of the last erasure, withdrawal or time zone read
        self._coming: deque[tuple[int, str, EpisodeRecorded]] = deque()  # position, group: in no store yet

    def prefetch_from(self, position: int) -> None:
        """Request the answers for the message at a position, the engine's next one, and for some after it."""
        while self._coming and self._coming[0][0] < position:
            self._coming.popleft()
        self._next = max(self._next, position)
        if position <= self._barrier:
            return
        for message in self._messages.read(self._next, position + self._journal.depth):
            self._next = message.position + 1
            if isinstance(message.event, _BARRIERS) or takes_back(message.event):
                self._barrier = message.position
                return
            if self._may_be_feedback(message):
                continue
            for event in episodes.record(message, self._engine.store, self._engine.extractors.ontologies):
                if isinstance(event, EpisodeRecorded) and event.source != "fact":
                    self._request(message, event)

    def _may_be_feedback(self, message: Record) -> bool:
        """Whether nothing here knows what a message replies to: if it is one of the bot, no model is asked about it."""
        said = message.event
        if not isinstance(said, Message) or said.reply_to is None:
            return False
        return self._engine.store.post(message.group, said.reply_to) is None

    def reset(self) -> None:
        """Begin again at the next message, because the engine was rolled back."""
        self._next, self._barrier = 0, -1
        self._coming.clear()

    def _request(self, message: Record, episode: EpisodeRecorded) -> None:
        before = turns(context(message.group, episode, message.position, self._engine.store))
        if episode.previous_episode_ids is None:
            before += [
                turn_of(other)
                for _, group, other in self._coming
                if group == message.group and other.source == episode.source and other.valid_at <= episode.valid_at
            ]
            before = sorted(before, key=lambda turn: turn.said_at)[-CONTEXT_TURNS:]
        self._coming.append((message.position, message.group, episode))
        turn = turn_of(episode, message.event.content if isinstance(message.event, Message) else None)
        anew = [] if episode.suppressed else [g.extractors for g in self._engine.generations if g.extractors]
        for extractors in (self._engine.extractors, *anew):
            _prefetch(extractors, self._journal, message._replace(cause=message.position), episode, turn, before)


def prefetch_batches(
    batches: Iterable[list[Record]], generation: Generation, known: EpisodeView, journal: Journal
) -> Iterator[list[Record]]:
    """Yield episodic batches in order, each after the requests for the batches that follow it were sent.

    For a generation that extracts anew. Erased content is gone from the log that they are read from, so nothing here
    waits for an erasure.
    """
    waiting: deque[list[Record]] = deque()
    for batch in batches:
        waiting.append(batch)
        first, extractors = batch[0], generation.extractors
        if extractors is not None and isinstance(first.event, EpisodeRecorded) and is_extracted_anew(first.event):
            before = turns(context(first.group, first.event, first.cause, known))
            _prefetch(extractors, journal, first, first.event, turn_of(first.event), before)
        if len(waiting) >= journal.depth:
            yield waiting.popleft()
    yield from waiting


def _prefetch(
    extractors: ExtractorRegistry,
    journal: Journal,
    record: Record,
    episode: EpisodeRecorded,
    turn: Turn,
    before: Sequence[Turn],
) -> None:
    request = None if episode.is_of_bot else extractors.of(episode).request(turn, before)
    if request is not None:
        journal.prefetch(record.group, request, record.cause)
