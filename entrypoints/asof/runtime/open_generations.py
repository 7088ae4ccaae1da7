"""The generations of a directory, open for writing: each with its log, its store and what builds it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from asof.runtime.build_file import take_over
from asof.runtime.erasure import erase_vectors
from asof.runtime.extractors import ExtractorFactory
from asof.runtime.generations import follow, generation_of, open_semantic
from asof.runtime.layout import DirectoryLayout
from asof.runtime.recorded_answers import each_reply, find_answer, find_failure
from asof.runtime.stopwatch import IngestionWatch, PhaseTimes
from asof.runtime.wiring import OpenLog, OpenStore, following_store
from asof_agents.generation import Generation
from asof_agents.meter import UNMETERED
from asof_projections.generations import Catalog, GenerationInfo
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.write_answers import Effect, IngestionReport
from asof_projections.queries.effects import changes_at, effect_of, reasons_at
from asof_projections.queries.reports import report_of
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed
from asof_streams.events import Record
from asof_streams.sqlite import reserve_index
from asof_streams.sqlite_log import SqliteLog


class GenerationLogs(Protocol):
    """What generations are made from and where they are; `believes`: whether they are written here."""

    believes: bool
    places: DirectoryLayout
    catalog: Catalog
    episodic: SqliteLog
    extractors: ExtractorFactory

    @property
    def open_log(self) -> OpenLog:
        """What opens the log of a generation."""
        ...


@dataclass
class LoneGeneration:
    """The logs of one generation (see GenerationLogs); the catalogue of the directory is not among them."""

    places: DirectoryLayout
    catalog: Catalog
    episodic: SqliteLog
    extractors: ExtractorFactory
    open_log: OpenLog
    believes: bool = True


class OpenGenerations(Mapping[str, Generation]):
    """The generations that are open, by name: all of the catalogue, or none where another process writes them.

    others: graphs that others write, which have answers of a language model too. meter: of all messages, as far as the
    generation that answers goes.
    """

    def __init__(
        self,
        logs: GenerationLogs,
        episodes: SqliteGraph,
        others: Sequence[SqliteGraph] = (),
        meter: IngestionWatch | None = None,
    ) -> None:
        self._others = others
        self.journal = logs.extractors.journal(self._answered, self._failed, self._replies)
        self.phases = PhaseTimes()  # of the passes of consolidation of all generations
        self.meter = meter or IngestionWatch()
        self._by_name: dict[str, Generation] = {}
        self._logs = logs
        self._episodes = episodes
        self._stores: dict[str, SqliteGraph] = {}
        self._semantic: dict[str, SqliteLog] = {}
        self._opened: dict[str, ExitStack] = {}

    def __getitem__(self, name: str) -> Generation:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def open_all(self, *, wait: bool = False) -> bool:
        """Open every generation of the catalogue that is not open, and make those that do not exist yet.

        Return whether all are open: the end of a build is left to its process while that is at work; wait: for it.
        """
        for info in self._logs.catalog.generations if self._logs.believes else ():
            if info.name not in self._by_name and take_over(self._logs.places, info.name, wait=wait):
                try:
                    self.add(info.name, self.open(info))
                except BaseException:
                    self.remove(info.name)
                    raise
        return not self._logs.believes or len(self._by_name) == len(self._logs.catalog.generations)

    def close_all(self) -> None:
        """Close every generation, so that another process can write them."""
        for name in list(self._opened):
            self.remove(name)
            reserve_index(self._logs.places.graph(name))
            reserve_index(self._logs.places.semantic(name))

    def open(self, info: GenerationInfo, open_store: OpenStore = following_store) -> Generation:
        """Open a generation, making it where there is none; it follows no message until it is added.

        open_store: opens its graph, which is closed with it.
        """
        places, logs = self._logs.places, self._logs
        opened = self._opened[info.name] = ExitStack()
        log = opened.enter_context(open_semantic(places, info, logs.episodic, logs.open_log))
        store = opened.enter_context(open_store(log, places.graph(info.name)))
        self._stores[info.name], self._semantic[info.name] = store, log
        generation = generation_of(places, info, log, store, logs.episodic, logs.extractors, self.journal, self.phases)
        if info.name == logs.catalog.active:
            generation.meter = self.meter
        return generation

    def add(self, name: str, generation: Generation) -> None:
        """Let an open generation follow with the others."""
        self._by_name[name] = generation

    def remove(self, name: str) -> None:
        """Close a generation, which may be one that was not added."""
        self._by_name.pop(name, None)
        self._stores.pop(name, None)
        self._semantic.pop(name, None)
        self._opened.pop(name).close()

    def follow(self, stop: int) -> None:
        """Give every open generation the episodic events up to a position that it has not read."""
        for generation in self.values():
            follow(generation, self._logs.episodic, self._episodes, stop, journal=self.journal)

    def files(self) -> list[SqliteLog | SqliteGraph]:
        """Return the logs and stores of the open generations."""
        return [*self._semantic.values(), *self._stores.values()]

    def behind(self) -> int:
        """Return how many episodic events the generation that is the furthest behind has not read."""
        end = self._logs.episodic.end()
        return max((end - generation.layer.checkpoint for generation in self.values()), default=0)

    def parked(self, name: str) -> int:
        """Return how many messages a generation has parked."""
        return self._stores[name].parked_count()

    def effect(self, name: str, position: int, *, worded: bool) -> Effect | None:
        """Return the effect of a processed message in a generation (see `effect_of`); None: it was parked."""
        store = self._stores[name]
        if "parked" in reasons_at((self._episodes, store), position):
            return None
        derived = self[name].layer.batch(position)
        return effect_of(store, derived, changes_at(store, position), worded=worded)

    def report(self, name: str, position: int, recorded: Iterable[Record]) -> IngestionReport:
        """Return the report of a processed message in a generation; recorded: its episodic records."""
        derived = self[name].layer.batch(position)
        times = self.meter.times(position)
        return report_of((record.event for record in recorded), (record.event for record in derived), times)

    def meter_alone(self, name: str) -> None:
        """Let one generation be the one that is metered: it answers."""
        for other, generation in self.items():
            generation.meter = self.meter if other == name else UNMETERED

    def erase(self, group: str) -> None:
        """Erase a group from the journal, every log and every vector; the stores follow."""
        if self.journal is not None:
            self.journal.erase(group)
        if not self:
            erase_vectors(self._logs.places, group)
        for name, generation in self.items():
            erase_vectors(self._logs.places, group, name)
            generation.layer.log.erase(group)

    def redact(self, group: str) -> None:
        """Erase a group that is told again, but for the answers of a model, which are paid for."""
        answers = [reply for reply in self._replies(group) if isinstance(reply, ExtractionAnswered)]
        self.erase(group)
        if self.journal is not None:
            self.journal.keep(group, answers)

    def close(self) -> None:
        """Ask the model nothing more, and close every generation."""
        if self.journal is not None:
            self.journal.close()
        self.close_all()

    def _answered(self, group: str, request: str) -> ExtractionAnswered | None:
        """Return a model's answer to a request, in whichever log it is recorded."""
        return find_answer((self._episodes, *self._others, *self._stores.values()), group, request)

    def _failed(self, group: str, request: str, cause: int) -> ExtractionFailed | None:
        """Return the failure of a request about a message, in whichever log it is recorded."""
        return find_failure((self._episodes, *self._others, *self._stores.values()), group, request, cause)

    def _replies(self, group: str) -> Iterator[ExtractionAnswered | ExtractionFailed]:
        """Yield all replies that are recorded of a group, each once."""
        return (reply for _, reply in each_reply((self._episodes, *self._others, *self._stores.values()), group))
