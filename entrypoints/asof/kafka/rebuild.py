"""A rebuild on Kafka: one more believer, from the first episode on, while others go on; then it may answer.

The build writes to a topic of its own, so it can be killed at any moment, and the same command goes on with it. Its
directory may be that of a worker, whose copy of the episodes it reads, or one of its own.
"""

import asyncio
import time
from contextlib import closing
from typing import Final

from asof.kafka.believer import BelieverPartition, believers_group
from asof.kafka.control import apply, open_control
from asof.runtime.generations import keep_ontology
from asof.runtime.graph_database import graphs_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import parts, places_of
from asof.runtime.wiring import Progress, connection_of, existing
from asof.settings import Settings
from asof_ontologies.model import Ontology
from asof_projections.control import ControlState
from asof_projections.generations import FIRST, GenerationInfo
from asof_projections.model.prices import ModelBudget
from asof_streams.control import GenerationBuilt, GenerationDropped, GenerationSwitched
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event
from asof_streams.kafka.client import Client
from asof_streams.kafka.topics import Topics, create, delete_generation
from asof_streams.sqlite_log import SqliteLog

_PATIENCE: Final = 5.0  # seconds for a believer that follows, to come to where the log ended when it was asked
_POLL_SECONDS: Final = 0.05


def rebuild(
    settings: Settings, info: GenerationInfo, ontology: Ontology, progress: Progress | None, budget: ModelBudget
) -> None:
    """Build a generation from the episodic topic up to its present end, and have the workers follow for it then.

    One that is built already is left as it is. WriterBusy: a worker follows for one that is not. InvalidInput: a
    generation of this name was dropped. BuildStopped: the budget is spent.
    """
    connection, topics = connection_of(settings), Topics(settings.kafka_prefix)
    with open_control(settings) as control:
        state = control.catch_up()
    if info.name in state.dropped:
        raise InvalidInput(f"a generation {info.name} was dropped: choose another name", "name")
    if info.name in state.built:  # workers follow for it
        return
    asyncio.run(create(connection, topics, [info.name], control=True))
    with Client(connection) as client:
        count = client.partitions(topics.episodic)
        ends = [client.end(topics.episodic, partition) for partition in range(count)]
    done = 0
    for partition, end in enumerate(ends):
        there = places_of(DirectoryLayout(settings.data), partition, count)
        keep_ontology(ontology, there.ontology_of(info.name))
        opened = BelieverPartition(there, settings, connection, topics, partition, info.name, info=info, budget=budget)
        with closing(opened) as believer:
            while believer.offset < end:
                believer.ingest([])
                if progress:
                    progress(done + min(believer.offset, end), sum(ends))
        done += end
    built = GenerationBuilt(generation=info.name, build=info.build)
    with open_control(settings) as control:
        control.decide(lambda state: None if info.name in state.built else built)


def switch(settings: Settings, name: str) -> None:
    """Let another generation answer, for every reader of the topics.

    InvalidInput: it is behind the episodes here, since no believer follows for it. NotFound: there is none of the name.
    """
    directories = parts(settings.data)
    for places in directories:
        _expect_caught_up(places, name)
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
    directories, topics = parts(settings.data), Topics(settings.kafka_prefix)
    connection = connection_of(settings)
    if name == FIRST:
        raise InvalidInput(f"{name} is the generation that says how messages are read: it stays", "name")
    catalog = existing(directories[0])
    if name not in catalog.dropped:
        catalog.without(name)
    asyncio.run(create(connection, topics, [], control=True))

    def decision(state: ControlState) -> Event | None:
        if state.active == name:
            raise InvalidInput(f"{name} is the active generation: switch to another one first", "name")
        return None if name in state.dropped else GenerationDropped(generation=name)

    with open_control(settings) as control:
        control.decide(decision)
        apply(control.state, directories)
        asyncio.run(delete_generation(connection, topics, name, believers_group(topics, name)))
        apply(control.state, directories)  # a believer that was here has let go of its folder
    for places in directories:
        graphs = graphs_of(settings, places)
        if graphs is not None:
            with closing(graphs):
                graphs.drop(f"semantic.{name}")


def _expect_caught_up(places: DirectoryLayout, name: str) -> None:
    info, until = existing(places)[name], time.monotonic() + _PATIENCE
    with SqliteLog(places.episodic) as episodic:
        end = episodic.end()
    with SqliteLog(places.semantic(info.name)) as log:
        while (behind := end - log.checkpoint()) > 0:
            if time.monotonic() > until:
                raise InvalidInput(
                    f"generation {name} is {behind} episodic events behind: start asof worker --agents believer "
                    f"--generation {name}, which follows for it, then switch",
                    field="name",
                )
            time.sleep(_POLL_SECONDS)
