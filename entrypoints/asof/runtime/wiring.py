"""Chooses adapters: names and places become logs and stores."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from asof.runtime.graph_database import address_of, open_graph
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.settings import Settings
from asof_ontologies import registry
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import Ontology
from asof_ontologies.registry import OntologyFile
from asof_projections.generations import Catalog, GenerationInfo, build_digest, load
from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.ports import BeliefStore
from asof_projections.projector import open_following
from asof_projections.queries.temporal import TemporalQueries
from asof_projections.versions import RULE
from asof_streams.consolidation_config import ConsolidationConfig
from asof_streams.errors import EmptyMemory, InvalidInput
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.kafka.connection import Connection
from asof_streams.sqlite_log import SqliteLog

Progress = Callable[[int, int], None]
"""Called with (done, total) during long work."""

Policy = Literal["recency", "graded"]
Input = Literal["mentions", "episodes"]


def settings_of(directory: Path, settings: Settings) -> Settings:
    """Return settings for another directory that has all of its memory, whichever servers this one's is on."""
    return settings.model_copy(update={"data": directory, "graph": "sqlite", "kafka": None})


def load_ontology(name: str) -> Ontology:
    """Return an ontology by name or file. InvalidInput, of the field `ontology`, names the fault and its place."""
    try:
        return registry.load(name)
    except OntologyError as error:
        raise InvalidInput(error.reason, "ontology") from None


def read_ontology_file(name: str) -> OntologyFile:
    """Return the file of an ontology with all that is wrong in it. InvalidInput: there is no such file."""
    try:
        return registry.read_file(name)
    except OntologyError as error:
        raise InvalidInput(error.reason, error.field) from None


def connection_of(settings: Settings) -> Connection:
    """Return the connection to Kafka. InvalidInput: there is no address, or settings contradict others."""
    if settings.kafka is None:
        raise InvalidInput("which Kafka? Give --kafka HOST:PORT, or set ASOF_KAFKA", "kafka")
    return Connection(
        settings.kafka,
        settings.kafka_security_protocol,
        settings.kafka_sasl_mechanism,
        settings.kafka_sasl_username,
        settings.kafka_sasl_password,
        settings.kafka_ssl_cafile,
        settings.kafka_ssl_certfile,
        settings.kafka_ssl_keyfile,
    )


def describe(
    name: str,
    ontology: Ontology,
    policy: Policy,
    built_from: Input,
    extractor: str,
    consolidation: ConsolidationConfig | None = None,
    ingestion: IngestionConfig | None = None,
) -> GenerationInfo:
    """Return the inputs that decide a generation's content: equal builds of one input give equal digests and ids.

    A consolidation or an ingestion by the defaults is none that a generation names.
    """
    consolidation = None if consolidation == ConsolidationConfig() else consolidation
    ingestion = None if ingestion == IngestionConfig() else ingestion
    chosen = [one for one in (consolidation, ingestion) if one is not None]
    build = build_digest(ontology.digest, extractor, policy, chosen)
    return GenerationInfo(
        name, ontology.id, ontology.digest, extractor, policy, built_from, build, consolidation, ingestion, RULE
    )


def existing(places: DirectoryLayout) -> Catalog:
    """Return the catalogue of a directory to read from."""
    catalog = load(places.root)
    if catalog is None and is_copy(places.root):
        raise EmptyMemory(f"{places.root}: no worker has made anything of the messages yet; asof worker does")
    if catalog is None:
        raise EmptyMemory(f"{places.root} holds no memory yet: asof add, produce or import makes one")
    return catalog


@dataclass(frozen=True, slots=True)
class Opened:
    """One generation opened for reading; no lock is held."""

    generation: str
    beliefs: BeliefStore  # in the directory, or in the graph database of the settings
    episodes: EpisodeReader
    questions: TemporalQueries

    def close(self) -> None:
        """Close its files."""
        self.beliefs.close()
        self.episodes.close()


def open_reader(places: DirectoryLayout, settings: Settings, generation: str | None = None) -> Opened:
    """Open a generation (the one that answers, unless named) for reading."""
    catalog = existing(places)
    name = catalog[generation].name if generation else catalog.active
    address = address_of(settings, places)
    log = f"semantic.{name}"
    beliefs: BeliefStore = open_graph(address, log) if address else SqliteGraph(places.graph(name), log)
    try:
        episodes = EpisodeReader(places.episodes, beliefs.checkpoint)
    except BaseException:
        beliefs.close()
        raise
    return Opened(name, beliefs, episodes, TemporalQueries(beliefs, episodes))


def open_log(places: DirectoryLayout, log: str, generation: str | None = None) -> SqliteLog:
    """Open a log for reading; of semantic logs that of a generation, or of the one that answers."""
    match log:
        case "messages":
            return SqliteLog(places.messages)
        case "episodic":
            return SqliteLog(places.episodic)
        case "conversation":
            return SqliteLog(places.conversation)
        case _:
            catalog = existing(places)
            return SqliteLog(places.semantic(catalog[generation].name if generation else catalog.active))


def used_trees(places: DirectoryLayout) -> Mapping[str, int]:
    """Return how many trees of keys the logs of a directory name, by group. It takes a read of all records."""
    used: dict[str, int] = {}
    for path in (places.messages, places.episodic, places.conversation):
        if path.exists():
            with SqliteLog(path) as log:
                for group, trees in log.trees().items():
                    used[group] = max(used.get(group, 0), trees)
    return used


OpenLog = Callable[[Path], SqliteLog]
"""Opens a log of a data directory for writing, making it where there is none."""


def writable_log(path: Path) -> SqliteLog:
    """Open a log for writing, making it where there is none. What was said to us is durable when acknowledged."""
    return SqliteLog(path, writable=True, durable=path.stem == "messages")


OpenStore = Callable[[SqliteLog, Path], AbstractContextManager[SqliteGraph]]
"""Opens the graph that follows a log, at a path; it is closed in the end."""


def following_store(log: SqliteLog, path: Path) -> SqliteGraph:
    """Open the graph that follows a log, making it anew where it cannot go on."""
    return open_following(log, path)
