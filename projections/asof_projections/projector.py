"""The projector of a graph store: it catches up with its log, or rebuilds the store where the two disagree."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from asof_projections.graph.ports import GraphStore
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import ContractError
from asof_streams.files import sync
from asof_streams.instants import INF
from asof_streams.log import EventLog

BATCH: Final = 5_000  # records a transaction
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")  # files that SQLite may have beside a store


def open_following(log: EventLog, path: Path) -> SqliteGraph:
    """Open a writable store and catch it up to the end of its log, or rebuild it.

    It is rebuilt if its file is damaged or has another schema, and if its head is not the log's head at its position:
    then it comes from a longer log, or from another one. So is one that is missing, unless its log is short: a new
    store that catches up is there sooner.
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
    elif log.end() <= BATCH:
        _remove(path, *_SIDE_FILES)
        store = SqliteGraph(path, log.name, writable=True)
        try:
            catch_up(log, store)
        except BaseException:
            store.close()
            raise
        return store
    rebuild(log, path)
    return SqliteGraph(path, log.name, writable=True)


def catch_up(log: EventLog, store: GraphStore, batch: int = BATCH) -> int:
    """Apply the records behind the store's position, `batch` a transaction; return its new position."""
    at = store.position()
    checkpoint, end = log.checkpoint(), log.end()  # in this order: another process may append meanwhile
    while at < end:
        stop = min(at + batch, end)
        store.apply(list(log.read(at, stop)))
        store.commit(stop, log.head(stop), checkpoint if stop == end else None)
        at = stop
    if not checkpoint <= store.checkpoint() < INF:
        store.commit(at, log.head(at), checkpoint)
    return at


def rebuild(log: EventLog, path: Path) -> None:
    """Build a store from the whole log beside `path`, then replace the old one in one step.

    No process may write to the old store meanwhile. An interrupted build leaves it as it was.
    """
    with replacing(log, path):
        pass


@contextmanager
def replacing(log: EventLog, path: Path) -> Iterator[SqliteGraph]:
    """Yield a new store, as `building` does, that takes the place of what is at `path` when this ends without an error.

    After an error nothing of it is left.
    """
    beside = path.with_name(path.name + ".building")
    try:
        with building(log, beside) as store:
            yield store
    except BaseException:
        _remove(beside, "", *_SIDE_FILES)
        raise
    put(beside, path)


@contextmanager
def building(log: EventLog, path: Path) -> Iterator[SqliteGraph]:
    """Yield a new store, filled in bulk with all records of the log; more may be applied.

    When this ends without an error the store is complete and on disk; after an error it is useless.
    """
    _remove(path, "", *_SIDE_FILES)
    with SqliteGraph(path, log.name, writable=True) as store, store.bulk():
        checkpoint, end = log.checkpoint(), log.end()
        records = log.read(0, end)
        while batch := list(islice(records, BATCH)):
            store.apply(batch)
        store.commit(end, log.head(end), checkpoint)
        yield store
    sync(path)


def put(built: Path, path: Path) -> None:
    """Replace a store by a built one, in one step."""
    _remove(path, *_SIDE_FILES)  # of the old store; SQLite would read them as the new one's
    built.replace(path)
    sync(path.parent)


def _agrees(log: EventLog, store: SqliteGraph) -> bool:
    at = store.position()
    return at <= log.end() and store.head() == log.head(at)


def _remove(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
