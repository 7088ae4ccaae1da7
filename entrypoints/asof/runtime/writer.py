"""Writing to a data directory: recovery, the engine over the logs, and the generations that follow them."""

import logging
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Final

from asof.runtime import control_log
from asof.runtime.bulk_build_state import BuildState, inline_build
from asof.runtime.conversation_log import ConversationFiles, erase_from_conversation
from asof.runtime.erasure import ErasedFrom, Vacuum
from asof.runtime.generation_build import build as build_generation
from asof.runtime.generations import FLUSH_EVERY, ontologies_of
from asof.runtime.graph_database import graphs_of
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_generations import OpenGenerations
from asof.runtime.open_logs import OpenLogs
from asof.runtime.suppression import Suppression
from asof.runtime.traced_watch import Source, ingestion_watch
from asof.runtime.verdicts import Verdicts
from asof.runtime.watchdog import Watchdog
from asof.runtime.wiring import OpenLog, Progress, following_store
from asof.settings import Settings
from asof_agents.engine import Engine
from asof_agents.extraction.llm.usage import Usage
from asof_agents.layer import Layer
from asof_agents.prefetcher import Prefetcher
from asof_ontologies.model import Ontology
from asof_projections.generations import Catalog, GenerationInfo
from asof_projections.model.prices import ModelBudget
from asof_projections.model.write_answers import Effect, IngestionReport
from asof_streams.control import GenerationDropped
from asof_streams.errors import InvalidInput
from asof_streams.events import Event, Record
from asof_streams.sqlite import reserve_index

log = logging.getLogger(__name__)

_NO_LIMIT: Final = ModelBudget()


class Writer:
    """Ingests the messages of open logs, and closes the logs with itself. Used by one thread.

    Opening it brings everything that follows the logs up to the episodic log, of which a crash may have left some
    behind. Messages that were not ingested wait for `process`. source: the partition that the messages log is of, on
    Kafka.
    """

    def __init__(self, logs: OpenLogs, watchdog: Watchdog | None = None, source: Source | None = None) -> None:
        self.logs = logs
        self.messages, self.episodic = logs.messages, logs.episodic
        with ExitStack() as opened:
            opened.callback(logs.close)
            self._graphs = graphs_of(logs.settings, logs.places)
            if self._graphs is not None:
                opened.callback(self._graphs.close)
            opened.callback(reserve_index, logs.places.episodes)
            self.episodes = opened.enter_context(following_store(self.episodic, logs.places.episodes))
            meter = ingestion_watch(self.messages.trace_of, source)
            self.generations = OpenGenerations(logs, self.episodes, meter=meter)
            opened.callback(self.generations.close)
            journal, ontologies = self.generations.journal, ontologies_of(logs.places)
            self.engine = Engine(
                Layer(self.episodic, self.episodes),
                self.episodes,
                logs.extractors.registry(ontologies.own, ontologies),
                self.generations.values(),
                self._erase,
                self._redact,
                self._message,
                journal,
                self.generations.meter,
            )
            self._verdicts = Verdicts(self.engine, self.messages, watchdog)
            self._prefetcher = Prefetcher(self.messages, self.engine, journal) if journal else None
            self._unflushed = 0  # messages
            self._decided: list[Event] = []  # about generations, and not followed yet
            self._inline = inline_build(logs, self.generations)
            self._build: BuildState = self._inline
            opened.callback(self._kill_build)
            self._vacuum = Vacuum(logs.places, self._erased_from)
            self._recover()
            self._opened = opened.pop_all()

    @property
    def catalog(self) -> Catalog:
        """The generations, and which one answers."""
        return self.logs.catalog

    def _recover(self) -> None:
        end = self.episodic.end()
        self._awaits = not self.generations.open_all()
        if self.generations.behind() > self._build.batch:
            self._build = self._build.advance(end)
        self.generations.follow(end)
        self._finish_build()
        # A crash may have come before content was suppressed, or a replica of a topic was made again.
        start = 0 if self.logs.are_replicas else max(0, self.engine.episodic.checkpoint - FLUSH_EVERY)
        self._suppression = Suppression(self.messages, self.episodic, start)
        self._suppression.apply(self.engine.episodic.checkpoint)
        self._vacuum.finish()  # what is erased next is not one of many in a row: it waits for nothing

    def process(self, *, flush: bool, stop: int | None = None, accepted: Sequence[Record] = ()) -> None:
        """Ingest the messages before position `stop` that were not ingested; None: all that there are.

        accepted: the last ones of the log, as far as the caller has just put them there.

        Not flushed, they are shown later, many at once. After an error nothing of them is kept but the messages
        themselves, and the next call begins with them again. One that takes too long is parked, and one that
        fails where others do not.
        """
        while not self._process(flush=flush, stop=stop, accepted=accepted):
            pass

    def _process(self, *, flush: bool, stop: int | None, accepted: Sequence[Record]) -> bool:
        """Return False where a message is given up: it is to be done again, without that one."""
        try:
            for message in self._waiting(stop, accepted):
                self._suppression.note(message)
                if self._prefetcher:
                    self._prefetcher.prefetch_from(message.position)
                self._verdicts.ingest(message)
                self._unflushed += 1
                if self._unflushed >= self._build.batch:
                    self._flush()
                    self._build = self._build.advance(self.episodic.end())
            if flush:
                self._flush()
                self._finish_build()
                self._adopt()
                self._project()
                self._vacuum.run()
        except BaseException as error:
            self.engine.roll_back()
            if self._prefetcher:
                self._prefetcher.reset()
            if self._verdicts.gives_up(error, lambda stop: self.process(flush=True, stop=stop)):
                return False
            raise
        return True

    def _waiting(self, stop: int | None, accepted: Sequence[Record]) -> Iterable[Record]:
        """Return the messages to ingest; those that were just accepted need not be read from the log."""
        start = self.engine.episodic.checkpoint
        return accepted if accepted and accepted[0].position == start else self.messages.read(start, stop)

    def _flush(self) -> None:
        self._unflushed = 0
        self.engine.flush()
        if self.generations.journal:
            self.generations.journal.discard_recorded()
        self._suppression.apply(self.engine.episodic.checkpoint)

    def _finish_build(self) -> None:
        """Have every generation open here, and up to the episodic log, whatever became of a process beside this one."""
        build, self._build = self._build, self._inline
        build.finish(self.engine.episodic.end)
        if not self.generations and self.logs.believes:
            self._awaits = not self.generations.open_all()
            self.generations.follow(self.episodic.end())

    def adopt(self) -> None:
        """Follow for the generations that were built beside this writer, and leave those that were dropped.

        Whoever writes does so after each message; one that waits for messages calls it. What fails is tried again by
        the next call.
        """
        try:
            if self._adopt():
                self._project()
        except BaseException:
            self.engine.roll_back()
            raise

    def _adopt(self, *, wait: bool = False) -> bool:
        """Return whether there was anything; wait: for builds that are about to hand over."""
        self._decided += self.logs.decided()
        if not self._decided and not self._awaits:
            return False
        self._awaits = True  # until all of this is done
        while self._decided:
            if isinstance(self._decided[0], GenerationDropped):
                self._leave(self._decided[0].generation)
            del self._decided[0]
        try:
            are_open = self.generations.open_all(wait=wait)
        except InvalidInput as error:  # it was built by settings of another process: the others go on without it
            log.warning("a generation that was built is left behind: %s", error)
            are_open = True
        self.generations.follow(self.episodic.end())
        self.generations.meter_alone(self.catalog.active)
        self._awaits = not are_open
        return True

    def _leave(self, name: str) -> None:
        if name in self.generations:
            self.generations.remove(name)
        self.logs.remove_interrupted()
        if self._graphs is not None:
            self._graphs.drop(f"semantic.{name}")

    def _kill_build(self) -> None:
        self._build.kill()

    def _project(self) -> None:
        """Let the graph database of the settings follow the logs as far as they go."""
        if self._graphs is not None:
            beliefs = [generation.layer.log for generation in self.generations.values()]
            self._graphs.follow([self.episodic, *beliefs], self.catalog.active)

    def build(
        self,
        info: GenerationInfo,
        ontology: Ontology,
        progress: Progress | None = None,
        budget: ModelBudget = _NO_LIMIT,
    ) -> None:
        """Build a new generation beside the others, from the episodic log, within a budget for a language model."""
        build_generation(self.logs.places, self.logs.extractors, info, ontology, progress, budget)
        self.adopt()

    def switch(self, name: str) -> None:
        """Let another generation answer."""
        self.adopt()  # one that was built a moment ago may be behind, and nobody else follows for it
        control_log.switch(self.logs.places, name)
        self.adopt()

    def drop(self, name: str) -> None:
        """Remove a generation. InvalidInput: it is the one that answers."""
        control_log.drop(self.logs.places, name)
        self.adopt()

    def _end_builds(self) -> None:
        """Have every complete generation open here, and end builds beside this: they may hold what is to be erased."""
        self._finish_build()
        self._adopt(wait=True)
        while not self.logs.remove_uncatalogued():
            self._adopt(wait=True)

    def _erase(self, group: str, before: int) -> None:
        self._end_builds()
        self.messages.erase(group, before=before)
        erase_from_conversation(self.logs.places)
        self.episodic.erase(group)
        self.generations.erase(group)
        self._vacuum.note()

    def _redact(self, group: str, positions: Sequence[int]) -> None:
        self._end_builds()
        self.messages.redact(group, positions)
        erase_from_conversation(self.logs.places)
        self.generations.redact(group)
        self._vacuum.note()

    @property
    def erasing(self) -> bool:
        """Whether files may still hold erased content: `vacuum` is to be called again."""
        return self._vacuum.owed

    def vacuum(self) -> None:
        """Let files be rewritten that erased rows may have left copies in, if that is due."""
        self._vacuum.run()

    def _erased_from(self) -> list[ErasedFrom]:
        files = (self.messages, self.episodic, self.episodes, *self.generations.files())
        return [*files, ConversationFiles(self.logs.places)]

    def _message(self, position: int) -> Record | None:
        """Return a message by its position, on Kafka its offset; None: there is none, or it was erased."""
        at = self.messages.caused_by(position)
        records = self.messages.read(at, at + 1)
        return next((message for message in records if message.cause == position), None)

    def ontology(self, name: str) -> Ontology:
        """Return the ontology that a generation is built with."""
        return kept_ontology(self.logs.places.ontology_of(name))

    def effect(self, position: int, *, worded: bool) -> Effect | None:
        """Return the effect of a processed message in the generation that answers (see `effect_of`); None: parked."""
        return self.generations.effect(self.catalog.active, position, worded=worded)

    def report(self, position: int) -> IngestionReport:
        """Return the report of a processed message in the generation that answers."""
        return self.generations.report(self.catalog.active, position, self.engine.episodic.batch(position))

    def ingested(self) -> tuple[dict[str, int], dict[str, float]]:
        """Return the counts of the messages that were ingested since this was opened, and the seconds of each phase."""
        return dict(self.generations.meter.counts), dict(self.generations.meter.seconds)

    def usage(self) -> Usage:
        """Return the cost of calls to a language model since this was opened."""
        return self.logs.extractors.usage()

    def phases(self) -> dict[str, tuple[int, float]]:
        """Return the runs of each phase of consolidation since this was opened, and their seconds together."""
        return dict(self.generations.phases.taken)

    def parked(self) -> int | None:
        """Return how many messages were parked, in the episodic log and in the generation that answers.

        None where the generations are still with another process, as an import that failed leaves them.
        """
        active = self.catalog.active
        return self.episodes.parked_count() + self.generations.parked(active) if active in self.generations else None

    def close(self) -> None:
        """Close everything and let another process write."""
        try:
            self._vacuum.finish()
        finally:
            self._opened.close()


def open_writer(
    places: DirectoryLayout,
    settings: Settings,
    open_log: OpenLog | None = None,
    *,
    patience: float = 0.0,
    watchdog: Watchdog | None = None,
    believes: bool = True,
    source: Source | None = None,
) -> Writer:
    """Open the logs of a directory (see OpenLogs), and process the messages that wait on them (see Writer)."""
    writer = Writer(OpenLogs(places, settings, open_log, patience=patience, believes=believes), watchdog, source)
    try:
        writer.process(flush=True)
    except BaseException:
        writer.close()
        raise
    return writer
