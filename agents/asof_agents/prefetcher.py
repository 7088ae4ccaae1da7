"""Asking ahead: while a message is taken, models are asked about those that come next; all is emitted in log order.

A question needs the texts of its turns alone, so it never waits for what is found in earlier ones. Nothing depends on
what is asked here: a handler that needs another answer asks for it itself. An erasure or a
withdrawal is waited for, so that nothing of what it takes away is sent anywhere.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from asof_agents.engine import Engine, Generation, is_read_anew
from asof_agents.extraction.llm.journal import Journal
from asof_agents.extraction.ports import Turn
from asof_agents.extraction.registry import Readers
from asof_agents.handlers import episodes
from asof_agents.handlers.mentions import CONTEXT_TURNS, context, turn_of, turns
from asof_agents.ports import EpisodeView
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Record
from asof_streams.log import EventLog
from asof_streams.messages import ErasureRequest, Message, WithdrawalRequest


class Prefetcher:
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
            for event in episodes.record(message, self._engine.store, self._engine.readers.ontologies):
                if isinstance(event, EpisodeRecorded) and event.source != "fact":
                    self._about(message, event)

    def forget(self) -> None:
        """Begin again at the next message: what was taken was dropped."""
        self._next, self._erasure = 0, -1
        self._coming.clear()

    def _about(self, message: Record, episode: EpisodeRecorded) -> None:
        before = turns(context(message.group, episode, message.position, self._engine.store))
        if episode.previous_episode_ids is None:
            before += [
                turn_of(other)
                for _, group, other in self._coming
                if group == message.group and other.source == episode.source and other.valid_at <= episode.valid_at
            ]
            before = sorted(before, key=lambda turn: turn.said_at)[-CONTEXT_TURNS:]
        self._coming.append((message.position, message.group, episode))
        said = message.event
        turn = turn_of(episode, said.content if isinstance(said, Message) else None)
        anew = [] if episode.suppressed else [g.readers for g in self._engine.generations if g.readers]
        for readers in (self._engine.readers, *anew):
            _ask(readers, self._journal, message.group, episode, turn, before)


def prefetch_batches(
    batches: Iterable[list[Record]], generation: Generation, known: EpisodeView, journal: Journal
) -> Iterator[list[Record]]:
    """Yield episodic batches for a generation that extracts anew to take, each when those after it were asked about.

    What is erased is gone from the log that they are read from.
    """
    waiting: deque[list[Record]] = deque()
    for batch in batches:
        waiting.append(batch)
        first, readers = batch[0], generation.readers
        if readers is not None and isinstance(first.event, EpisodeRecorded) and is_read_anew(first.event):
            before = turns(context(first.group, first.event, first.cause, known))
            _ask(readers, journal, first.group, first.event, turn_of(first.event), before)
        if len(waiting) >= journal.depth:
            yield waiting.popleft()
    yield from waiting


def _ask(
    readers: Readers, journal: Journal, group: str, episode: EpisodeRecorded, turn: Turn, before: Sequence[Turn]
) -> None:
    request = readers.of(episode).request(turn, before)
    if request is not None:
        journal.ahead(group, request)
