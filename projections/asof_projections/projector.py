"""Follows a log with a graph store: catching up from its position, or building it anew where the two do not agree."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from asof_projections.graph.ports import GraphStore
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import ContractError
from asof_streams.files import sync
from asof_streams.log import EventLog

BATCH: Final = 5_000  # records a transaction
_BESIDE: Final = ("-wal", "-shm", "-journal")  # files of SQLite's that a store may have beside its own


def open_following(log: EventLog, path: Path) -> SqliteGraph:
    """Return a writable store that stands where its log ends: caught up, or rebuilt where it cannot be.

    It is rebuilt where its file is missing, damaged or of another schema, and where its head is not the log's at its
    position (it knows what the log does not, or the log is another).
    """
    if path.exists():
        try:
            store = SqliteGraph(path, log.name, writable=True)
        except ContractError:
            pass
        else:
            if _agrees(log, store):
                catch_up(log, store)
                return store
            store.close()
    rebuild(log, path)
    return SqliteGraph(path, log.name, writable=True)


def catch_up(log: EventLog, store: GraphStore, batch: int = BATCH) -> int:
    """Apply what the log has and the store has not, `batch` records a transaction; return the store's position."""
    at = store.position()
    end = log.end()
    while at < end:
        stop = min(at + batch, end)
        store.apply(list(log.read(at, stop)))
        store.commit(stop, log.head(stop))
        at = stop
    return at


def rebuild(log: EventLog, path: Path) -> None:
    """Build a store from the whole log beside `path`, then put it there in one step. Nobody may write to the old one.

    An interrupted build leaves the old store as it was.
    """
    beside = path.with_name(path.name + ".building")
    with building(log, beside):
        pass
    put(beside, path)


@contextmanager
def building(log: EventLog, path: Path) -> Iterator[SqliteGraph]:
    """Give a new store, filled in bulk with all that the log has; more may be applied.

    It is whole, and on the disk, when this ends without an error; else it is worth nothing.
    """
    _remove(path, "", *_BESIDE)
    with SqliteGraph(path, log.name, writable=True) as store, store.bulk():
        end = log.end()
        records = log.read(0, end)
        while batch := list(islice(records, BATCH)):
            store.apply(batch)
        store.commit(end, log.head(end))
        yield store
    sync(path)


def put(built: Path, path: Path) -> None:
    """Put a built store in the place of another, in one step."""
    _remove(path, *_BESIDE)  # they belong to the old one, and would be taken for the new one's
    built.replace(path)
    sync(path.parent)


def _agrees(log: EventLog, store: SqliteGraph) -> bool:
    at = store.position()
    return at <= log.end() and store.head() == log.head(at)


def _remove(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
