"""Writing to a data directory: recovery, the engine and its logs, building and dropping generations, erasure."""

import shutil
from pathlib import Path

from asof.runtime.bulk_builder import BulkBuilder
from asof.runtime.erasure import erase_vectors
from asof.runtime.extractors import extractor_factory
from asof.runtime.generations import (
    FLUSH_ASKED,
    FLUSH_EVERY,
    check_order,
    follow,
    generation_of,
    keep_ontology,
    kept_ontology,
    ontologies_of,
    open_semantic,
    restore_ontologies,
)
from asof.runtime.graph_database import graphs_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PATIENCE, is_copy
from asof.runtime.wiring import OpenLog, Progress, describe, following_store, load_ontology, writable_log
from asof.settings import Settings
from asof_agents.engine import Engine, Generation, Layer
from asof_agents.extraction.llm.usage import Usage
from asof_agents.prefetcher import Prefetcher
from asof_ontologies.model import Ontology
from asof_projections.generations import FIRST, Catalog, GenerationInfo, is_name, load, save
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import ExtractionAnswered
from asof_streams.errors import ContractError, InvalidInput
from asof_streams.files import replace_file
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock

_MUCH = 4_000  # messages at once: more will come, and a second process is worth its start


class Writer:
    """A data directory opened for writing: one process at a time.

    `open_log` is given where its logs are more than files; one process then writes all of them. Not told to
    `recover`, only its messages log may be used until recover() is called.
    """

    def __init__(
        self, places: DirectoryLayout, settings: Settings, open_log: OpenLog | None = None, *, recover: bool = True
    ) -> None:
        if open_log is None and is_copy(places.root):
            raise InvalidInput(f"{places.root} is a copy of topics: what is written goes there, with --kafka HOST:PORT")
        self.places = places
        self.reading = extractor_factory(settings)
        self._lock = WriterLock(places.root, patience=PATIENCE if open_log else 0.0)
        self._open_log = open_log or writable_log
        self._alone = open_log is not None
        self._opened: list[SqliteLog | SqliteGraph] = []
        self._stores: dict[str, SqliteGraph] = {}
        self._graphs = graphs_of(settings, places)
        self._unflushed = 0  # messages
        self._unsuppressed: int | None = None  # from this one on there are some that are not to be kept
        self._apart: BulkBuilder | None = None  # who writes the generations, where this one does not
        self._journal = self.reading.journal(self._answered)
        try:
            self.catalog = load(places.root) or self._create(settings)
            if self._alone:
                restore_ontologies(places, self.catalog, load_ontology(settings.ontology))
            self._clear()
            self.messages = self._log(places.messages)
            self.episodic = self._log(places.episodic)
            check_order(self.messages, self.episodic)
            if recover:
                self.recover()
                self.process(flush=True)
        except BaseException:
            self.close()
            raise

    def _create(self, settings: Settings) -> Catalog:
        """Make an empty directory's catalogue; nothing else in it may exist yet."""
        if self.places.messages.exists() and not self._alone:
            raise ContractError("catalog.json is missing beside messages.sqlite: restore it, or move that file away")
        ontology = load_ontology(settings.ontology)
        info = describe(FIRST, ontology, settings.policy, "mentions", self.reading.version(ontology))
        keep_ontology(ontology, self.places.ontology)
        keep_ontology(ontology, self.places.ontology_of(FIRST))
        catalog = Catalog(FIRST, (info,))
        save(self.places.root, catalog)
        return catalog

    def _clear(self) -> None:
        """Remove what interrupted builds and drops left, but builds that asked a model: they can be gone on with."""
        for folder in self._uncatalogued():
            if not self.places.unfinished(folder.name).exists():
                shutil.rmtree(folder)
        for file in self.places.root.rglob("*.building*"):
            file.unlink()

    def _uncatalogued(self) -> list[Path]:
        """Return the folders of generations that are in no catalogue."""
        kept = {info.name for info in self.catalog.generations}
        return [f for f in self.places.generations.iterdir() if is_name(f.name) and f.name not in kept]

    def _log(self, path: Path) -> SqliteLog:
        log = self._open_log(path)
        self._opened.append(log)
        return log

    def _store(self, path: Path, log: SqliteLog) -> SqliteGraph:
        store = following_store(log, path)
        self._opened.append(store)
        return store

    def _generation(self, info: GenerationInfo) -> Generation:
        """Open a generation, making it where it does not exist yet."""
        log = open_semantic(self.places, info, self.episodic, self._open_log)
        self._opened.append(log)
        self._stores[info.name] = store = self._store(self.places.graph(info.name), log)
        return generation_of(self.places, info, log, store, self.reading, self._journal)

    def _open_generations(self) -> None:
        self._close_generations()
        self.generations = {info.name: self._generation(info) for info in self.catalog.generations}
        self.engine.generations = tuple(self.generations.values())

    def _close_generations(self) -> None:
        self.engine.generations = ()
        for part in [p for p in self._opened if p not in (self.messages, self.episodic, self.episodes)]:
            part.close()
            self._opened.remove(part)

    def recover(self) -> None:
        """Open what follows the logs, and bring all of it up to the episodic log: a crash may have left some behind."""
        self.episodes = self._store(self.places.episodes, self.episodic)
        layer, ontologies = Layer(self.episodic, self.episodes), ontologies_of(self.places)
        readers = self.reading.readers(ontologies.own, ontologies)
        self.engine = Engine(layer, self.episodes, readers, (), self._erase, self._journal)
        self._ahead = Prefetcher(self.messages, self.engine, self._journal) if self._journal else None
        self._open_generations()
        behind = [self.episodic.end() - generation.layer.checkpoint for generation in self.generations.values()]
        if max(behind) > FLUSH_EVERY:
            self._part()
        self._follow()
        self._rejoin()
        # A crash may have come between, or a copy of a topic was made again.
        self._unsuppressed = 0 if self._alone else max(0, self.engine.episodic.checkpoint - FLUSH_EVERY)
        self._suppress()

    def process(self, *, flush: bool, stop: int | None = None) -> None:
        """Let the engine take the messages that it has not taken, up to position `stop` (None: all that there are).

        Not flushed, they are shown later, many at once.

        After an error nothing of them is kept but the messages themselves, and the next call begins with them again.
        """
        try:
            for message in self.messages.read(self.engine.episodic.checkpoint, stop):
                if self._unsuppressed is None and isinstance(message.event, Message) and message.event.suppress_content:
                    self._unsuppressed = message.position
                if self._ahead:
                    self._ahead.prefetch_from(message.position)
                self.engine.ingest(message)
                self._unflushed += 1
                if self._unflushed >= self._flush_every():
                    self._flush()
                    self._part()
            if flush:
                self._flush()
                self._rejoin()
                self._project()
        except BaseException:
            self.engine.roll_back()
            if self._ahead:
                self._ahead.reset()
            raise

    def _flush_every(self) -> int:
        if self._journal:
            return FLUSH_ASKED
        return FLUSH_EVERY if self._alone or self._apart else _MUCH

    def _flush(self) -> None:
        self._unflushed = 0
        self.engine.flush()
        if self._journal:
            self._journal.discard_recorded()
        self._suppress()

    def _suppress(self) -> None:
        """Let the log forget the content that was read and is not to be kept."""
        start = self._unsuppressed
        if start is not None and self.messages.suppress(start, self.engine.episodic.checkpoint):
            self._unsuppressed = None

    def _part(self) -> None:
        """Let another process follow the episodic log, as far as it now goes, while this one records."""
        if self._alone or self._journal:  # a model is slower than this one, and only this one asks it
            return
        if self._apart is None:
            try:
                self._apart = BulkBuilder(self.places)
            except OSError:  # no more processes here: this one goes on alone
                return
            self._close_generations()
        self._apart.follow(self.episodic.end())

    def _rejoin(self) -> None:
        """Take the generations back once they have followed; what a process that ended early left is done here."""
        apart, self._apart = self._apart, None
        if apart is not None:
            if apart.join(self.episodic.end()):
                self.set_catalog(self.catalog)  # so that readers open the graphs anew
            self._clear()
        if not self.engine.generations:
            self._open_generations()
            self._follow()

    def _follow(self) -> None:
        """Give every generation that is open what it missed of the episodic log."""
        for generation in self.engine.generations:
            follow(generation, self.episodic, self.episodes, self.episodic.end(), journal=self._journal)

    def _project(self) -> None:
        """Let the graph database of the settings follow the logs as far as they go."""
        if self._graphs is not None:
            logs = [self.episodic, *(generation.layer.log for generation in self.generations.values())]
            self._graphs.follow(logs, self.catalog.active)

    def _answered(self, group: str, request: str) -> ExtractionAnswered | None:
        """Return what a model answered to this, in whichever log it is recorded."""
        found = (store.answer(group, request) for store in (self.episodes, *self._stores.values()))
        return next((answered for answered in found if answered and answered.answer), None)  # "": it was suppressed

    def build(self, info: GenerationInfo, ontology: Ontology, progress: Progress | None = None) -> None:
        """Build a new generation beside the others and add it to the catalogue once it has caught up.

        One of the same build that asked a model and was interrupted is gone on with: its answers were paid for.
        """
        folder, unfinished = self.places.generation(info.name), self.places.unfinished(info.name)
        begun = unfinished.exists() and unfinished.read_text("utf-8") == info.build
        if folder.exists() and not begun:
            shutil.rmtree(folder)  # it is in no catalogue
        keep_ontology(ontology, self.places.ontology_of(info.name))
        if self._journal:
            replace_file(unfinished, [info.build.encode()])
        try:
            generation = self._generation(info)
            follow(generation, self.episodic, self.episodes, self.episodic.end(), progress, self._journal)
        except BaseException:
            self._close_generation(info.name)
            raise
        self.generations[info.name] = generation
        self.engine.generations = tuple(self.generations.values())
        self.set_catalog(self.catalog.with_(info))
        unfinished.unlink(missing_ok=True)
        self._project()

    def switch(self, name: str) -> None:
        """Let another generation answer."""
        self.set_catalog(self.catalog.switched(name))
        self._project()

    def drop(self, name: str) -> None:
        """Remove a generation that does not answer."""
        self.set_catalog(self.catalog.without(name))
        del self.generations[name]
        self.engine.generations = tuple(self.generations.values())
        self._close_generation(name)
        shutil.rmtree(self.places.generation(name))
        if self._graphs is not None:
            self._graphs.drop(f"semantic.{name}")

    def _close_generation(self, name: str) -> None:
        for part in [p for p in self._opened if p.path.parent == self.places.generation(name)]:
            part.close()
            self._opened.remove(part)
        self._stores.pop(name, None)

    def set_catalog(self, catalog: Catalog) -> None:
        """Replace the catalogue, in one step for every reader."""
        save(self.places.root, catalog)
        self.catalog = catalog

    def _erase(self, group: str, before: int) -> None:
        self._rejoin()
        self.messages.erase(group, before=before)
        self.episodic.erase(group)
        if self._journal:
            self._journal.erase(group)
        for name, generation in self.generations.items():
            erase_vectors(self.places, name, group)
            generation.layer.log.erase(group)
        for folder in self._uncatalogued():
            shutil.rmtree(folder)

    def ontology(self, name: str) -> Ontology:
        """Return the ontology that a generation is built with."""
        return kept_ontology(self.places.ontology_of(name))

    def usage(self) -> Usage:
        """Return what asking a language model has cost since this was opened."""
        return self.reading.usage()

    def parked(self) -> int:
        """Return how many messages were parked, in the episodic log and in the generation that answers."""
        return len(self.episodes.parked()) + len(self._stores[self.catalog.active].parked())

    def close(self) -> None:
        """Close everything and let another process write."""
        if self._apart is not None:
            self._apart.kill()
        if self._journal is not None:
            self._journal.close()
        self.reading.close()
        if self._graphs is not None:
            self._graphs.close()
        for part in reversed(self._opened):
            part.close()
        self._opened = []
        self._lock.release()
