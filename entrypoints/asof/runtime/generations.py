"""A generation opened for writing: made where there is none, brought up to the episodic log, with what builds it."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Final, Protocol

from asof.runtime.extractors import ExtractorFactory
from asof.runtime.kept_ontologies import keep_ontology, kept_ontology, ontology_begun_with, ontology_names
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import OpenLog, Progress, load_ontology, writable_log
from asof.settings import Settings
from asof_agents.consolidation.cycle import Watch, consolidator_of
from asof_agents.engine import ingest_batch
from asof_agents.extraction.llm.journal import Journal
from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import Ontologies
from asof_agents.generation import Generation
from asof_agents.handlers.statement_writer import Build
from asof_agents.layer import Layer, batch_of, group_batches
from asof_agents.ports import EpisodeView
from asof_agents.prefetcher import prefetch_batches
from asof_ontologies import registry
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import BuildStopped, ContractError, DamagedLog
from asof_streams.events import Draft, Event, Record
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.semantic import ConsolidationConfigured, GenerationStarted, IngestionConfigured, RelationDeclared
from asof_streams.sqlite_log import SqliteLog

FLUSH_EVERY = 10_000  # messages: few enough to hold in memory; ids are random, so a commit touches many pages

LOOK_EVERY: Final = 16  # messages; to ask whether a build is to stop looks for a file

FLUSH_ASKED = 20  # messages that a model reads: an answer that a crash takes is paid for again


class EpisodicRecords(Protocol):
    """The records of an episodic log, for who follows it."""

    def read(self, start: int, stop: int) -> Iterator[Record]:
        """Yield the records of [start, stop), as an EventLog does."""
        ...


def open_semantic(
    places: DirectoryLayout, info: GenerationInfo, episodic: SqliteLog, open_log: OpenLog = writable_log
) -> SqliteLog:
    """Open a generation's log for writing; a new one gets its first events.

    One that is older than an erasure of a part of a group, as in a backup, is made anew: no graph follows from it.
    """
    path = places.semantic(info.name)
    log = open_log(path)
    if type(log) is SqliteLog and not places.graph(info.name).exists() and log.has_holes():
        log.close()
        path.unlink()
        log = open_log(path)
    try:
        check_order(episodic, log)
        if log.end() == 0:
            _start(log, info, kept_ontology(places.ontology_of(info.name)))
        _check_build(log, info)
    except BaseException:
        log.close()
        raise
    return log


def _check_build(log: SqliteLog, info: GenerationInfo) -> None:
    """Refuse to go on with a log in another way than it was begun: its ids would not be those of a rebuild."""
    started = next(log.read(0, 1)).event
    if not isinstance(started, GenerationStarted) or (started.build, started.rule) != (info.build, info.rule):
        raise ContractError(
            f"{log.path} was begun with another ontology, extractor, embedder or policy than generation {info.name} "
            "has here: start with the settings that it was begun with, or let it be rebuilt as a generation of "
            "another name"
        )


def build_of(places: DirectoryLayout, info: GenerationInfo, settings: Settings) -> Build:
    """Return the builder of a generation for structured facts alone: they name no ontology of their own.

    InvalidInput: the generation's ontology was not kept, as in a copy of topics, and the one that is set is another.
    """
    path = places.ontology_of(info.name)
    ontology = (
        kept_ontology(path) if path.exists() else ontology_begun_with(load_ontology(settings.ontology), info, path)
    )
    return Build(info.build, ontology, info.policy, ingestion=info.ingestion or IngestionConfig(), rule=info.rule)


def generation_of(
    places: DirectoryLayout,
    info: GenerationInfo,
    log: SqliteLog,
    store: SqliteGraph,
    episodic: SqliteLog,
    extractors: ExtractorFactory,
    answers: Answers | None = None,
    watch: Watch = nullcontext,
) -> Generation:
    """Return a generation that writes to this log and this store, derived from an episodic log.

    watch: measures the phases of consolidation. InvalidInput: what the generation names is not installed.
    """
    ontology = kept_ontology(places.ontology_of(info.name))
    ontologies = ontologies_of(places)
    registry = extractors.registry_of(info, ontology, ontologies)
    build = Build(info.build, ontology, info.policy, ontologies, info.ingestion or IngestionConfig(), info.rule)
    judge = extractors.judge(info, answers, places, store)
    recorded = partial(batch_of, episodic)
    return Generation(
        Layer(log, store), store, build, recorded, registry, answers, judge, consolidator_of(info.consolidation, watch)
    )


def follow(
    generation: Generation,
    episodic: EpisodicRecords,
    episodes: EpisodeView,
    stop: int,
    progress: Progress | None = None,
    journal: Journal | None = None,
    is_to_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Read the episodic log up to `stop` into a generation that is behind it; return whether it came so far.

    is_to_stop: asked after each message, or after every few where no model is asked; where it says so, what was read is
    kept, and False returned. BuildStopped: the budget of the journal is spent; what was read before is kept.
    """
    layer = generation.layer
    start = layer.checkpoint
    found = group_batches(episodic.read(start, stop))
    every = FLUSH_EVERY if generation.judge is None else FLUSH_ASKED
    looks = 1 if journal is not None else LOOK_EVERY
    if journal is not None and generation.extractors is not None:
        found = prefetch_batches(found, generation, episodes, journal)

    def keep() -> None:
        layer.flush()
        if journal is not None:
            journal.discard_recorded()
        if progress:
            progress(layer.checkpoint - start, stop - start)

    for number, batch in enumerate(found, 1):
        try:
            ingest_batch(generation, batch, episodes)
        except BuildStopped:
            keep()
            raise
        stopping = number % looks == 0 and is_to_stop()
        if stopping or number % every == 0:
            keep()
        if stopping:
            return False
    layer.checkpoint = max(layer.checkpoint, stop)
    keep()
    return True


def check_order(before: SqliteLog, after: SqliteLog) -> None:
    """Refuse a log that was cut short, or restored from an older copy: the logs derived from it are ahead."""
    if after.checkpoint() > before.end():
        raise DamagedLog(
            f"{before.path} ends at position {before.end()}, yet {after.name} was made from it up to "
            f"{after.checkpoint()}: the end of {before.name} is lost; restore it from a newer copy"
        )


def ontologies_of(places: DirectoryLayout, own: Ontology | None = None) -> Ontologies:
    """Return the ontologies that messages may name; one that is used is written down, as the memory's own is."""

    def find(name: str) -> Ontology | None:
        path = places.named_ontology(name)
        if not path.exists():
            if name not in registry.names():
                return None
            keep_ontology(load_ontology(name), path)
        return kept_ontology(path)

    return Ontologies(own or kept_ontology(places.ontology), ontology_names(places), find)


def _start(log: SqliteLog, info: GenerationInfo, ontology: Ontology) -> None:
    """Write a generation's first events. They have no group and no moment: a build is the same whenever it is made."""
    started = GenerationStarted(
        build=info.build,
        ontology=ontology.id,
        ontology_digest=info.ontology_digest,
        extractor=info.extractor,
        policy=info.policy,
        source=info.input,
        rule=info.rule,
    )
    chosen: list[Event] = []
    if info.consolidation is not None:
        chosen.append(ConsolidationConfigured(config=info.consolidation))
    if info.ingestion is not None:
        chosen.append(IngestionConfigured(config=info.ingestion))
    contradicts = info.ingestion is None or info.ingestion.enable_contradiction_detection
    declared = [
        RelationDeclared(relation=r.name, cardinality=r.cardinality)
        for r in ontology.relation_types
        if contradicts and r.cardinality == "one"
    ]
    events = [started, *chosen, *declared]
    log.append([Draft("", 0, -1, i, len(events), event) for i, event in enumerate(events)], checkpoint=0)
