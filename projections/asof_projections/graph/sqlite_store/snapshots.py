"""Snapshots of a store: a copy of its file from which, with the rest of its log, a lost or damaged one is made again.

A snapshot is the file of a store, and behind it 512 bytes of JSON: the log and schema of the store, its position, the
chain's hash there, and the SHA-256 of the file. It stands beside the store. What is at rest in it is what is in the
store: so a store whose rows are erased has none, until the next one is taken.
"""

import errno
import json
import logging
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from shutil import copyfile
from typing import Any, Final

from asof_projections.graph.sqlite_store import schema
from asof_projections.graph.sqlite_store.inspection import REMEDY, check_pages
from asof_streams.errors import DamagedView, WriterBusy
from asof_streams.files import make_file, sync
from asof_streams.json_document import read_json
from asof_streams.log import EventLog
from asof_streams.sqlite import SqliteGuard, connect, owes_vacuum

_LABEL: Final = 512  # bytes
_CHUNK: Final = 1 << 20  # bytes
_FORMAT: Final = "asof-snapshot-1"
_EXHAUSTED: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """A snapshot of the graph that follows a log, as of a position of that log."""

    log: str
    position: int
    digest: str  # SHA-256 of the copied file
    size: int  # in bytes


def take_snapshot(path: Path, log: str) -> GraphSnapshot:
    """Take a snapshot of a store beside it, also while another process writes to the store; it replaces an earlier one.

    One process at a time may take one of the same store. NotFound: there is no store. DamagedView: the store is
    damaged. WriterBusy: rows are being erased, and copies of them may be in the file yet. StorageFailed.
    """
    fresh, kept = _fresh(path), _kept(path)
    with SqliteGuard(path, REMEDY, DamagedView):
        fresh.unlink(missing_ok=True)
        make_file(fresh)
        try:
            position, head = _copy(path, log, fresh)
            snapshot = _label(fresh, log, position, head)
            fresh.replace(kept)
        except (sqlite3.OperationalError, FileNotFoundError):
            if fresh.exists():
                raise
            raise WriterBusy(f"{path}: rows were erased from it meanwhile; try again") from None
        finally:
            fresh.unlink(missing_ok=True)  # what a full disk leaves of it would hold content, and space
        sync(path.parent)
    return snapshot


def _copy(path: Path, log: str, to: Path) -> tuple[int, bytes]:
    """Copy a store as it is at one moment; return its position, and the chain's hash there."""
    with closing(connect(path, writable=False, durable=False)) as store:
        schema.check(store, path, log)
        store.execute("BEGIN")  # of what is checked and read here, and copied, is one state
        check_pages(store, path)
        if owes_vacuum(store):
            raise WriterBusy(f"{path}: rows are being erased from it; try again when that is done")
        meta = dict(store.execute("SELECT key, value FROM meta WHERE key IN ('position', 'head')"))
        with closing(sqlite3.connect(f"{to.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = OFF")
            copy.execute("PRAGMA synchronous = OFF")
            store.backup(copy)
    return meta["position"], meta["head"]


def _label(file: Path, log: str, position: int, head: bytes) -> GraphSnapshot:
    """Write what a snapshot is of behind the copied file, and have all of it on the disk."""
    with file.open("r+b") as opened:  # never a new file: an erasure may have removed this one
        digest = file_digest(opened, "sha256").hexdigest()
        size = opened.tell()
        label = {"format": _FORMAT, "log": log, "schema": schema.VERSION, "position": position, "hash": head.hex()}
        opened.write(json.dumps({**label, "sha256": digest}).encode().ljust(_LABEL))
    sync(file)
    return GraphSnapshot(log, position, digest, size)


def restore_snapshot(log: EventLog, path: Path, to: Path) -> bool:
    """Copy the snapshot of a store to a new file; return whether there was one that is whole and of this log.

    One that is not is removed, with a warning. StorageFailed: there is no space to copy it to; it stays.
    """
    kept = _kept(path)
    with SqliteGuard(kept, REMEDY, DamagedView):
        try:
            fault = _restore(log, kept, to)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno in _EXHAUSTED:
                to.unlink(missing_ok=True)
                raise
            fault = error.strerror or "it cannot be read"
        if fault is not None:
            _log.warning("%s is not used, and removed: %s", kept, fault)
            to.unlink(missing_ok=True)
            remove_snapshot(path)
    return fault is None


def _restore(log: EventLog, kept: Path, to: Path) -> str | None:
    """Return why a snapshot cannot be used; None: it was copied."""
    size = kept.stat().st_size - _LABEL
    if size < 0:
        return "it is damaged"
    with kept.open("rb") as file:
        file.seek(size)
        label = _parsed(file.read())
        if (found := label.get("schema")) != schema.VERSION:
            return "it is damaged" if found is None else "another version of asof made it"
        position = label.get("position")
        if label.get("log") != log.name or not isinstance(position, int) or not 0 <= position <= log.end():
            return "it is of another log, or of a longer one"
        if label.get("hash") != log.head(position).hex():
            return "it is of another history"
        file.seek(0)
        to.unlink(missing_ok=True)
        make_file(to)
        hashed, left = sha256(), size
        with to.open("r+b") as copy:
            while chunk := file.read(min(_CHUNK, left)):
                hashed.update(chunk)
                copy.write(chunk)
                left -= len(chunk)
    if hashed.hexdigest() != label.get("sha256"):
        return "it is damaged"
    sync(to)
    return None


def _parsed(label: bytes) -> dict[str, Any]:
    try:
        found = read_json(label)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.get("format") == _FORMAT else {}


def copy_snapshot(path: Path, to: Path) -> None:
    """Copy the snapshot of a store, if there is one, to where another store is to be. StorageFailed."""
    kept, copy = _kept(path), _kept(to)
    with SqliteGuard(kept, REMEDY, DamagedView):
        if kept.is_file():
            make_file(copy)
            copyfile(kept, copy)


def remove_snapshot(path: Path) -> None:
    """Remove the snapshot of a store, and one that is being taken, which then fails."""
    for file in (_fresh(path), _kept(path)):  # in this order: else one that is done meanwhile would stay
        file.unlink(missing_ok=True)


def _kept(path: Path) -> Path:
    """Return where the snapshot of a store is: "*.db" is to name all files that have content in the clear."""
    return path.with_name(f"{path.stem}.snapshot{path.suffix}")


def _fresh(path: Path) -> Path:
    return path.with_name(f"{path.stem}.snapshot.new{path.suffix}")
