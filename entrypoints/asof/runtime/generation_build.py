"""A build of a generation beside the others, and beside whoever writes the directory.

It reads the episodic log as far as that is visible, and writes in the folder of its generation alone, under a lock of
its own. Once it has caught up, the generation is said to be built, which lists it; from then on whoever writes the
directory follows for it. No message is left out in between: what became visible before it was listed is read here,
and what became visible after that is seen by a writer that sees the new catalogue, too. One of the two takes the lock
last, and goes on from where the other stopped.
"""

import logging
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from pathlib import Path
from typing import cast

from asof.runtime.build_file import BuildFile, name_taken
from asof.runtime.control_log import decide
from asof.runtime.distant_graph import DistantGraph, distant_graph
from asof.runtime.extractors import ExtractorFactory
from asof.runtime.generations import EpisodicRecords, follow
from asof.runtime.graph_process import start_process
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_generations import LoneGeneration, OpenGenerations
from asof.runtime.processes import SeldomCollections
from asof.runtime.read_ahead import ReadAhead
from asof.runtime.recorded_answers import build_replies, open_answers
from asof.runtime.replica_manifest import expect_no_copy
from asof.runtime.wiring import OpenStore, Progress, following_store, writable_log
from asof_agents.extraction.llm.journal import Journal
from asof_agents.meter import UNMETERED
from asof_ontologies.model import Ontology
from asof_projections.generations import Catalog, GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.prices import ModelBudget
from asof_projections.projector import BATCH, place_beside, replacing
from asof_streams.control import GenerationBuilt
from asof_streams.errors import BuildStopped, StorageFailed, WriterBusy
from asof_streams.events import Event
from asof_streams.sqlite_log import SqliteLog

_log = logging.getLogger(__name__)

IN_BULK = BATCH  # records that are left to read, above which the graph is filled in bulk


def build(
    places: DirectoryLayout,
    extractors: ExtractorFactory,
    info: GenerationInfo,
    ontology: Ontology,
    progress: Progress | None,
    budget: ModelBudget,
    *,
    is_asked: bool = True,
) -> None:
    """Build a generation, and list it once it has caught up.

    One of the same kind that stopped is gone on with: what it derived, and what a model answered, was kept.
    InvalidInput: the name is taken, it was begun by what derives otherwise, or the directory is a copy of topics.
    WriterBusy: another process builds it.
    is_asked: whether it is asked for now, so that no earlier request to stop holds.
    BuildStopped: another process asked for it, an erasure removed it, or the budget is spent, with what was spent on
    it before.
    """
    expect_no_copy(places.root)
    extractors.check_budget(budget)
    extractors.expect(info, ontology)
    file = BuildFile(places, info)
    work = _Build(places, extractors, info, file, progress, budget)
    with file.begun(ontology, is_asked=is_asked), SeldomCollections():
        work.follow()
        decide(places, work.built)
        work.follow()
    with suppress(WriterBusy):  # whoever writes the directory takes it over
        while work.is_behind():
            with file.running():
                if file.is_there():
                    work.follow()
    file.remove()


class _Build:
    def __init__(
        self,
        places: DirectoryLayout,
        extractors: ExtractorFactory,
        info: GenerationInfo,
        file: BuildFile,
        progress: Progress | None,
        budget: ModelBudget,
    ) -> None:
        self._places = places
        self._extractors = extractors
        self._info = info
        self._file = file
        self._progress = progress
        self._budget = budget
        self._graph: DistantGraph | None = None  # what is built in bulk by way of another process
        self._is_alone = False  # after such a process has ended

    def follow(self) -> None:
        """Bring the generation up to the messages that are visible."""
        while not self._followed():
            pass

    def _followed(self) -> bool:
        """Return False where the process beside this one has ended: this one goes on alone from what it has kept."""
        try:
            self._follow()
        except (StorageFailed, FileNotFoundError) as error:
            if not self._file.is_there():
                raise self._file.stopped() from None
            if self._graph is None or not self._graph.is_lost:
                raise
            _log.warning("%s; the build goes on without it", error)
            self._is_alone = True
            return False
        return True

    def _follow(self) -> None:
        places, name, self._graph = self._places, self._info.name, None
        with ExitStack() as opened:
            episodic = opened.enter_context(SqliteLog(places.episodic))
            own = places.graph(name)
            stores = [store for store in open_answers(opened, places) if store.path != own]
            logs = LoneGeneration(places, Catalog(name, (self._info,)), episodic, self._extractors, writable_log)
            generations = OpenGenerations(logs, stores[0], stores[1:])
            opened.callback(generations.close)
            generation = generations.open(self._info, self._store_opener(opened, episodic, generations.journal))
            source: EpisodicRecords = episodic
            if self._graph is not None:
                generation.layer = self._graph.layer
                source = opened.enter_context(closing(ReadAhead(episodic)))
            generation.meter, journal = UNMETERED, generations.journal  # nobody asks for a report of what is built
            if journal is not None:
                opened.enter_context(journal.budget.of_build(self._budget, build_replies([places], name)))
            while generation.layer.checkpoint < (end := _visible(episodic, stores[0])):
                told = self._file.progress(generation.layer.checkpoint, end, self._progress)
                try:
                    whole = follow(generation, source, stores[0], end, told, journal, self._file.is_to_stop)
                except BuildStopped:
                    self._file.pause()
                    raise
                if not whole:
                    raise self._file.stopped()
            generation.layer.settle()

    def _store_opener(self, opened: ExitStack, episodic: SqliteLog, journal: Journal | None) -> OpenStore:
        """Return what opens the graph: one that is filled in bulk until `opened` ends, for a long build at its start.

        A build that stops leaves no such graph, and makes it again from its log: sooner than a model answers, so none
        is filled in bulk for one that a model answers.
        """

        def load(log: SqliteLog, path: Path) -> AbstractContextManager[SqliteGraph]:
            if journal is not None or path.exists() or episodic.end() - log.checkpoint() <= IN_BULK:
                return following_store(log, path)
            process = None if self._is_alone else start_process(log, place_beside(path))
            if process is None:
                store = opened.enter_context(replacing(log, path))
                store.answer_handlers()
                return nullcontext(store)
            self._graph = opened.enter_context(distant_graph(process, log, path, opened))
            return nullcontext(cast("SqliteGraph", self._graph))

        return load

    def built(self, catalog: Catalog) -> Event | None:
        """Return the decision that the generation is built. BuildStopped: an erasure removed it meanwhile."""
        if not self._file.is_there():
            raise self._file.stopped()
        if any(info.name == self._info.name for info in catalog.generations):
            raise name_taken(self._info.name)
        return GenerationBuilt(generation=self._info.name, build=self._info.build)

    def is_behind(self) -> bool:
        """Whether messages are visible that the generation has not, and nobody has taken it over."""
        if not self._file.is_there():
            return False
        with SqliteLog(self._places.episodic) as episodic, SqliteLog(self._places.semantic(self._info.name)) as log:
            return log.checkpoint() < episodic.end()


def _visible(episodic: SqliteLog, episodes: SqliteGraph) -> int:
    """Return the position up to which a writer has committed both the episodic log and its graph."""
    return min(episodic.end(), episodes.position())
