"""A rebuild on Kafka: one more believer, from the first episode on, while others go on; then it may answer.

The build writes to a topic of its own, so it can be killed at any moment, and the same command goes on with it. Its
directory may be that of a worker, whose copy of the episodes it reads, or one of its own.
"""

import asyncio
import shutil
from contextlib import closing

from asof.kafka.believer import BelieverPartition
from asof.kafka.control import apply, open_control
from asof.runtime.belief_writer import BuildTerms
from asof.runtime.build_file import BuildFile, remove_file, stop_build
from asof.runtime.control_log import expect_caught_up
from asof.runtime.extractors import extractor_factory
from asof.runtime.graph_database import graphs_of
from asof.runtime.kept_ontologies import keep_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import parts, places_of
from asof.runtime.wiring import Progress, connection_of, existing
from asof.settings import Settings
from asof_ontologies.model import Ontology
from asof_projections.control import ControlState
from asof_projections.generations import FIRST, GenerationInfo
from asof_projections.model.prices import ModelBudget
from asof_streams.control import GenerationBuilt, GenerationDropped, GenerationSwitched
from asof_streams.errors import BuildStopped, InvalidInput, NotFound
from asof_streams.events import Event
from asof_streams.kafka.client import Client
from asof_streams.kafka.topics import Topics, create, delete_generation


def rebuild(
    settings: Settings,
    info: GenerationInfo,
    ontology: Ontology,
    progress: Progress | None,
    budget: ModelBudget,
    *,
    is_asked: bool = True,
) -> None:
    """Build a generation from the episodic topic up to its present end, and have the workers follow for it then.

    One that is built already is left as it is. is_asked: whether it is asked for now, so that no earlier request to
    stop holds. WriterBusy: another process builds it, or a worker follows for it already. InvalidInput: a generation
    of this name was dropped. BuildStopped: another process asked for it, or the budget is spent.
    """
    with closing(extractor_factory(settings)) as extractors:
        extractors.check_budget(budget)
        extractors.expect(info, ontology)
    with open_control(settings) as control:
        state = control.catch_up()
    if info.name in state.dropped:
        raise InvalidInput(f"a generation {info.name} was dropped: choose another name", "name")
    file = BuildFile(DirectoryLayout(settings.data), info)
    with file.begun(ontology, is_asked=is_asked):
        if info.name not in state.built:  # workers follow for one that is
            _Build(settings, info, file, progress, budget).run(ontology)
            built = GenerationBuilt(generation=info.name, build=info.build)
            with open_control(settings) as control:
                control.decide(lambda state: None if info.name in state.built else built)
        file.remove()


class _Build:
    """A believer of a new generation that follows each partition up to where its topic ended when it began."""

    def __init__(
        self, settings: Settings, info: GenerationInfo, file: BuildFile, progress: Progress | None, budget: ModelBudget
    ) -> None:
        self._settings = settings
        self._info = info
        self._file = file
        self._progress = progress
        self._terms = BuildTerms(budget, self._go_on, self._reached)
        self._before = self._position = 0  # events read of the partitions before this one, and of this one
        self._behind = 0  # events of the partitions behind, at most
        self._began = 0
        self._tell: Progress | None = None  # how far it is from there on

    def run(self, ontology: Ontology) -> None:
        try:
            self._run(ontology)
        except BuildStopped:
            if not self._file.is_to_stop():
                self._file.pause()
            raise

    def _run(self, ontology: Ontology) -> None:
        settings, name = self._settings, self._info.name
        connection, topics = connection_of(settings), Topics(settings.kafka_prefix)
        asyncio.run(create(connection, topics, [name], control=True))
        with Client(connection) as client:
            count = client.partitions(topics.episodic)
            ends = [client.end(topics.episodic, partition) for partition in range(count)]
        for partition, end in enumerate(ends):
            there = places_of(DirectoryLayout(settings.data), partition, count)
            keep_ontology(ontology, there.ontology_of(name))
            self._before, self._position = self._before + self._position, 0
            self._behind = sum(ends[partition + 1 :])
            at = there, settings, connection, topics, partition, name
            with closing(BelieverPartition(*at, info=self._info, build=self._terms)) as believer:
                while believer.offset < end:
                    self._go_on()
                    believer.ingest([])

    def _go_on(self) -> None:
        if self._file.is_to_stop():
            raise self._file.stopped()

    def _reached(self, position: int, stop: int) -> None:
        self._position = position
        done, total = self._before + position, self._before + stop + self._behind
        if self._tell is None:
            self._began, self._tell = done, self._file.progress(done, total, self._progress)
        self._tell(done - self._began, total - self._began)


def cancel(settings: Settings, name: str) -> None:
    """Stop a build, and drop what there is of its generation. NotFound: none of the name is under way."""
    stop_build(DirectoryLayout(settings.data), name, "cancelled")
    _drop(settings, name)


def switch(settings: Settings, name: str) -> None:
    """Let another generation answer, for every reader of the topics.

    InvalidInput: it is behind the episodes here, since no believer follows for it. NotFound: there is none of the name.
    """
    directories = parts(settings.data)
    for places in directories:
        remedy = f"start asof worker --agents believer --generation {name}, which follows for it, then switch"
        expect_caught_up(places, existing(places)[name].name, remedy)
    asyncio.run(create(connection_of(settings), Topics(settings.kafka_prefix), [name], control=True))

    def decision(state: ControlState) -> Event | None:
        if name in state.dropped:
            raise NotFound(f"generation {name} was dropped")
        return None if state.active == name else GenerationSwitched(generation=name)

    with open_control(settings) as control:
        control.decide(decision)
        apply(control.state, directories)


def drop(settings: Settings, name: str) -> None:
    """Drop a generation that does not answer: its topic, and its files in every directory.

    Asked again after a failure it goes on. InvalidInput: it answers, or it is the first. NotFound: there is none of
    this name.
    """
    if name == FIRST:
        raise InvalidInput(f"{name} is the generation that says how messages are read: it stays", "name")
    catalog = existing(parts(settings.data)[0])
    if name not in catalog.dropped:
        catalog.without(name)
    _drop(settings, name)


def _drop(settings: Settings, name: str) -> None:
    directories, topics = parts(settings.data), Topics(settings.kafka_prefix)
    connection = connection_of(settings)
    asyncio.run(create(connection, topics, [], control=True))

    def decision(state: ControlState) -> Event | None:
        if state.active == name:
            raise InvalidInput(f"{name} is the active generation: switch to another one first", "name")
        return None if name in state.dropped else GenerationDropped(generation=name)

    with open_control(settings) as control:
        control.decide(decision)
        apply(control.state, directories)
        asyncio.run(delete_generation(connection, topics, name, topics.believers(name)))
        apply(control.state, directories)  # a believer that was here has let go of its folder
    for places in directories:
        graphs = graphs_of(settings, places)
        if graphs is not None:
            with closing(graphs):
                graphs.drop(f"semantic.{name}")
    whole = DirectoryLayout(settings.data)
    remove_file(whole, name)
    if whole not in directories:  # what is built is in the folders of its partitions, which `apply` removes
        shutil.rmtree(whole.generation(name), ignore_errors=True)
