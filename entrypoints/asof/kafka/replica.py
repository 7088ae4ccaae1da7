"""One partition's directory as a copy of the topics that its stores follow; nothing is written to a topic.

A recorder or a believer may hold its part of the directory: then this copies the others, and leaves that one to it.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Final, Self

from asof.kafka.inputs import InputReader, InputReplica
from asof.kafka.topic_logs import TopicPartitions
from asof.runtime.erasure import ErasedFrom, Vacuum
from asof.runtime.extractors import extractor_factory
from asof.runtime.graph_database import Graphs
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import first_generation
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.wiring import following_store, load_ontology
from asof.settings import Settings
from asof_projections.generations import FIRST, Catalog, GenerationInfo, load, save
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import catch_up
from asof_streams.errors import DamagedLog, NotFound, WriterBusy
from asof_streams.events import Event, decode
from asof_streams.files import locked_folder, make_folder
from asof_streams.kafka.client import Client
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import Topics
from asof_streams.polling import looks
from asof_streams.semantic import ConsolidationConfigured, GenerationStarted, IngestionConfigured
from asof_streams.writer_lock import AGENT, REPLIES, RESPONDER, WriterLock, is_held

_INPUT_SECONDS: Final = 2.0  # for which a recorder beside this is waited for


class PartitionReplica:
    """A directory of one partition, held against others. WriterBusy: another process keeps it up.

    leave_held: whether parts that other processes keep up are left to them; WriterBusy: they all are.
    """

    def __init__(self, at: TopicPartitions, *, leave_held: bool = False, graphs: Graphs | None = None) -> None:
        self._at = at
        self._graphs = graphs  # in a graph database, where one is to follow too
        self._leave_held = leave_held
        self._patience = 0.0 if leave_held else PATIENCE
        self._stores: dict[str, SqliteGraph] = {}  # by generation
        self._opened_generations: dict[str, ExitStack] = {}
        self._opened_replies = ExitStack()
        self._vacuum = Vacuum(at.places, self._erased_from)
        self._erased = False
        self.beliefs: dict[str, EventTopic] = {}  # by generation
        self.replies: EventTopic | None = None  # where a bot answers, and no responder does it from here
        with ExitStack() as opened:
            if graphs is not None:
                opened.callback(graphs.close)
            self._inputs = self._open_inputs()
            opened.callback(self._inputs.close)
            self._state = opened.enter_context(at.state())
            opened.callback(self._remove_all)
            opened.callback(self._opened_replies.close)
            for info in self._catalog():
                self.add(info.name)
            self.add_replies()
            if isinstance(self._inputs, InputReader) and not self.logs:
                raise WriterBusy(f"{at.places.root}: other processes write all of it already")
            self._opened = opened.pop_all()

    def _open_inputs(self) -> InputReplica | InputReader:
        root = self._at.places.root
        try:
            if self._leave_held and is_held(root, AGENT):
                raise WriterBusy(f"{root}: a recorder is about to write it")
            return InputReplica(self._at, self._patience)
        except WriterBusy:
            if not self._leave_held:
                raise
            try:
                return InputReader(self._at)
            except NotFound:  # whoever keeps them up has only begun
                raise WriterBusy(f"{self._at.places.root}: another process is making it") from None

    @property
    def logs(self) -> list[EventTopic]:
        """The logs that are made from others and are kept up here."""
        return [*self.beliefs.values(), *([self.replies] if self.replies else [])]

    @property
    def inputs(self) -> list[PartitionId]:
        """The topics that the beliefs are made from: the episodic one, then that of the messages."""
        return [self._at.episodic, self._at.messages]

    def offset(self, topic: PartitionId) -> int:
        """Return how far a topic is read into the directory, whoever does it."""
        return self._state.progress(str(topic)).offset

    def add(self, generation: str) -> None:
        """Follow a generation too, unless another process does. NotFound: it has no topic."""
        if generation in self.beliefs:
            return
        folder = self._at.places.generation(generation)
        make_folder(folder)
        if self._leave_held and is_held(folder, AGENT):
            return
        try:
            lock = WriterLock(folder, patience=self._patience)
        except WriterBusy:
            if self._leave_held:
                return
            raise
        with ExitStack() as opened:
            opened.callback(lock.release)
            messages, episodic = self._inputs.messages, self._inputs.episodic
            log = self._at.semantic_topic(generation, self._state, messages, episodic, self._note_erasure)
            self.beliefs[generation] = opened.enter_context(log)
            self._opened_generations[generation] = opened.pop_all()

    def remove(self, generation: str) -> None:
        """Follow a generation no longer: it was dropped."""
        self.beliefs.pop(generation, None)
        self._stores.pop(generation, None)
        if generation in self._opened_generations:
            self._opened_generations.pop(generation).close()

    def add_replies(self) -> None:
        """Follow the replies too, where there is a topic of them, unless another process does."""
        at, root = self._at, self._at.places.root
        is_left = self._leave_held and is_held(root, RESPONDER)
        if self.replies is not None or is_left or not at.client.partitions(at.topics.replies):
            return
        try:
            self._opened_replies.callback(WriterLock(root, patience=self._patience, name=REPLIES).release)
        except WriterBusy:
            if self._leave_held:
                return
            raise
        log = at.replies_topic(self._state, self._inputs.messages, self._note_erasure)
        self.replies = self._opened_replies.enter_context(log)

    def _remove_all(self) -> None:
        for generation in [*self._opened_generations]:
            self.remove(generation)

    @property
    def places(self) -> DirectoryLayout:
        """The directory."""
        return self._at.places

    def _note_erasure(self) -> None:
        self._erased = True

    def catch_up(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Copy the records of the topics before these ends; then let the stores and the catalogue follow.

        The end of a log was asked before that of the log that it is made from.
        """
        inputs = self._inputs
        if isinstance(inputs, InputReplica):
            inputs.catch_up(ends)
        elif not self._others_reach(inputs, ends[self._at.episodic]):
            return
        for log in self.logs:
            log.catch_up(ends[log.at])
        begun = {name: log for name, log in self.beliefs.items() if log.end()}
        if begun:
            if isinstance(inputs, InputReplica):
                inputs.show()
            for name, log in begun.items():
                self._show(name, log)
            self._list(begun)
            self._project(begun)
        if self._erased or (isinstance(inputs, InputReplica) and inputs.logs.erased):
            self._vacuum.note()
            self._erased = False
            if isinstance(inputs, InputReplica):
                inputs.logs.erased = False
        self._vacuum.run()

    def _others_reach(self, inputs: InputReader, end: int) -> bool:
        """Whether the process that keeps the inputs up has come to an offset of the episodic topic, or soon does."""
        for pause in looks(_INPUT_SECONDS):
            reached = inputs.reached()
            if reached is not None and reached.offset >= end:
                return True
            time.sleep(pause)
        return False

    @property
    def is_wanted(self) -> bool:
        """Whether an agent waits for a part of the directory that is kept up here."""
        kept = [self._at.places.root] if isinstance(self._inputs, InputReplica) else []
        kept += [self._at.places.generation(name) for name in self.beliefs]
        is_to_answer = self.replies is not None and is_held(self._at.places.root, RESPONDER)
        return is_to_answer or any(is_held(folder, AGENT) for folder in kept)

    @property
    def erasing(self) -> bool:
        """Whether files may still hold erased content."""
        return self._vacuum.owed

    def _erased_from(self) -> list[ErasedFrom]:
        return [*self._inputs.files(), *self.logs, *self._stores.values()]

    def _project(self, begun: Mapping[str, EventTopic]) -> None:
        catalog = load(self._at.places.root)
        if self._graphs is not None and catalog is not None:
            self._graphs.follow([self._inputs.episodic, *begun.values()], catalog.active)

    def _show(self, generation: str, log: EventTopic) -> None:
        store = self._stores.get(generation)
        if store is None:
            store = following_store(log, self._at.places.graph(generation))
            self._stores[generation] = self._opened_generations[generation].enter_context(store)
        else:
            catch_up(log, store)

    def _list(self, begun: Mapping[str, EventTopic]) -> None:
        """Add the generations that have begun to the catalogue; in a new one the first of them answers."""
        catalog = load(self._at.places.root)
        there = {info.name for info in catalog.generations} if catalog else set()
        new = [_described(name, log.at, _first_events(log)) for name, log in begun.items() if name not in there]
        if new:
            list_generations(self._at.places, new)

    def _catalog(self) -> tuple[GenerationInfo, ...]:
        catalog = load(self._at.places.root)
        return catalog.generations if catalog else ()

    def close(self) -> None:
        """Let others have the directory."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def list_generations(places: DirectoryLayout, new: Sequence[GenerationInfo]) -> Catalog:
    """Add generations to the catalogue of a directory, which several processes may do; in a new one the first answers.

    Those that were dropped are not added. Return the catalogue.
    """
    make_folder(places.root)
    with locked_folder(places.root):
        catalog = load(places.root)
        if catalog is None:
            first = min(new, key=lambda info: info.name != FIRST)
            catalog = Catalog(first.name, ())
            new = [first, *(info for info in new if info is not first)]
        there = {*catalog.dropped, *(info.name for info in catalog.generations)}
        for info in new:
            if info.name not in there:
                catalog = catalog.with_(info)
        save(places.root, catalog)
    return catalog


def adopt_generation(
    places: DirectoryLayout, client: Client, topics: Topics, partition: int, name: str = FIRST
) -> GenerationInfo | None:
    """List the generation that a semantic topic begins with, if the directory lists none of the name yet; return it.

    A worker goes on under the ontology and the extractor that it was begun with, whatever this version's are. None: the
    topic holds nothing.
    """
    catalog = load(places.root)
    listed = next((info for info in catalog.generations if info.name == name), None) if catalog else None
    if listed is not None:
        return listed
    at = PartitionId(topics.semantic(name), partition)
    fence = Fence(str(at))
    end = client.end(*at) if client.partitions(at.topic) else 0
    with closing(client.read(*at, 0, end)) as read:
        first = next((batch for found in read for raw in found if (batch := fence.pass_through(raw))), None)
    if first is None:
        return None
    info = _described(name, at, [decode(sent.type, sent.version, sent.payload) for sent in first])
    list_generations(places, [info])
    return info


def begin_catalog(
    places: DirectoryLayout, settings: Settings, client: Client, topics: Topics, partition: int
) -> GenerationInfo:
    """Return the generation that a memory begins with, and list it: as its topic says, or else as the settings do."""
    first = adopt_generation(places, client, topics, partition)
    if first is None:
        with closing(extractor_factory(settings)) as extractors:
            first = first_generation(settings, extractors, load_ontology(settings.ontology))
        list_generations(places, [first])
    return first


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
