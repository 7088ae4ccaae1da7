"""One partition's directory as a copy of the topics that its stores follow; nothing is written to a topic."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Self

from asof.kafka.topic_logs import TopicLogs
from asof.runtime.erasure import ErasedFrom, Vacuum
from asof.runtime.graph_database import Graphs
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import following_store
from asof_projections.generations import FIRST, Catalog, GenerationInfo, load, save
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import catch_up
from asof_streams.errors import DamagedLog
from asof_streams.events import Event, decode
from asof_streams.files import make_folder
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.messages_topic import MessagesTopic
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import Topics
from asof_streams.semantic import ConsolidationConfigured, GenerationStarted, IngestionConfigured
from asof_streams.writer_lock import WriterLock


class PartitionReplica:
    """A directory of one partition, held against others. WriterBusy: another process keeps it up."""

    def __init__(
        self,
        places: DirectoryLayout,
        client: Client,
        topics: Topics,
        partition: int,
        patience: float,
        graphs: Graphs | None = None,
    ) -> None:
        self._places = places
        self._graphs = graphs  # in a graph database, where one is to follow too
        self._lock = WriterLock(places.root, patience=patience)
        self._logs = TopicLogs(places, client, topics, partition, writer=None)
        self._stores: dict[str, SqliteGraph] = {}  # by log
        self._vacuum = Vacuum(places, self._erased_from)
        self._suppressed = 0  # messages whose content is not to be kept, and is not, up to this position
        self._looked_for_content = False
        self.beliefs: dict[str, EventTopic] = {}  # by generation
        try:
            self._logs.begin()
            for info in self._catalog():
                self.add(info.name)
        except BaseException:
            self.close()
            raise

    @property
    def messages(self) -> MessagesTopic:
        """The log of the messages topic."""
        return self._logs.messages

    @property
    def episodic(self) -> EventTopic:
        """The log of the episodic topic."""
        return self._logs.episodic

    def add(self, generation: str) -> None:
        """Follow a generation too. NotFound: it has no topic."""
        if generation not in self.beliefs:
            make_folder(self._places.generation(generation))
            self.beliefs[generation] = self._logs.semantic(generation)

    def catch_up(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Copy the records of the topics before these ends; then let the stores and the catalogue follow.

        The end of a log was asked before that of the log that it is made from.
        """
        answered = self.episodic.last_cause() + 1
        if self.messages.end() < answered:  # that log was deleted: what was erased of it is to be erased again
            self.messages.catch_up(answered)
        self.messages.read_up_to(ends[self.messages.at])
        self.episodic.catch_up(ends[self.episodic.at])
        self.episodic.expect_source()
        for log in self.beliefs.values():
            log.catch_up(ends[log.at])
        self._suppress()
        begun = {name: log for name, log in self.beliefs.items() if log.end()}
        if begun:
            self._show(self.episodic)
            for log in begun.values():
                self._show(log)
            self._list(begun)
            self._project(begun)
        if self._logs.erased:
            self._logs.erased = False
            self._vacuum.note()
        self._vacuum.run()

    def _suppress(self) -> None:
        """Forget suppressed content that workers have read; at first, the content that was left before."""
        checkpoint = self.episodic.checkpoint()
        if checkpoint > self._suppressed and (self.messages.has_content_keys or not self._looked_for_content):
            self.messages.suppress(self._suppressed, checkpoint)
            self._looked_for_content = True
        self._suppressed = checkpoint

    @property
    def erasing(self) -> bool:
        """Whether files may still hold erased content."""
        return self._vacuum.owed

    def _erased_from(self) -> list[ErasedFrom]:
        return [self.messages, *self._logs.derived, *self._stores.values()]

    def _project(self, begun: Mapping[str, EventTopic]) -> None:
        catalog = load(self._places.root)
        if self._graphs is not None and catalog is not None:
            self._graphs.follow([self.episodic, *begun.values()], catalog.active)

    def _show(self, log: EventTopic) -> None:
        store = self._stores.get(log.name)
        if store is None:
            path = self._places.episodes if log is self.episodic else self._places.graph(log.name.partition(".")[2])
            self._stores[log.name] = following_store(log, path)
        else:
            catch_up(log, store)

    def _list(self, begun: Mapping[str, EventTopic]) -> None:
        """Add the generations that have begun to the catalogue; in a new one the first of them answers."""
        catalog = load(self._places.root)
        there = {info.name for info in catalog.generations} if catalog else set()
        new = [_described(name, log.at, _first_events(log)) for name, log in begun.items() if name not in there]
        if not new:
            return
        if catalog is None:
            new.sort(key=lambda info: info.name != FIRST)
            catalog = Catalog(new[0].name, ())
        for info in new:
            catalog = catalog.with_(info)
        save(self._places.root, catalog)

    def _catalog(self) -> tuple[GenerationInfo, ...]:
        catalog = load(self._places.root)
        return catalog.generations if catalog else ()

    def close(self) -> None:
        """Let others have the directory."""
        if self._graphs is not None:
            self._graphs.close()
        for store in self._stores.values():
            store.close()
        self._logs.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def adopt_generation(places: DirectoryLayout, connection: Connection, topics: Topics, partition: int) -> None:
    """List the generation that a semantic topic begins with in a directory that lists none yet.

    A worker goes on under the ontology and the extractor that it was begun with, whatever this version's are.
    """
    if load(places.root) is not None:
        return
    at = PartitionId(topics.semantic(FIRST), partition)
    fence = Fence(str(at))
    with Client(connection) as client:  # of its own: after a read, one knows the partitions of that topic alone
        end = client.end(*at) if client.partitions(at.topic) else 0
        with closing(client.read(*at, 0, end)) as read:
            first = next((batch for found in read for raw in found if (batch := fence.pass_through(raw))), None)
    if first is not None:
        info = _described(FIRST, at, [decode(sent.type, sent.version, sent.payload) for sent in first])
        make_folder(places.root)
        save(places.root, Catalog(FIRST, (info,)))


def _first_events(log: EventTopic) -> list[Event]:
    first = next(log.read(0, 1))
    return [record.event for record in log.read(0, first.size)]


def _described(name: str, at: PartitionId, first: Sequence[Event]) -> GenerationInfo:
    """Return the description of a generation in its first events."""
    started = first[0]
    if not isinstance(started, GenerationStarted):
        raise DamagedLog(f"{at}: its first event is not {GenerationStarted.type}")
    return GenerationInfo(
        name,
        started.ontology,
        started.ontology_digest,
        started.extractor,
        started.policy,
        started.source,
        started.build,
        next((event.config for event in first if isinstance(event, ConsolidationConfigured)), None),
        next((event.config for event in first if isinstance(event, IngestionConfigured)), None),
        started.rule,
    )
