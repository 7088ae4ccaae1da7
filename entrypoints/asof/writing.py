"""Writing to a data directory: recovery, the engine and its logs, building and dropping generations, erasure."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

from asof.bootstrap import Progress, describe, existing, extractor_of, following_store, load_ontology, writable_log
from asof.places import Places
from asof.settings import Settings
from asof_agents.engine import Engine, Generation, Layer, batches
from asof_agents.scribe import Build
from asof_ontologies.model import Ontology
from asof_projections.generations import FIRST, Catalog, GenerationInfo, is_name, load, replace_file, save
from asof_projections.graph.sqlite import SqliteGraph
from asof_streams.errors import ContractError, DamagedLog, WriterBusy
from asof_streams.events import Draft
from asof_streams.semantic import GenerationStarted, RelationDeclared
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock

_FLUSH_EVERY = 10_000  # messages: few enough to hold in memory; ids are random, so a commit touches many pages


class Writer:
    """A data directory opened for writing: one process at a time."""

    def __init__(self, places: Places, settings: Settings) -> None:
        places.root.mkdir(parents=True, exist_ok=True)
        self.places = places
        self._lock = WriterLock(places.root)
        self._opened: list[SqliteLog | SqliteGraph] = []
        self._stores: dict[str, SqliteGraph] = {}
        self._unflushed = 0  # messages
        try:
            self.catalog = load(places.root) or self._create(settings)
            self._clear()
            self.messages = self._log(places.messages, durable=True)
            self.episodic = self._log(places.episodic)
            check_order(self.messages, self.episodic)
            self.episodes = self._store(places.episodes, self.episodic)
            self.generations = {info.name: self._generation(info) for info in self.catalog.generations}
            self.engine = Engine(
                Layer(self.episodic, self.episodes),
                self.episodes,
                extractor_of(_ontology(places.ontology)),
                tuple(self.generations.values()),
                self._erase,
            )
            self._recover()
        except BaseException:
            self.close()
            raise

    def _create(self, settings: Settings) -> Catalog:
        """Make an empty directory's catalogue; nothing else in it may exist yet."""
        if self.places.messages.exists():
            raise ContractError("catalog.json is missing beside messages.sqlite: restore it, or move that file away")
        ontology = load_ontology(settings.ontology)
        info = describe(FIRST, ontology, settings.policy, "mentions")
        _keep(ontology, self.places.ontology)
        _keep(ontology, self.places.ontology_of(FIRST))
        catalog = Catalog(FIRST, (info,))
        save(self.places.root, catalog)
        return catalog

    def _clear(self) -> None:
        """Remove what interrupted builds and drops left: it is in no catalogue, and no erasure would reach it."""
        kept = {info.name for info in self.catalog.generations}
        for folder in self.places.generations.iterdir():
            if is_name(folder.name) and folder.name not in kept:
                shutil.rmtree(folder)
        for file in self.places.root.rglob("*.building*"):
            file.unlink()

    def _log(self, path: Path, *, durable: bool = False) -> SqliteLog:
        log = writable_log(path, durable=durable)
        self._opened.append(log)
        return log

    def _store(self, path: Path, log: SqliteLog) -> SqliteGraph:
        store = following_store(log, path)
        self._opened.append(store)
        return store

    def _generation(self, info: GenerationInfo) -> Generation:
        """Open a generation, making it where it does not exist yet, and bring it up to the episodic log."""
        ontology = _ontology(self.places.ontology_of(info.name))
        log = self._log(self.places.semantic(info.name))
        check_order(self.episodic, log)
        if log.end() == 0:
            _start(log, info, ontology)
        store = self._store(self.places.graph(info.name), log)
        self._stores[info.name] = store
        extractor = extractor_of(ontology) if info.source == "episodes" else None
        return Generation(Layer(log, store), store, Build(info.build, ontology, info.policy), extractor)

    def _recover(self) -> None:
        """Bring every derived log up to the messages log: a crash may have left them behind, each at its own place."""
        for generation in self.generations.values():
            self._follow(generation)
        self.process(flush=True)

    def process(self, *, flush: bool) -> None:
        """Let the engine take the messages that it has not taken. Not flushed, they are shown later, many at once.

        After an error nothing of them is kept but the messages themselves, and the next call begins with them again.
        """
        try:
            for message in self.messages.read(self.engine.episodic.input):
                self.engine.ingest(message)
                self._unflushed += 1
                if self._unflushed >= _FLUSH_EVERY:
                    self._flush()
            if flush:
                self._flush()
        except BaseException:
            self.engine.forget()
            raise

    def _flush(self) -> None:
        self._unflushed = 0
        self.engine.flush()

    def _follow(self, generation: Generation, progress: Progress | None = None) -> None:
        """Read the episodic log into a generation that is behind it."""
        layer = generation.layer
        start, end = layer.input, self.episodic.end()
        for number, batch in enumerate(batches(self.episodic.read(start)), 1):
            generation.ingest(batch, self.episodes)
            if number % _FLUSH_EVERY == 0:
                layer.flush()
                if progress:
                    progress(layer.input - start, end - start)
        layer.input = end
        layer.flush()

    def build(self, info: GenerationInfo, ontology: Ontology, progress: Progress | None = None) -> None:
        """Build a new generation beside the others and add it to the catalogue once it has caught up."""
        folder = self.places.generation(info.name)
        if folder.exists():
            shutil.rmtree(folder)  # left by a build that was interrupted: it is in no catalogue
        _keep(ontology, self.places.ontology_of(info.name))
        generation = self._generation(info)
        self._follow(generation, progress)
        self.generations[info.name] = generation
        self.engine.generations = tuple(self.generations.values())
        self.set_catalog(self.catalog.with_(info))

    def drop(self, name: str) -> None:
        """Remove a generation that does not answer."""
        self.set_catalog(self.catalog.without(name))
        generation = self.generations.pop(name)
        self.engine.generations = tuple(self.generations.values())
        for part in [p for p in self._opened if p in (generation.layer.log, generation.store)]:
            part.close()
            self._opened.remove(part)
        del self._stores[name]
        shutil.rmtree(self.places.generation(name))

    def set_catalog(self, catalog: Catalog) -> None:
        """Replace the catalogue, in one step for every reader."""
        save(self.places.root, catalog)
        self.catalog = catalog

    def _erase(self, group: str, before: int) -> None:
        self.messages.erase(group, before=before)
        self.episodic.erase(group)
        for name, generation in self.generations.items():
            self._forget_vectors(name, group)
            generation.layer.log.erase(group)

    def _forget_vectors(self, name: str, group: str) -> None:
        """Let no vector of a group stay: neither by content nor in the index, which the next search makes again."""
        self.places.index(name).unlink(missing_ok=True)
        if self.places.vectors.exists():
            from asof_projections.embedding.cache import CachedEmbedder
            from asof_projections.embedding.hashing import HashingEmbedder

            cache = CachedEmbedder(HashingEmbedder(), self.places.vectors)  # what it forgets, it forgets of every model
            try:
                cache.forget([sentence for _, of, sentence in self._stores[name].sentences() if of == group])
            finally:
                cache.close()

    def ontology(self, name: str) -> Ontology:
        """Return the ontology that a generation is built with."""
        return _ontology(self.places.ontology_of(name))

    def parked(self) -> int:
        """Return how many messages were parked, in the episodic log and in the generation that answers."""
        return len(self.episodes.parked()) + len(self._stores[self.catalog.active].parked())

    def close(self) -> None:
        """Close everything and let another process write."""
        for part in reversed(self._opened):
            part.close()
        self._opened = []
        self._lock.release()


def check_order(before: SqliteLog, after: SqliteLog) -> None:
    """Refuse a log that was cut short, or put back from an older copy: what was derived from it knows more."""
    if after.checkpoint() > before.end():
        raise DamagedLog(
            f"{before.path} ends at position {before.end()}, yet {after.name} was made from it up to "
            f"{after.checkpoint()}: the end of {before.name} is lost; restore it from a newer copy"
        )


def _keep(ontology: Ontology, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {"digest": ontology.digest, "ontology": ontology.model_dump(mode="json")}
    replace_file(path, json.dumps(kept, ensure_ascii=False).encode())


def _ontology(path: Path) -> Ontology:
    try:
        kept = json.loads(path.read_bytes())
        ontology = Ontology.model_validate(kept["ontology"])
        if ontology.digest == kept["digest"]:
            return ontology
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise ContractError(f"{path} is missing or damaged: restore it, or rebuild into a new directory")


def _start(log: SqliteLog, info: GenerationInfo, ontology: Ontology) -> None:
    """Write a generation's first events. They have no group and no moment: a build is the same whenever it is made."""
    started = GenerationStarted(
        build=info.build,
        ontology=ontology.id,
        ontology_digest=info.ontology_digest,
        extractor=info.extractor,
        policy=info.policy,
        source=info.source,
    )
    declared = [
        RelationDeclared(relation=r.name, cardinality=r.cardinality)
        for r in ontology.relation_types
        if r.cardinality == "one"
    ]
    events = [started, *declared]
    log.append([Draft("", 0, -1, i, len(events), event) for i, event in enumerate(events)], checkpoint=0)


def settle(places: Places, settings: Settings) -> None:
    """Process messages that were acknowledged and then left, by a crash; a living writer does so itself."""
    existing(places)
    if places.messages.exists() and places.episodic.exists():
        with SqliteLog(places.messages) as messages, SqliteLog(places.episodic) as episodic:
            if messages.end() == episodic.checkpoint() and _built(places, episodic.end()):
                return
    with suppress(WriterBusy):
        Writer(places, settings).close()


def _built(places: Places, end: int) -> bool:
    """Whether every generation stands at the end of the episodic log, in stores that this version can read."""
    try:
        with SqliteGraph(places.episodes, "episodic"):
            pass
        for info in existing(places).generations:
            name = f"semantic.{info.name}"
            with SqliteLog(places.semantic(info.name)) as log, SqliteGraph(places.graph(info.name), name) as store:
                if log.checkpoint() < end or store.position() < log.end():
                    return False
    except ContractError:  # not there, damaged, or of another schema: the next writer makes it anew
        return False
    return True
