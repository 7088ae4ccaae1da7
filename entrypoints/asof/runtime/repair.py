"""Repair of a directory: damaged derived files are deleted, and made again from the log before them.

Vectors, graphs and semantic logs are made from what is before them; the episodic log from the messages, as long as all
that was said is still there. The messages log is the truth: it comes back from a backup alone.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from asof.runtime.control_log import touch
from asof.runtime.integrity import Check, check_keys, inspect, verify
from asof.runtime.kept_ontologies import keep_ontology, kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import Progress, existing, load_ontology
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_ontologies import registry
from asof_ontologies.model import Ontology
from asof_projections.generations import GenerationInfo, save
from asof_projections.graph.sqlite_store.snapshots import remove_snapshot
from asof_streams.errors import AsofError, ContractError, DamagedData, InvalidInput, UnavailableError
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock

_SIDE_FILES: Final = ("", "-wal", "-shm")
_MAKES: Final = {"log": "decision about generations", "projection": "message to a bot"}  # of other files: a search


def repair(places: DirectoryLayout, settings: Settings, progress: Progress | None = None) -> list[Check]:
    """Make damaged files again; return their checks, as they are afterwards.

    A check that is still not ok says why it cannot be repaired. UnavailableError: a file can only not be read for now,
    as where the disk is full or another process has it, which says nothing of its content; nothing was deleted.
    DamagedFile: so it is where content is encrypted and a file of its keys is damaged: they come from a backup alone.
    """
    with WriterLock(places.root):
        check_keys(places)  # without them every log seems to be damaged
        damaged = _damaged(places, progress)
        refused: dict[str, str] = {}
        for what in damaged:  # each behind what it is made from
            source = _source(what)
            reason = _clear(places, what) if source not in refused else f"it is made from {source}: mend that first"
            if reason is not None:
                refused[what] = reason
    if damaged:
        _make_again(places, settings, expects_damage=bool(refused))
        touch(places)  # so that readers open the files anew
    after = {check.what: check for check in verify(places, progress)} if damaged else {}
    return [
        Check(what, ok=False, found=refused[what])
        if what in refused
        else after.get(what, Check(what, ok=True, found=f"made anew with the next {_next(what)}"))
        for what in damaged
    ]


def _make_again(places: DirectoryLayout, settings: Settings, *, expects_damage: bool) -> None:
    try:
        open_writer(places, settings).close()
    except DamagedData:
        if not expects_damage:
            raise


def _source(what: str) -> str | None:
    """Return the log that a log or a graph is made from, as its check is named; None: it is made from no log."""
    kind, _, name = what.partition(" ")
    if kind == "graph":
        return f"log {name.removeprefix('of ')}"
    if kind == "log" and name.startswith("semantic."):
        return "log episodic"
    return "log messages" if what == "log episodic" else None


def _damaged(places: DirectoryLayout, progress: Progress | None) -> list[str]:
    damaged = []
    for what, found in inspect(places, progress):
        if isinstance(found, UnavailableError):
            raise found
        if isinstance(found, AsofError):
            damaged.append(what)
    return damaged


def _next(what: str) -> str:
    return _MAKES.get(what.partition(" ")[0], "search")


def _clear(places: DirectoryLayout, what: str) -> str | None:
    """Delete a damaged file, and all that is derived from it; return why it cannot be made again, if it cannot."""
    kind, _, name = what.partition(" ")
    clear: dict[str, Callable[[], None]] = {
        "log": lambda: _clear_log(places, name),
        "graph": lambda: _clear_graph(_graph(places, name.removeprefix("of "))),
        "vectors": lambda: _remove(*_vectors(places, name)),
        "projection": lambda: _clear_conversations(places),
        "ontology": lambda: _restore(places, places.root / name),
    }
    try:
        clear[kind]()
    except AsofError as error:
        return str(error)
    return None


def _clear_graph(path: Path) -> None:
    _remove(path)
    remove_snapshot(path)  # it may have been taken of a damaged one


def _clear_conversations(places: DirectoryLayout) -> None:
    for path in (places.messages, places.conversation):
        with SqliteLog(path) as log:
            log.verify()
    _remove(places.conversations)


def _clear_log(places: DirectoryLayout, name: str) -> None:
    if name == "messages":
        raise ContractError(f"{places.messages} is the truth, and made from nothing: restore it from a backup")
    if name == "conversation":
        raise ContractError(f"{places.conversation} says what was answered, and is made from nothing: restore it")
    if name == "control":  # the catalogue has what it came to
        _remove(places.control)
        save(places.root, replace(existing(places), control=0))
    if name == "episodic":
        _expect_all_said(places)
        _remove(places.episodic, places.episodes, places.turns_index)
    for info in existing(places).generations:
        if name in ("episodic", f"semantic.{info.name}"):
            _remove(places.semantic(info.name), places.graph(info.name))
            _remove(places.index(info.name), places.names_index(info.name))


def _expect_all_said(places: DirectoryLayout) -> None:
    with SqliteLog(places.messages) as messages:
        messages.verify()
        if messages.has_suppressed():
            raise ContractError(
                f"{places.episodic} has what was read of messages whose content was suppressed, which cannot be read "
                "again: restore it from a backup"
            )


def _restore(places: DirectoryLayout, path: Path) -> None:
    """Write down an ontology again: from another copy in the directory, or as it comes with asof."""
    infos = existing(places).generations
    wanted = [info for info in infos if path == places.ontology_of(info.name)] or infos[:1]
    for ontology in _known(places, path, wanted[0]):
        if ontology.digest == wanted[0].ontology_digest or path.parent == places.named_ontology("*").parent:
            keep_ontology(ontology, path)
            return
    raise ContractError(f"{path} is damaged, and no other copy of it is here: restore it from a backup")


def _known(places: DirectoryLayout, path: Path, wanted: GenerationInfo) -> Iterator[Ontology]:
    if path.parent != places.named_ontology("*").parent:
        for other in (places.ontology, *(places.ontology_of(info.name) for info in existing(places).generations)):
            with suppress(DamagedData):
                yield kept_ontology(other)
    with suppress(InvalidInput):
        yield load_ontology(path.stem if path.parent == places.named_ontology("*").parent else wanted.ontology)
    if (of_before := registry.earlier(wanted.ontology_digest)) is not None:
        yield of_before


def _graph(places: DirectoryLayout, log: str) -> Path:
    return places.episodes if log == "episodic" else places.graph(log.removeprefix("semantic."))


def _vectors(places: DirectoryLayout, name: str) -> list[Path]:
    return [places.vectors] if name == places.vectors.name else [places.root / name]


def _remove(*paths: Path) -> None:
    for path in paths:
        for suffix in _SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
