"""Asking ahead: while a message is taken, models are asked about those that come next; all is emitted in log order.

A question needs the texts of its turns alone, so it never waits for what is found in earlier ones. Nothing depends on
what is asked here: a handler that needs another answer asks for it itself. An erasure or a
withdrawal is waited for, so that nothing of what it takes away is sent anywhere.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from asof_agents import episodes
from asof_agents.engine import Engine, Generation
from asof_agents.extraction.journal import Journal
from asof_agents.extraction.ports import Extractor, Turn
from asof_agents.mentions import CONTEXT_TURNS, turn_of
from asof_agents.ports import EpisodesKnown
from asof_projections.rows import Episode
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Record
from asof_streams.log import EventLog
from asof_streams.messages import ErasureRequest, WithdrawalRequest


class Ahead:
    """Asks about messages of a log that an engine has not taken yet."""

    def __init__(self, messages: EventLog, engine: Engine, journal: Journal) -> None:
        self._messages = messages
        self._engine = engine
        self._journal = journal
        self._next = 0  # the first position that was not looked at
        self._erasure = -1  # the last one seen
        self._coming: deque[tuple[int, str, EpisodeRecorded]] = deque()  # position, group: no store has them yet

    def reach(self, position: int) -> None:
        """Ask about the message at a position, which is to be taken next, and about some of those after it."""
        while self._coming and self._coming[0][0] < position:
            self._coming.popleft()
        self._next = max(self._next, position)
        if position <= self._erasure:
            return
        for message in self._messages.read(self._next, position + self._journal.depth):
            self._next = message.position + 1
            if isinstance(message.event, ErasureRequest | WithdrawalRequest):
                self._erasure = message.position
                return
            for event in episodes.record(message, self._engine.store):
                if isinstance(event, EpisodeRecorded) and event.source != "fact":
                    self._about(message, event)

    def forget(self) -> None:
        """Begin again at the next message: what was taken was dropped."""
        self._next, self._erasure = 0, -1
        self._coming.clear()

    def _about(self, message: Record, episode: EpisodeRecorded) -> None:
        before = _kept(self._engine.store, message.group, episode, message.position)
        before += [
            turn_of(other)
            for _, group, other in self._coming
            if group == message.group and other.source == episode.source and other.valid_at <= episode.valid_at
        ]
        before.sort(key=lambda turn: turn.said_at)
        self._coming.append((message.position, message.group, episode))
        for extractor in (self._engine.extractor, *(g.extractor for g in self._engine.generations if g.extractor)):
            _ask(extractor, self._journal, message.group, episode, before[-CONTEXT_TURNS:])


def batches_ahead(
    batches: Iterable[list[Record]], generation: Generation, known: EpisodesKnown, journal: Journal
) -> Iterator[list[Record]]:
    """Yield episodic batches for a generation that extracts anew to take, each when those after it were asked about.

    What is erased is gone from the log that they are read from.
    """
    waiting: deque[list[Record]] = deque()
    for batch in batches:
        waiting.append(batch)
        first, extractor = batch[0], generation.extractor
        if extractor is not None and isinstance(first.event, EpisodeRecorded) and first.event.source != "fact":
            before = _kept(known, first.group, first.event, first.cause)
            _ask(extractor, journal, first.group, first.event, before)
        if len(waiting) >= journal.depth:
            yield waiting.popleft()
    yield from waiting


def _kept(known: EpisodesKnown, group: str, episode: EpisodeRecorded, cause: int) -> list[Turn]:
    def turn(e: Episode) -> Turn:
        return Turn(e.uuid, e.role, e.role_type, e.content, e.valid_at)

    return [turn(e) for e in known.recent(group, episode.source, episode.valid_at, cause, CONTEXT_TURNS)]


def _ask(extractor: Extractor, journal: Journal, group: str, episode: EpisodeRecorded, before: Sequence[Turn]) -> None:
    request = extractor.request(turn_of(episode), before)
    if request is not None:
        journal.ahead(group, request)
