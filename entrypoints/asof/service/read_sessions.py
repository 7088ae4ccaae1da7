"""Sessions for questions: one for a data directory, or on Kafka one for each partition, caught up with the topics."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from asof.runtime.layout import DirectoryLayout
from asof.runtime.recovery import process_backlog
from asof.runtime.replica_manifest import parts
from asof.runtime.wiring import Opened, Progress, existing, open_log, open_reader
from asof.service.topic_catch_up import TopicCatchUp
from asof.settings import Settings
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import EntityRow, Moment
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.files import stamp
from asof_streams.instants import INF, NEG
from asof_streams.messages import ConsolidationRequest, FactStatement
from asof_streams.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from asof.runtime.prepared_vectors import PreparedVectors
    from asof.runtime.vector_search import VectorSearch
    from asof_ontologies.model import Ontology
    from asof_projections.model.answers import Hit, Hits, WhatIf
    from asof_projections.model.queries import FactSearchQuery
    from asof_projections.model.rows import ObjectiveRow
    from asof_projections.model.write_answers import Consolidated

T = TypeVar("T")


class ReadSession:
    """One directory, opened for questions without a lock. A switch of generations, by any process, is seen at once."""

    def __init__(self, places: DirectoryLayout, settings: Settings) -> None:
        self.places = places
        self._settings = settings
        self._opened: Opened | None = None
        self._episodic_log: SqliteLog | None = None  # of what is opened, from the first question that needs it on
        self._catalog = str(places.catalog)  # asked after at each question, so kept as the system takes it
        self._stamp: tuple[int, int] | None = None  # of the catalogue that was opened
        self._searching: VectorSearch | None = None
        self._prepared: PreparedVectors | None = None  # until the first search

    def opened(self) -> Opened:
        """Return the generation that answers."""
        if self._opened is None or self._stamp != stamp(self._catalog):
            self.process_backlog()
            self.close()
            self._stamp = stamp(self._catalog)
            self._opened = open_reader(self.places, self._settings)
        return self._opened

    def search(self, query: "FactSearchQuery", at: Moment) -> "Hits[Hit]":
        """Return the best facts and turns of a moment."""
        return self._search().search(query, at)

    def rank(self, query: "FactSearchQuery", at: Moment) -> "Hits[Hit]":
        """Return the best facts of a moment, however improbable, without probabilities."""
        return self._search().rank(query, at)

    def like(self, query: str, known: int, group: str | None, limit: int) -> "Hits[EntityRow]":
        """Return the entities whose names are nearest in meaning."""
        return self._search().like(query, known, group, limit)

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return how similar a text is in meaning to each of some others; none where nothing embeds."""
        return self._search().similarities(text, others)

    def objectives(self, text: str, group: str, known: int, least: float, limit: int) -> "list[ObjectiveRow]":
        """Return the objectives of a group that are like a text in meaning; none where nothing embeds."""
        return self._search().objectives(text, group, known, least, limit)

    def what_if(self, statements: Sequence[FactStatement], now: int) -> "WhatIf":
        """Return the slots that more structured facts would touch, stated now, before and after.

        Handlers ask the directory's own graph, also where questions are answered by a graph database.
        """
        from asof.runtime.generations import build_of
        from asof_agents.dry_run import DryRun

        name = self.opened().generation
        build = build_of(self.places, existing(self.places)[name], self._settings)
        with (
            SqliteLog(self.places.messages) as messages,
            SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs,
            SqliteGraph(self.places.episodes, "episodic") as episodes,
        ):
            return DryRun(beliefs, episodes, build).what_if(messages.preview(statements, clock=now))

    def ontology(self) -> "Ontology":
        """Return the ontology of what is believed. InvalidInput: it was not kept, and another one is set."""
        from asof.runtime.generations import build_of

        info = existing(self.places)[self.opened().generation]
        return build_of(self.places, info, self._settings).ontology

    def consolidation(self, asked: ConsolidationRequest, now: int) -> "Consolidated":
        """Return what a request to consolidate would come to now. InvalidInput: what makes a pass is not installed.

        The directory's own graph is asked, also where questions are answered by a graph database.
        """
        from asof.runtime.generations import build_of
        from asof_agents.consolidation.cycle import consolidator_of
        from asof_agents.consolidation.undo import undo
        from asof_projections.queries.consolidations import consolidated_of

        name = self.opened().generation
        info = existing(self.places)[name]
        is_value = build_of(self.places, info, self._settings).ontology.is_value
        by = consolidator_of(info.consolidation)
        with (
            SqliteLog(self.places.messages) as messages,
            SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs,
        ):
            beliefs.begin_read()
            [request] = messages.preview([asked], clock=now)
            events = undo(request, beliefs) if asked.undo else by.consolidate(request, beliefs, is_value)
            return consolidated_of(None, events, beliefs)

    def consolidated(self, position: int, at: int) -> "Consolidated":
        """Return what a request to consolidate came to, given its position and that in the log here."""
        from asof_agents.layer import batch_of
        from asof_projections.queries.consolidations import consolidated_of

        name = self.opened().generation
        with (
            open_log(self.places, "semantic", name) as log,
            SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs,
        ):
            return consolidated_of(position, [record.event for record in batch_of(log, at)], beliefs)

    def known(self, group: str | None, log: str) -> int:
        """Return when the last record of a group (None: of any) was recorded that the graph of a log has applied.

        `log` is "episodic" or "semantic". NEG: there is none.
        """
        opened = self.opened()
        with open_log(self.places, log, opened.generation) as records:
            if log == "episodic":
                return _known(records, min(opened.episodes.position(), opened.beliefs.checkpoint()), group)
            return _known(records, opened.beliefs.position(), group)

    def reached(self, group: str | None) -> tuple[int, int]:
        """Return the known moment of an answer about a group (None: any) now, and up to which message that is.

        They are the recorded time of the group's last message that is believed, NEG if there is none; and the position
        before which every message is.
        """
        opened = self.opened()
        if self._episodic_log is None:
            self._episodic_log = open_log(self.places, "episodic")
        records, believed = self._episodic_log, opened.beliefs.checkpoint()
        position = records.cause_of(believed) if believed < records.end() else records.checkpoint()
        return _known(records, min(opened.episodes.position(), believed), group), position

    def ids(self, start: str) -> list[str]:
        """Return the ids (of facts, entities, episodes and others) that begin so: two at most of each layer."""
        name = self.opened().generation
        with SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs:
            return [*beliefs.ids(start), *self.opened().episodes.ids(start)]

    def statements_called(self, group: str, start: str) -> list[str]:
        """Return the ids of a group's facts, endings, retractions and links that begin so: two at most.

        None, where a fact of the group has just this from its producer as its ref.
        """
        name = self.opened().generation
        with SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs:
            if beliefs.fact_with_ref(group, start) is not None:
                return []
            return [uuid for uuid in beliefs.ids(start) if _group_of(beliefs, uuid) == group]

    def embed(self, progress: Progress | None) -> int:
        """Make every vector that is missing; return how many there are then."""
        return self._search().embed(progress)

    def keep_up(self, seconds: float, lock: AbstractContextManager[object] | None = None) -> bool:
        """Bring the vectors up for about so long; return whether there is more to do.

        lock: of those who ask this session meanwhile; None: nobody does, and no search waits for vectors from now on.
        """
        with lock or nullcontext():
            search = self._search()
        return search.keep_up(seconds, lock)

    def read_ahead(self, now: int) -> None:
        """Bring up what the last search kept for the next one; there may have been none."""
        group = None if self._searching is None else self._searching.group
        known, _ = (NEG, 0) if group is None else self.reached(group)
        if known > NEG:
            self._search().read_ahead(now, known)

    def _search(self) -> "VectorSearch":
        opened = self.opened()
        if self._searching is None:
            from asof.runtime.vector_search import VectorSearch

            self._searching = VectorSearch(self.places, opened, self._settings, self._prepared)
            self._prepared = None
        return self._searching

    def prepare(self) -> Iterator[None]:
        """Read what a search needs of files, step by step, and open no graph, which a worker may be about to make.

        A search may come between two steps: it finds the same, and takes longer the more of them are left.
        """
        from asof.runtime.prepared_vectors import PreparedVectors

        prepared = self._prepared = PreparedVectors.of(self.places, self._settings)
        yield
        while prepared is not None and prepared.encode_some():
            yield

    @property
    def lacks_vectors(self) -> bool:
        """Whether a search left vectors to be made behind it, and not all of them were made since."""
        return self._searching is not None and self._searching.is_behind

    @property
    def vectors(self) -> int:
        """The number of vectors that a search compares with; 0 before the first."""
        return 0 if self._searching is None else self._searching.vectors

    def process_backlog(self) -> None:
        """Let messages that a crash left unprocessed be processed, where no writer is about to."""
        process_backlog(self.places, self._settings)

    def close(self) -> None:
        """Close the open readers; the next question opens them anew."""
        if self._searching is not None:
            self._searching.close()
            self._searching = None
        if self._episodic_log is not None:
            self._episodic_log.close()
            self._episodic_log = None
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _known(records: SqliteLog, applied: int, group: str | None) -> int:
    """Return when the last record of a group (None: of any) before a position was recorded; NEG: there is none."""
    ahead = (record.recorded_at for record in records.read(applied) if group in (None, record.group))
    last = records.latest() if group is None else records.last_recorded(group)
    return min(next(ahead, INF) - 1, last)  # the records of a group are in the order of their times


def _group_of(beliefs: SqliteGraph, uuid: str) -> str | None:
    """Return the group of a statement or a link."""
    if (statement := beliefs.statement(uuid)) is not None:
        return statement.group_id
    link = beliefs.link(uuid)
    into = link and beliefs.entity(link.into)
    return into.group_id if into else None


class ReadSessions:
    """The directories of a memory. With the setting `kafka` they catch up with the topics before each question."""

    def __init__(self, places: DirectoryLayout, settings: Settings) -> None:
        self._places = places
        self._settings = settings
        self._catch_up = TopicCatchUp(places, settings) if settings.kafka is not None else None
        self._sources: list[ReadSession] = []

    def every(self) -> list[ReadSession]:
        """Return the directories of all partitions."""
        if self._catch_up is not None:
            self._catch_up.run()
        if not self._sources:
            self._sources = [ReadSession(places, self._settings) for places in parts(self._places.root)]
        return self._sources

    def of(self, group: str | None) -> ReadSession:
        """Return the directory where a group is. InvalidInput: there are several, and no group to choose by."""
        sources = self.every()
        if len(sources) == 1:
            return sources[0]
        if group is None:
            raise InvalidInput(
                f"this memory has {len(sources)} partitions, each with groups of its own: say which group (--group)",
                field="group_id",
            )
        from asof_streams.kafka.partitioning import partition_of

        return sources[partition_of(group, len(sources))]

    def among(self, groups: Iterable[str] | None) -> list[ReadSession]:
        """Return the directories where groups are (None: all groups), each once. InvalidInput: as `of` raises it."""
        return list({id(source): source for source in map(self.of, groups or (None,))}.values())

    def partition(self, number: int | None) -> ReadSession:
        """Return the directory of a partition. InvalidInput: there are several, and none is named, or no such one."""
        sources = self.every()
        if number is None and len(sources) > 1:
            reason = f"this memory has {len(sources)} partitions, each with logs of its own: say --partition"
            raise InvalidInput(reason, field="partition")
        if number is not None and number >= len(sources):
            raise InvalidInput(
                f"this memory has no partition {number}: it has {len(sources)}, counted from 0", field="partition"
            )
        return sources[number or 0]

    def find(self, question: Callable[[TemporalQueries], T]) -> T:
        """Ask about something by its id: the answer of whichever partition knows it. NotFound: none does."""
        unknown = NotFound("")
        for source in self.every():
            try:
                return question(source.opened().questions)
            except NotFound as error:
                unknown = error
        raise unknown

    def close(self) -> None:
        """Close the open readers; the next question opens them anew."""
        for source in self._sources:
            source.close()
        if self._catch_up is not None:
            self._catch_up.close()
