"""Backups of a directory: its logs and the small files beside them, in one file. All else is made again from these.

The derived logs are copied before their sources, so that what is derived is never ahead of its source, while another
process writes. A backup may continue an earlier one: then it holds what came after that.
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.snapshots import copy_snapshots
from asof.runtime.wiring import Progress, existing, used_trees
from asof.settings import Settings
from asof_projections.generations import Catalog
from asof_streams.backup_file import CLEAR, FORMAT, VERSION, BackupWriter, Line, read_backup, row_of, written_backup
from asof_streams.distribution import version
from asof_streams.errors import DamagedFile, DamagedLog, InvalidInput
from asof_streams.files import make_folder, replace_file, sync
from asof_streams.key_store import move_keys
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Head
from asof_streams.stored_log import restore_rows, stored_log

_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_LOGS: Final = re.compile(
    rf"(?:control|conversation|messages|episodic)\.sqlite|generations/({_NAME})/semantic\.\1\.sqlite"
)
_FILES: Final = re.compile(
    rf"catalog\.json|keys\.json|ontology\.json|ontologies/{_NAME}\.json|generations/{_NAME}/ontology\.json"
)


@dataclass(frozen=True, slots=True)
class BackupLog:
    """The records of one log in a backup: the positions [start, end)."""

    log: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Backup:
    """The content of a backup's file. after: the digest of the backup that it continues; None: it holds everything."""

    file: str
    digest: str
    after: str | None
    logs: tuple[BackupLog, ...]


class _End(NamedTuple):
    position: int
    hash: bytes


def back_up(places: DirectoryLayout, file: Path, after: Path | None, progress: Progress | None) -> Backup:
    """Write the backup of a directory, also while another process writes to it.

    after: the backup that it is to continue. InvalidInput: the directory is a copy of topics, or that backup is of
    another one. DamagedFile: it is none. StorageFailed.
    """
    if is_copy(places.root):
        raise InvalidInput(f"{places.root} is a copy of topics: back the topics up, and delete it at will")
    catalog = existing(places)
    earlier = _Earlier.read(after) if after else _Earlier(None)
    logs: list[BackupLog] = []
    beliefs = (places.semantic(info.name) for info in catalog.generations)
    paths = [places.control, places.conversation, *beliefs, places.episodic, places.messages]
    form = VERSION if places.keys.exists() else CLEAR
    with written_backup(file) as writer:
        writer.write({"format": FORMAT, "version": form, "release": version(), "after": earlier.digest})
        for path in small_files(places, catalog):
            writer.write({"file": _relative(places, path), "text": path.read_text("utf-8")})
        for number, path in enumerate(path for path in paths if path.exists()):
            logs.append(_write_log(writer, _relative(places, path), path, earlier.ends))
            if progress:
                progress(number + 1, len(paths))
        if after and not any(log.start for log in logs):
            raise InvalidInput(
                f"{after} is a backup of another memory: leave it out, for a backup of everything", "after"
            )
        digest = writer.finish()
    return Backup(str(file), digest, earlier.digest, tuple(logs))


def restore(files: Sequence[Path], places: DirectoryLayout, settings: Settings, snapshots: Path | None) -> Backup:
    """Make a directory of a backup and those that continue it, in their order; then what is made from its logs.

    snapshots: a directory whose snapshots of graphs are used, as far as they are of these logs. InvalidInput: there is
    none, there is something in the directory to make, or a backup does not continue the one before it. DamagedFile: a
    backup is not what was written; nothing is left then. What was erased after the first backup is erased.
    """
    if snapshots is not None and not snapshots.is_dir():
        raise InvalidInput(f"there is no directory {snapshots}", "snapshots")
    with new_directory(places, "data") as beside:
        restored = _restore_logs(files, beside, settings.keys)
        if snapshots is not None:
            copy_snapshots(DirectoryLayout(snapshots), beside)
    from asof.runtime.writer import open_writer  # with all that derives beliefs

    open_writer(places, settings).close()
    return restored


@contextmanager
def new_directory(places: DirectoryLayout, field: str) -> Iterator[DirectoryLayout]:
    """Let a directory be made beside the place where it then appears as a whole; nothing is left of one that fails.

    InvalidInput: there is something in it; it names the field that the directory was given in.
    """
    root = places.root
    if root.exists() and not (root.is_dir() and not any(root.iterdir())):
        raise InvalidInput(f"{root} is not empty: name a directory that is not there yet, then move it", field)
    beside = DirectoryLayout(root.with_name(root.name + ".restored"))
    shutil.rmtree(beside.root, ignore_errors=True)  # of one that was interrupted
    try:
        yield beside
        make_folder(root)
        root.rmdir()
        beside.root.rename(root)
        sync(root.parent)
    finally:
        shutil.rmtree(beside.root, ignore_errors=True)


def small_files(places: DirectoryLayout, catalog: Catalog) -> Iterator[Path]:
    """Yield the files that say how logs are read: they change by whole files, and rarely."""
    found = [places.catalog, places.keys, places.ontology, *places.named_ontology("*").parent.glob("*.json")]
    found += [places.ontology_of(info.name) for info in catalog.generations]
    return (path for path in found if path.exists())


def _relative(places: DirectoryLayout, path: Path) -> str:
    return path.relative_to(places.root).as_posix()


def _write_log(writer: BackupWriter, name: str, path: Path, ends: Mapping[str, _End]) -> BackupLog:
    with stored_log(path) as log:
        head, start = log.head, 0
        if name in ends and log.hash_at(ends[name].position) == ends[name].hash:
            start = ends[name].position
        reached = {"end": head.position, "hash": head.hash.hex(), "checkpoint": head.checkpoint, "term": head.term}
        writer.write({"log": name, "start": start, **reached})
        writer.write_rows(log.rows(start))
    return BackupLog(name, start, head.position)


@dataclass(slots=True)
class _Earlier:
    """The digest of an earlier backup, and where each of its logs ends."""

    digest: str | None
    ends: dict[str, _End] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "_Earlier":
        found = cls(None)
        for line in read_backup(path):
            match line:
                case {"log": str(log), "end": int(end), "hash": str(hash_)}:
                    found.ends[log] = _End(end, bytes.fromhex(hash_))
                case {"sha256": str(digest)}:
                    found.digest = digest
        return found


def _restore_logs(files: Sequence[Path], places: DirectoryLayout, keys: Path | None) -> Backup:
    restored: Backup | None = None
    for file in files:
        restored = _Restorer(places, file, None if restored is None else restored.digest, keys).run()
    if restored is None:
        raise InvalidInput("name the file of a backup", "files")
    return restored


class _Restorer:
    """Restores the lines of one backup into a directory that nobody uses yet."""

    def __init__(self, places: DirectoryLayout, file: Path, before: str | None, keys: Path | None) -> None:
        self._places = places
        self._file = file
        self._before = before
        self._keys = keys
        self._lines = read_backup(file)
        self._logs: list[BackupLog] = []

    def run(self) -> Backup:
        try:
            after, digest = self._expect_header(next(self._lines)), ""
            for line in self._lines:
                match line:
                    case {"file": str(name), "text": str(text)} if _FILES.fullmatch(name):
                        path = self._places.root / name
                        make_folder(path.parent)
                        replace_file(path, [text.encode()])
                    case {
                        "log": str(name),
                        "start": int(start),
                        "end": int(end),
                        "hash": str(hash_),
                        "checkpoint": int(checkpoint),
                        "term": int(term),
                    } if _LOGS.fullmatch(name):
                        self._restore_log(name, start, Head(end, bytes.fromhex(hash_), checkpoint, term))
                    case {"sha256": str(digest)}:
                        pass
                    case _:
                        raise self._unknown()
        except (StopIteration, KeyError, IndexError, TypeError, ValueError, DamagedLog):
            raise self._unknown() from None
        if self._keys is not None:
            move_keys(self._places.keys, self._keys, lambda: used_trees(self._places))
        self._drop_other_logs()
        self._erase()
        return Backup(str(self._file), digest, after, tuple(self._logs))

    def _expect_header(self, line: Line) -> str | None:
        if not isinstance(line, dict) or line.get("format") != FORMAT:
            raise self._unknown()
        if line["version"] not in {CLEAR, VERSION}:
            raise InvalidInput(f"{self._file} was written by a later version of asof: {line['release']}", "files")
        after: str | None = line["after"]
        if after != self._before:
            raise InvalidInput(
                f"{self._file} does not continue the backup before it: name the whole one first, then each that "
                "continues it, in order",
                field="files",
            )
        return after

    def _restore_log(self, name: str, start: int, end: Head) -> None:
        path = self._places.root / name
        make_folder(path.parent)
        if start == 0:
            path.unlink(missing_ok=True)  # a generation of this name was built anew
        rows = (row_of(cast("list[Any]", line)) for line in islice(self._lines, end.position - start))
        restore_rows(path, start, rows, end)
        self._logs.append(BackupLog(name, start, end.position))

    def _erase(self) -> None:
        """Erase what the messages ask for that came after the derived logs, or the earlier backup, were copied."""
        apart = {self._places.messages.name, self._places.control.name}  # a decision is about no group
        derived = [self._places.root / log.log for log in self._logs if log.log not in apart]
        with ExitStack() as opened:
            messages, *others = [
                opened.enter_context(SqliteLog(path, writable=True)) for path in (self._places.messages, *derived)
            ]
            start = next((log.start for log in self._logs if log.log == self._places.messages.name), 0)
            if not start:
                start = min((log.cause_of(log.end() - 1) for log in others if log.end()), default=0)
            for record in messages.read(max(start, 0)):
                if isinstance(record.event, ErasureRequest):
                    messages.erase(record.group, before=record.position)
                    for log in others:
                        log.erase(record.group, before=log.caused_by(record.position))
                elif isinstance(record.event, RedactionRequest):
                    messages.redact(record.group, record.event.positions)
                    for log in others:
                        if (
                            log.name != "episodic" or log.checkpoint() > record.position
                        ):  # else what is left is told yet
                            log.erase(record.group, before=log.caused_by(record.position))
            for log in (messages, *others):
                log.vacuum()

    def _drop_other_logs(self) -> None:
        """Remove the generations of the earlier backup that were dropped before this one."""
        kept = {log.log for log in self._logs}
        for folder in self._places.generations.glob("*"):
            if _relative(self._places, self._places.semantic(folder.name)) not in kept:
                shutil.rmtree(folder)

    def _unknown(self) -> DamagedFile:
        return DamagedFile(f"{self._file} is no backup, or was changed: take another copy of it")
