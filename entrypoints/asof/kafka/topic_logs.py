"""The logs of a data directory that is a copy of topics, opened in the order in which each needs the ones before it."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from asof.kafka.control import Control
from asof.runtime.erasure import erase_vectors
from asof.runtime.layout import DirectoryLayout
from asof_projections.generations import load
from asof_streams.kafka.client import Client
from asof_streams.kafka.dead_letters import DeadLetters
from asof_streams.kafka.errors import topic_not_found
from asof_streams.kafka.event_topic import EventTopic, Forget, expect_partitions
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.messages_topic import MessagesTopic
from asof_streams.kafka.state import FILE, State, TopicProgress
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import Topics
from asof_streams.sqlite_log import SqliteLog


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """One partition of every topic, and the directory that copies it; `client` is used by one thread."""

    places: DirectoryLayout
    client: Client
    topics: Topics
    partition: int

    @property
    def messages(self) -> PartitionId:
        """The partition of the messages topic."""
        return PartitionId(self.topics.messages, self.partition)

    @property
    def episodic(self) -> PartitionId:
        """The partition of the episodic topic."""
        return PartitionId(self.topics.episodic, self.partition)

    @property
    def replies(self) -> PartitionId:
        """The partition of the topic of the conversation log."""
        return PartitionId(self.topics.replies, self.partition)

    def semantic(self, generation: str) -> PartitionId:
        """The partition of a generation's topic."""
        return PartitionId(self.topics.semantic(generation), self.partition)

    def state(self) -> State:
        """Open the state of the directory."""
        return State(self.places.root / FILE)

    def count(self, topic: str) -> int:
        """Return how many partitions a topic has. NotFound: there is no such topic."""
        count = self.client.partitions(topic)
        if not count:
            raise topic_not_found(topic)
        return count

    def event_topic(
        self,
        path: Path,
        at: PartitionId,
        state: State,
        messages: SqliteLog,
        source: SqliteLog,
        forget: Forget,
        is_live: Callable[[], bool] = lambda: True,
    ) -> EventTopic:
        """Open a derived log; `source` is the one that it is made from. Only a live one has dead letters."""
        count = self.count(self.topics.messages)
        self.count(at.topic)
        letters = DeadLetters(self.client, self.topics.dead_letters, self.messages, messages)

        def park(parked: Sequence[tuple[int, str]]) -> None:
            if is_live():
                letters.park(parked)

        return EventTopic(path, at, self.client, state, source, park, forget, count)

    def semantic_topic(
        self,
        generation: str,
        state: State,
        messages: SqliteLog,
        episodic: SqliteLog,
        erased: Callable[[], None] = lambda: None,
    ) -> EventTopic:
        """Open the log of a generation; `erased` is called when another writer erased a group."""

        def forget(group: str, _: int) -> None:
            erased()
            erase_vectors(self.places, group, generation)

        def is_live() -> bool:
            catalog = load(self.places.root)
            return catalog is None or catalog.active == generation

        path = self.places.semantic(generation)
        return self.event_topic(path, self.semantic(generation), state, messages, episodic, forget, is_live)

    def replies_topic(self, state: State, messages: SqliteLog, erased: Callable[[], None] = lambda: None) -> EventTopic:
        """Open the conversation log, where nothing is parked; `erased` is called when something of it was erased."""

        def forget(*_: object) -> None:
            erased()

        return self.event_topic(self.places.conversation, self.replies, state, messages, messages, forget)


class TopicLogs:
    """The messages and the episodic topic of one partition, as logs in a directory.

    `writer`: a name that no other has, to take the episodic topic over and append to it. None: to read alone; the logs
    are then as they were left, for the caller to catch up.
    """

    messages: MessagesTopic
    episodic: EventTopic

    def __init__(self, at: TopicPartitions, writer: str | None) -> None:
        self.erased = False  # whether a group was, so that copies of what it said may be left in files
        self._at = at
        self._writer = writer
        self._state: State | None = None

    def open(self, path: Path) -> SqliteLog:
        """Return the log that belongs at a path of the directory; that of the messages must be the first."""
        if path.stem == "messages":
            self.begin()
            return self.messages
        return self.episodic

    def begin(self) -> None:
        """Open the messages and the episodic log; a writer's messages end where they were answered."""
        at = self._at
        self._state = at.state()
        count = at.count(at.topics.messages)
        self._expect_partitions(count)
        mark = Control(at.client, at.topics).catch_up().mark(at.partition)
        self.messages = MessagesTopic(at.places.messages, at.messages, at.client, self._state, count, mark)
        self.episodic = at.event_topic(
            at.places.episodic, at.episodic, self._state, self.messages, self.messages, self._forget
        )
        if self._writer is not None:
            self.episodic.take_over(self._writer)
            self.messages.catch_up(max(self.episodic.checkpoint(), self.episodic.last_cause() + 1))
            self.episodic.expect_source()
            self.episodic.go_on()

    def progress(self) -> TopicProgress:
        """Return how far the episodic topic is read."""
        assert self._state is not None, "the logs are open"
        return self._state.progress(str(self._at.episodic))

    def _forget(self, group: str, asked: int) -> None:
        self.erased = True
        erase_vectors(self._at.places, group)
        self.messages.erase_as_asked(asked)

    def _expect_partitions(self, count: int) -> None:
        """See that a partition that holds nothing was not added to others that do: a claim in the first says so."""
        client, first = self._at.client, self._at.episodic._replace(partition=0)
        if self._at.partition and client.partitions(first.topic) and not client.end(*self._at.episodic):
            fence = Fence(str(first))
            with closing(client.read(*first, 0, client.end(*first))) as read:
                for raw in chain.from_iterable(read):
                    fence.pass_through(raw)
                    if fence.partitions:
                        break
            expect_partitions(str(first), fence.partitions, count)

    def close(self) -> None:
        """Close the logs. Whoever opened them through here may have closed them already."""
        if hasattr(self, "episodic"):
            self.episodic.close()
        if self._state is not None:
            self._state.close()
        if hasattr(self, "messages"):
            self.messages.close()
