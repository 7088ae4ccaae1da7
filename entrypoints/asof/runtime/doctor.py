"""Checks of the machine that asof runs on: Python, SQLite, extras, models, ontologies and the data directory.

Nothing is changed. Each finding says how to mend what is not there.
"""

import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaHealth
from asof.runtime.replica_manifest import is_copy, parts
from asof.runtime.wiring import load_ontology, used_trees
from asof_ontologies import registry
from asof_projections import generations
from asof_projections.embedding import weights
from asof_streams.distribution import install_command, version
from asof_streams.errors import AsofError, ModelUnavailable, NotFound
from asof_streams.key_store import key_place
from asof_streams.sqlite_log import SqliteLog

State = Literal["ok", "absent", "broken"]

_PYTHON: Final = (3, 11)
_EXTRAS: Final = {
    "minilm": ("tokenizers",),
    "torch": ("sentence_transformers",),
    "openai": ("openai",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "kafka": ("aiokafka", "cramjam", "faust"),
    "arango": ("arango",),
    "encryption": ("cryptography",),
    "mcp": ("mcp", "jwt"),
    "discord": ("discord", "aiohttp"),
    "leiden": ("graspologic_native",),
    "parquet": ("pyarrow",),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at. absent: asof works without it; broken: something does not work until it is mended."""

    what: str
    state: State
    found: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as the command line shows it."""
        return {"what": self.what, "state": self.state, "found": self.found, "remedy": self.remedy or None}


def examine(data: Path, model_dir: Path | None) -> Iterator[Diagnosis]:
    """Yield everything found; `data` is the directory asked about, `model_dir` where weights are said to be."""
    yield _python()
    yield _sqlite()
    for extra, modules in _EXTRAS.items():
        yield _extra(extra, modules)
    yield _weights(model_dir)
    for name in registry.names():
        yield _ontology(name)
    yield from _directory(data)


def _python() -> Diagnosis:
    found = f"{sys.version.split()[0]}, asof {version()}"
    if sys.version_info < _PYTHON:
        return Diagnosis("python", "broken", found, "asof needs Python 3.11 or later")
    return Diagnosis("python", "ok", found)


def _sqlite() -> Diagnosis:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except sqlite3.OperationalError:
        return Diagnosis(
            "sqlite", "broken", f"{sqlite3.sqlite_version} without FTS5", "use a Python whose SQLite has FTS5"
        )
    finally:
        database.close()
    return Diagnosis("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def _extra(name: str, modules: tuple[str, ...]) -> Diagnosis:
    missing = [module for module in modules if not _is_here(module)]
    if missing:
        return Diagnosis(f"extra {name}", "absent", f"no {', '.join(missing)}", install_command(name))
    return Diagnosis(f"extra {name}", "ok", ", ".join(modules))


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # nor is the package that it is in
        return False
    except ValueError:  # it is imported, and has put something else in its own place, as Faust does
        return True


def _weights(model_dir: Path | None) -> Diagnosis:
    what = "all-MiniLM-L6-v2"
    try:
        directory = weights.find_minilm(model_dir)
    except ModelUnavailable as error:
        return Diagnosis(what, "broken" if model_dir else "absent", str(error), weights.COMMAND)
    try:
        for name in weights.SHA256:
            weights.VerifiedFile(directory, name)
    except ModelUnavailable as error:
        return Diagnosis(what, "broken", str(error), weights.COMMAND)
    return Diagnosis(what, "ok", f"{directory}, sha256 verified")


def _ontology(name: str) -> Diagnosis:
    what = f"ontology {name}"
    try:
        ontology = load_ontology(name)
    except AsofError as error:
        return Diagnosis(what, "broken", str(error), "install asof again")
    kind = "closed" if ontology.closed else "open"
    counts = f"{len(ontology.entity_types)} entity types, {len(ontology.relation_types)} relation types"
    return Diagnosis(what, "ok", f"version {ontology.version}, {kind}, {counts}")


def _directory(data: Path) -> Iterator[Diagnosis]:
    if not data.exists():
        yield Diagnosis("directory", "absent", f"{data} does not exist yet", 'asof add "..." makes it')
        return
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK) or not data.is_dir():
        yield Diagnosis("directory", "broken", f"{data} is not a directory to read and write", "choose one with --data")
        return
    try:
        of_all = parts(data)
    except AsofError as error:
        yield Diagnosis("directory", "broken", str(error))
        return
    yield from _worker(data)
    for places in of_all:
        yield from _memory(places.root, "" if places.root == data else f"{places.root.name}: ")


def _memory(root: Path, whose: str) -> Iterator[Diagnosis]:
    """Yield what was found of a memory: that of a directory, or of one partition in it, with whose it is."""
    directory = f"{whose}directory"
    try:
        catalog = generations.load(root)
    except AsofError as error:
        yield Diagnosis(directory, "broken", str(error))
        return
    if catalog is None:
        remedy = "asof worker makes one" if whose or is_copy(root) else 'asof add "..." makes one'
        yield Diagnosis(directory, "absent", f"{root} holds no memory yet", remedy)
        return
    names = ", ".join(f"{g.name}{' (answers)' if g.name == catalog.active else ''}" for g in catalog.generations)
    yield Diagnosis(directory, "ok", f"{root}, generations: {names}")
    yield from _keys(root, f"{whose}keys")
    yield from _conversation(DirectoryLayout(root), f"{whose}conversation")
    writer = _writer(root)
    yield Diagnosis(f"{whose}writer", "ok", f"process {writer} is writing" if writer else "nobody is writing")


def _worker(data: Path) -> Iterator[Diagnosis]:
    """Yield what the worker or projector of a copy of topics says of itself, if one runs."""
    try:
        health = ReplicaHealth.read(data)
    except NotFound:
        return
    except AsofError as error:
        yield Diagnosis("worker", "broken", str(error))
        return
    now = clock.system()
    if not health.is_fresh(now):
        return
    faults = health.faults(now)
    remedy = "see the logs of the worker and of the broker; asof topics check looks at the topics"
    for fault in faults:
        yield Diagnosis("worker", "broken", fault, remedy)
    if not faults:
        spare = "".join(f"; {each.sentence(now)}" for each in health.unassigned)
        yield Diagnosis("worker", "ok", f"{len(health.partitions)} partitions open, {health.lag} records wait{spare}")


def _keys(root: Path, what: str) -> Iterator[Diagnosis]:
    try:
        place = key_place(DirectoryLayout(root).keys)
    except AsofError as error:
        yield Diagnosis(what, "broken", str(error))
        return
    if place is None:
        return
    if not place.is_there:
        yield Diagnosis(what, "broken", f"not in {place.folder}", "put them back, or say with ASOF_KEYS where they are")
        return
    try:
        place.expect(used_trees(DirectoryLayout(root)))
    except AsofError as error:
        yield Diagnosis(what, "broken", str(error), "restore the store of keys from a later backup of it")
        return
    yield Diagnosis(what, "ok", f"in {place.folder}: logs and backups are encrypted")


def _conversation(places: DirectoryLayout, what: str) -> Iterator[Diagnosis]:
    """Yield how far the messages were answered, where a bot answers."""
    if not places.conversation.exists():
        return
    try:
        with SqliteLog(places.conversation) as log:
            yield Diagnosis(what, "ok", f"{log.end()} records, answered before message {log.checkpoint()}")
    except AsofError as error:
        yield Diagnosis(what, "broken", str(error), "asof restore puts a backup into a new directory")


def _writer(root: Path) -> str | None:
    """Return the id of the process that holds the writer lock, which is asked for and at once given back."""
    try:
        with (root / "writer.lock").open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(20).decode("ascii", "replace").strip()
    except OSError:
        pass  # nobody has ever written
    return None
