"""The projector of a graph store: it catches up with its log, or makes the store anew where the two disagree."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from asof_projections.graph.ports import GraphStore
from asof_projections.graph.sqlite_store.snapshots import remove_snapshot, restore_snapshot
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import ContractError
from asof_streams.files import sync
from asof_streams.instants import INF
from asof_streams.log import EventLog

BATCH: Final = 5_000  # records a transaction
_BUILDING: Final = ".building"  # the ending of a store that is being made
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")  # files that SQLite may have beside a store


def open_following(log: EventLog, path: Path) -> SqliteGraph:
    """Open a writable store and catch it up to the end of its log, or make it anew.

    It is made anew if its file is damaged or has another schema, and if its head is not the log's head at its position:
    then it comes from a longer log, or from another one. It is made of its snapshot, where there is one of this log,
    else of the whole log. So is one that is missing, unless its log is short: a new store that catches up is there
    sooner.
    """
    is_there = path.exists()
    if is_there and (store := _caught_up(log, path)) is not None:
        return store
    if _put_snapshot(log, path):
        if (store := _caught_up(log, path)) is not None:
            return store
    elif not is_there and log.end() <= BATCH:
        _remove(path, *_SIDE_FILES)
        if (store := _caught_up(log, path)) is not None:
            return store
    rebuild(log, path)
    return SqliteGraph(path, log.name, writable=True)


def _caught_up(log: EventLog, path: Path) -> SqliteGraph | None:
    """Open a store and catch it up; None: it is damaged, has another schema, or is of another history."""
    try:
        store = SqliteGraph(path, log.name, writable=True)
    except ContractError:
        return None
    try:
        if _agrees(log, store):
            catch_up(log, store)
            return store
    except BaseException:
        store.close()
        raise
    store.close()
    return None


def _put_snapshot(log: EventLog, path: Path) -> bool:
    """Replace a store by its snapshot, in one step; return whether there is one of this log."""
    beside = place_beside(path)
    discard(beside)
    if not restore_snapshot(log, path, beside):
        return False
    _replace(beside, path)
    return True


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
    beside = place_beside(path)
    try:
        with building(log, beside) as store:
            yield store
    except BaseException:
        discard(beside)
        raise
    put(beside, path)


@contextmanager
def building(log: EventLog, path: Path) -> Iterator[SqliteGraph]:
    """Yield a new store, filled in bulk with all records of the log; more may be applied.

    When this ends without an error the store is complete and on disk; after an error it is useless.
    """
    with loading(path, log.name) as store:
        checkpoint, end = log.checkpoint(), log.end()
        records = log.read(0, end)
        while batch := list(islice(records, BATCH)):
            store.apply(batch)
        store.commit(end, log.head(end), checkpoint)
        yield store


@contextmanager
def loading(path: Path, log: str) -> Iterator[SqliteGraph]:
    """Yield a new and empty store that follows the log of a name, to be filled in bulk; otherwise as `building`."""
    discard(path)
    with SqliteGraph(path, log, writable=True) as store, store.bulk():
        yield store
    sync(path)


def place_beside(path: Path) -> Path:
    """Return where a store is made that is to take the place of the one at a path."""
    return path.with_name(path.name + _BUILDING)


def discard(path: Path) -> None:
    """Remove a store, and the files that SQLite may have beside it."""
    _remove(path, "", *_SIDE_FILES)


def put(built: Path, path: Path) -> None:
    """Replace a store by one that was built of the whole log, in one step. The snapshot of the old one is removed.

    What was erased since that was taken is not in the new store, so no erasure there would reach it.
    """
    remove_snapshot(path)
    _replace(built, path)
    remove_snapshot(path)  # one of the old store that was begun since


def _replace(built: Path, path: Path) -> None:
    _remove(path, *_SIDE_FILES)  # of the old store; SQLite would read them as the new one's
    built.replace(path)
    sync(path.parent)


def _agrees(log: EventLog, store: SqliteGraph) -> bool:
    at = store.position()
    return at <= log.end() and store.head() == log.head(at)


def _remove(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
