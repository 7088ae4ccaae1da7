"""The logs of a data directory, opened for writing by one process at a time: all that an intake needs."""

from pathlib import Path

from asof.runtime.control_log import catch_up, decided
from asof.runtime.extractors import ExtractorFactory, extractor_factory
from asof.runtime.generations import check_order
from asof.runtime.graph_database import address_of
from asof.runtime.kept_ontologies import keep_ontology, restore_ontologies
from asof.runtime.layout import BUILD, DirectoryLayout
from asof.runtime.replica_manifest import expect_no_copy
from asof.runtime.wiring import OpenLog, describe, existing, load_ontology, used_trees, writable_log
from asof.settings import Settings
from asof_ontologies.model import Ontology
from asof_projections.generations import FIRST, Catalog, GenerationInfo, is_name, load, save
from asof_streams.ciphers import cipher
from asof_streams.errors import ContractError, DamagedLog, InvalidInput
from asof_streams.events import Event
from asof_streams.files import expect_own_files, locked_folder, remove_folder, stamp
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.key_store import make_keys, move_keys
from asof_streams.key_tree import KEY_BYTES
from asof_streams.sqlite import reserve_index
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock, is_held


class OpenLogs:
    """The lock of a directory, its catalogue of generations, and its logs of messages and of episodic events.

    open_log: opens logs that are replicas of topics; None: they are files of the directory. patience: seconds to wait
    for another writer, then WriterBusy. believes: whether the generations are written by this process too; others may
    write them meanwhile where they are not. A directory without a catalogue gets one.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        open_log: OpenLog | None = None,
        *,
        patience: float = 0.0,
        believes: bool = True,
    ) -> None:
        self.believes = believes
        self.places = places
        self.settings = settings
        self.are_replicas = open_log is not None
        if not self.are_replicas:
            expect_no_copy(places.root)
        address_of(settings, places)  # one that is none is refused before anything is written
        self.extractors = extractor_factory(settings)
        self.open_log = open_log or writable_log
        self._opened: list[SqliteLog] = []
        expect_own_files(places.root)
        if load(places.root) is None:  # a directory of something else is refused before anything in it is changed
            self._expect_no_messages()
        self._lock = WriterLock(places.root, patience=patience)
        try:
            self.catalog = self._load_catalog() or self._create_catalog()
            self._stamp = stamp(places.catalog)
            if self.are_replicas:
                first = Catalog(self.catalog.generations[0].name, self.catalog.generations[:1])
                restore_ontologies(places, first, load_ontology(settings.ontology))  # believers see to the others
            self.remove_interrupted()
            if places.episodic.exists() and not places.messages.exists() and not self.are_replicas:
                raise DamagedLog(f"{places.messages} is missing, and {places.episodic} was made from it: restore it")
            self.messages = self._open(places.messages)
            self.episodic: SqliteLog = self._open(places.episodic)
            check_order(self.messages, self.episodic)
        except BaseException:
            self.close()
            raise

    def _load_catalog(self) -> Catalog | None:
        catalog = load(self.places.root)
        if catalog is not None and not self.are_replicas:
            catalog = catch_up(self.places)
        if catalog is not None and self.settings.keys is not None:
            move_keys(self.places.keys, self.settings.keys, lambda: used_trees(self.places))
        return catalog

    def _create_catalog(self) -> Catalog:
        """Make an empty directory's catalogue; nothing else in it may exist yet."""
        places = self.places
        self._expect_no_messages()
        ontology = load_ontology(self.settings.ontology)
        if self.settings.keys is not None:
            self._make_keys(self.settings.keys)
        info = first_generation(self.settings, self.extractors, ontology)
        keep_ontology(ontology, places.ontology)
        keep_ontology(ontology, places.ontology_of(FIRST))
        catalog = Catalog(FIRST, (info,))
        save(places.root, catalog)
        return catalog

    def _make_keys(self, folder: Path) -> None:
        expect_outside(folder, self.places)
        cipher(bytes(KEY_BYTES))  # without the package nothing is made
        make_keys(self.places.keys, folder)

    def _expect_no_messages(self) -> None:
        if self.places.messages.exists() and not self.are_replicas:
            raise ContractError("catalog.json is missing beside messages.sqlite: restore it, or move that file away")

    def decided(self) -> list[Event]:
        """Return what was decided about generations since this was last asked; the catalogue has it then.

        None of it for a copy of topics, whose control log is a topic.
        """
        found = stamp(self.places.catalog)
        if self.are_replicas or self._stamp == found:
            return []
        catalog = catch_up(self.places)
        events = decided(self.places, self.catalog.control, catalog.control)
        self.catalog, self._stamp = catalog, found
        return events

    def remove_interrupted(self) -> None:
        """Remove the rests of interrupted builds and drops, but for builds that can be gone on with."""
        with locked_folder(self.places.root):
            if self.believes:
                for folder in self._uncatalogued():
                    if not self.places.unfinished(folder.name).exists():
                        remove_folder(folder)
            for pattern in ("*.db.building*", *(["generations/*/*.db.building*"] if self.believes else [])):
                for file in self.places.root.glob(pattern):
                    if not is_held(file.parent, BUILD):
                        file.unlink(missing_ok=True)

    def remove_uncatalogued(self) -> bool:
        """Remove every folder of a generation that is in no catalogue, with a build that runs, and answers of a model.

        False: another generation was listed meanwhile, and nothing is removed.
        """
        if not self.believes:
            return True
        with locked_folder(self.places.root):
            if not self.are_replicas and self._stamp != stamp(self.places.catalog):
                return False
            for folder in self._uncatalogued():
                remove_folder(folder)
        return True

    def _uncatalogued(self) -> list[Path]:
        kept = {info.name for info in existing(self.places).generations}
        return [f for f in self.places.generations.iterdir() if is_name(f.name) and f.name not in kept]

    def _open(self, path: Path) -> SqliteLog:
        log = self.open_log(path)
        self._opened.append(log)
        return log

    def close(self) -> None:
        """Close the logs and let another process write."""
        self.extractors.close()
        for log in reversed(self._opened):
            log.close()
            reserve_index(log.path)
        self._lock.release()


def expect_outside(keys: Path, places: DirectoryLayout) -> None:
    """Refuse a store of keys in the data directory whose keys it has."""
    if keys.resolve().is_relative_to(places.root.resolve()):
        raise InvalidInput(
            f"{keys} is inside of the data directory, and copies of that would have the keys: name another one", "keys"
        )


def first_generation(settings: Settings, extractors: ExtractorFactory, ontology: Ontology) -> GenerationInfo:
    """Return the description of the generation that a new memory begins with, as the settings say.

    With a language model it also asks which facts a message ends.
    """
    asks = extractors.asks and "ingestion" not in settings.model_fields_set
    ingestion = IngestionConfig(enable_ending_questions=True) if asks else settings.ingestion
    version = extractors.version(ontology, ingestion)
    return describe(FIRST, ontology, settings.policy, "mentions", version, settings.consolidation, ingestion)
