"""A rebuild on Kafka: one more believer, from the first episode on, while others go on; then it may answer.

The build writes to a topic of its own, so it can be killed at any moment, and the same command goes on with it. Its
directory may be that of a worker, whose copy of the episodes it reads, or one of its own.
"""

import asyncio
import time
from contextlib import closing
from typing import Final

from asof.kafka.believer import BelieverPartition
from asof.runtime.generations import keep_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import parts, places_of
from asof.runtime.wiring import Progress, connection_of
from asof.settings import Settings
from asof_ontologies.model import Ontology
from asof_projections.generations import Catalog, GenerationInfo, load, save
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.files import locked_folder
from asof_streams.kafka.client import Client
from asof_streams.kafka.topics import Topics, create
from asof_streams.sqlite_log import SqliteLog

_PATIENCE: Final = 5.0  # seconds for a believer that follows, to come to where the log ended when it was asked
_POLL_SECONDS: Final = 0.05


def rebuild(settings: Settings, info: GenerationInfo, ontology: Ontology, progress: Progress | None) -> None:
    """Build a generation from the episodic topic up to its present end. WriterBusy: a worker's believer follows it."""
    connection, topics = connection_of(settings), Topics(settings.kafka_prefix)
    asyncio.run(create(connection, topics, [info.name]))
    with Client(connection) as client:
        count = client.partitions(topics.episodic)
        ends = [client.end(topics.episodic, partition) for partition in range(count)]
    done = 0
    for partition, end in enumerate(ends):
        there = places_of(DirectoryLayout(settings.data), partition, count)
        keep_ontology(ontology, there.ontology_of(info.name))
        opened = BelieverPartition(there, settings, connection, topics, partition, info.name, info=info)
        with closing(opened) as believer:
            while believer.offset < end:
                believer.ingest([])
                if progress:
                    progress(done + min(believer.offset, end), sum(ends))
        done += end


def switch(settings: Settings, name: str) -> Catalog:
    """Let another generation answer from this directory; return its catalogue.

    InvalidInput: it is behind the episodes, since no believer follows for it. NotFound: there is none of this name.
    """
    catalog: Catalog | None = None
    for places in parts(settings.data):
        _expect_caught_up(places, name)
        with locked_folder(places.root):
            found = load(places.root)
            assert found is not None, "it has the generation"
            catalog = found.switched(name)
            save(places.root, catalog)
    assert catalog is not None, "a directory has a part"
    return catalog


def _expect_caught_up(places: DirectoryLayout, name: str) -> None:
    catalog = load(places.root)
    if catalog is None:
        raise NotFound(f"{places.root} lists no generation: a worker or a projector fills it")
    info, until = catalog[name], time.monotonic() + _PATIENCE
    with SqliteLog(places.episodic) as episodic:
        end = episodic.end()
    with SqliteLog(places.semantic(info.name)) as log:
        while (behind := end - log.checkpoint()) > 0:
            if time.monotonic() > until:
                raise InvalidInput(
                    f"generation {name} is {behind} episodic events behind: start asof worker --agents believer "
                    f"--generation {name}, which follows for it, then switch"
                )
            time.sleep(_POLL_SECONDS)
