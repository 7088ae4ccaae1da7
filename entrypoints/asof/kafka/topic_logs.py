"""The logs of a data directory that is a copy of topics, opened in the order in which each needs the ones before it."""

from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

from asof.runtime.erasure import erase_vectors
from asof.runtime.layout import DirectoryLayout
from asof_streams.errors import NotFound
from asof_streams.kafka.client import Client
from asof_streams.kafka.dead_letters import DeadLetters
from asof_streams.kafka.event_topic import EventTopic, Forget, expect_partitions
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.messages_topic import MessagesTopic
from asof_streams.kafka.state import FILE, State
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import Topics
from asof_streams.sqlite_log import SqliteLog


class TopicLogs:
    """One partition of every topic, as logs in a directory.

    `writer`: a name that no other has, to take the derived topics over and append to them. None: to read alone; the
    logs are then as they were left, for the caller to catch up.
    """

    messages: MessagesTopic
    episodic: EventTopic

    def __init__(
        self, places: DirectoryLayout, client: Client, topics: Topics, partition: int, writer: str | None
    ) -> None:
        self.erased = False  # whether a group was, so that copies of what it said may be left in files
        self.derived: Final[list[EventTopic]] = []  # those that are open, in the order of their making
        self._places = places
        self._client = client
        self._topics = topics
        self._partition = partition
        self._writer = writer
        self._count = 0  # of the partitions of the messages topic
        self._state: State | None = None

    def open(self, path: Path) -> SqliteLog:
        """Return the log that belongs at a path of the directory; that of the messages must be the first."""
        match path.stem.partition("."):
            case ("messages", "", ""):
                self.begin()
                return self.messages
            case ("episodic", "", ""):
                return self.episodic
            case (_, _, generation):
                return self._ready(self.semantic(generation))

    def begin(self) -> None:
        """Open the messages and the episodic log; a writer's messages end where they were answered."""
        self._state = State(self._places.root / FILE)
        self._count = count = self._partitions(self._topics.messages)
        self._expect_partitions()
        at = PartitionId(self._topics.messages, self._partition)
        self.messages = MessagesTopic(self._places.messages, at, self._client, self._state, count)
        self.episodic = self._derived(self._places.episodic, self._topics.episodic, self.messages, self._forget_said)
        if self._writer is not None:
            self.messages.catch_up(max(self.episodic.checkpoint(), self.episodic.last_cause() + 1))
            self.episodic.expect_source()
            self._ready(self.episodic)

    def semantic(self, generation: str) -> EventTopic:
        """Open the semantic log of a generation."""
        path, topic = self._places.semantic(generation), self._topics.semantic(generation)

        def forget(group: str, _: int) -> None:
            self.erased = True
            erase_vectors(self._places, group, generation)

        return self._derived(path, topic, self.episodic, forget)

    def _forget_said(self, group: str, before: int) -> None:
        self.erased = True
        erase_vectors(self._places, group)
        self.messages.erase(group, before=before)

    def _derived(self, path: Path, topic: str, source: SqliteLog, forget: Forget) -> EventTopic:
        assert self._state is not None, "the messages come first"
        self._partitions(topic)
        park = DeadLetters(self._client, self._topics.dead_letters, self.messages).park
        at = PartitionId(topic, self._partition)
        log = EventTopic(path, at, self._client, self._state, source, park, forget, self._count)
        self.derived.append(log)
        if self._writer is not None:
            log.take_over(self._writer)
        return log

    def _ready(self, log: EventTopic) -> EventTopic:
        if self._writer is not None:
            log.go_on()
        return log

    def _expect_partitions(self) -> None:
        """See that a partition that holds nothing was not added to others that do: a claim in the first says so."""
        first = PartitionId(self._topics.episodic, 0)
        if self._partition and self._partitions(first.topic) and not self._client.end(first.topic, self._partition):
            fence = Fence(str(first))
            with closing(self._client.read(*first, 0, self._client.end(*first))) as read:
                for raw in chain.from_iterable(read):
                    fence.pass_through(raw)
                    if fence.partitions:
                        break
            expect_partitions(str(first), fence.partitions, self._count)

    def _partitions(self, topic: str) -> int:
        count = self._client.partitions(topic)
        if not count:
            raise NotFound(f"there is no topic {topic}: asof topics create makes it")
        return count

    def close(self) -> None:
        """Close the logs. Whoever opened them through here may have closed them already."""
        for log in self.derived:
            log.close()
        if self._state is not None:
            self._state.close()
        if hasattr(self, "messages"):
            self.messages.close()
