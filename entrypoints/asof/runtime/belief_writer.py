"""Writing one generation alone: its beliefs follow an episodic log that another process may write meanwhile."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final, Protocol

from asof.runtime.erasure import ErasedFrom, Vacuum
from asof.runtime.extractors import ExtractorFactory
from asof.runtime.generations import FLUSH_ASKED, FLUSH_EVERY, LOOK_EVERY
from asof.runtime.graph_database import graphs_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_generations import LoneGeneration, OpenGenerations
from asof.runtime.recorded_answers import build_replies
from asof.runtime.replica_manifest import parts
from asof.runtime.stopwatch import IngestionWatch
from asof.runtime.traced_watch import Source, ingestion_watch
from asof.runtime.verdicts import Verdicts
from asof.runtime.watchdog import Watchdog
from asof.runtime.wiring import OpenLog, existing
from asof.settings import Settings
from asof_agents.believer import Believer
from asof_projections.generations import Catalog, GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.prices import ModelBudget
from asof_streams.errors import BuildStopped
from asof_streams.messages import RedactionRequest
from asof_streams.sqlite_log import SqliteLog


class Inputs(Protocol):
    """What beliefs are made from, as far as this process sees it."""

    @property
    def messages(self) -> SqliteLog:
        """The messages that the episodic log is of."""
        ...

    @property
    def episodic(self) -> SqliteLog:
        """The episodic log."""
        ...

    @property
    def episodes(self) -> SqliteGraph:
        """The graph of the episodic log."""
        ...

    def files(self) -> list[ErasedFrom]:
        """Return those files that this process is to erase groups from."""
        ...


@dataclass(frozen=True, slots=True)
class BuildTerms:
    """How a build follows: what its calls may come to, what raises BuildStopped where it is to stop, whom it tells.

    reached: takes a position of the episodic log that the generation has come to, and the one that it follows to.
    """

    budget: ModelBudget
    go_on: Callable[[], None]
    reached: Callable[[int, int], None]


class BeliefWriter:
    """One generation, opened for writing. Used by one thread.

    open_log: opens the log of the generation, which is closed with this. A message that cannot be taken is parked on
    that log. build: of a build, which `follow` ends with BuildStopped where it is to stop, or where its budget, or that
    of a group, is spent; what was derived is kept. source: the partition that the episodic log is of, on Kafka.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        info: GenerationInfo,
        inputs: Inputs,
        extractors: ExtractorFactory,
        open_log: OpenLog,
        watchdog: Watchdog | None = None,
        build: BuildTerms | None = None,
        source: Source | None = None,
    ) -> None:
        self._places, self._name = places, info.name
        self._build = build
        self._inputs = inputs
        logs = LoneGeneration(places, Catalog(info.name, (info,)), inputs.episodic, extractors, open_log)
        with ExitStack() as opened:
            self._watch = (
                ingestion_watch(inputs.messages.trace_of, source) if build is None else IngestionWatch()
            )  # spans are of what comes, not of all that is made again
            self._generations: Final = OpenGenerations(logs, inputs.episodes, meter=self._watch)
            opened.callback(self._generations.close)
            self._generations.open_all()
            generation, journal = self._generations[info.name], self._generations.journal
            if build is not None and journal is not None:
                spent = build_replies(parts(settings.data), info.name)
                opened.enter_context(journal.budget.of_build(build.budget, spent))
            self._log = generation.layer.log
            self._every = FLUSH_EVERY if journal is None else FLUSH_ASKED
            self._looks = LOOK_EVERY if journal is None else 1
            self._believer = Believer(generation, inputs.episodic, inputs.episodes, self._erase, journal)
            self._verdicts = Verdicts(self._believer, inputs.episodic, watchdog)
            self._graphs = graphs_of(settings, places)
            if self._graphs is not None:
                opened.callback(self._graphs.close)
            self._vacuum = Vacuum(places, self._erased_from)
            self._opened = opened.pop_all()

    @property
    def parked(self) -> int:
        """The number of messages that the generation made nothing of, and that were not retried since."""
        return self._generations.parked(self._name)

    def follow(self, stop: int) -> None:
        """Derive the beliefs of the messages before a position of the episodic log, and let readers see them."""
        while not self._followed(stop):
            pass
        if self._graphs is not None:
            own = [self._inputs.episodic] if self._inputs.files() else []
            self._graphs.follow([*own, self._log], existing(self._places).active)
        self._vacuum.run()

    def _followed(self, stop: int) -> bool:
        """Return False where a message is given up: it is to be done again, without that one."""
        believer, build = self._believer, self._build
        try:
            for number, message in enumerate(believer.messages(stop), 1):
                with self._watch.message(message, message.cause):
                    self._verdicts.ingest(message)
                if number % self._every == 0:
                    believer.flush()
                    self._tell(stop)
                if build is not None and number % self._looks == 0:
                    build.go_on()
            believer.flush(stop)
            self._tell(stop)
        except BuildStopped:
            believer.flush()
            self._tell(stop)
            raise
        except BaseException as error:
            believer.roll_back()
            if self._verdicts.gives_up(error, self.follow):
                return False
            raise
        return True

    def _tell(self, stop: int) -> None:
        if self._build is not None:
            self._build.reached(self._believer.checkpoint, stop)

    def _erase(self, group: str, asked: int) -> None:
        request = next(self._inputs.messages.read(asked, asked + 1), None)
        if request is not None and isinstance(request.event, RedactionRequest):
            self._generations.redact(group)
        else:
            self._generations.erase(group)
        self._vacuum.note()

    def _erased_from(self) -> list[ErasedFrom]:
        return [*self._inputs.files(), *self._generations.files()]

    def close(self) -> None:
        """Close the generation, and let another process write it."""
        try:
            self._vacuum.finish()
        finally:
            self._opened.close()
