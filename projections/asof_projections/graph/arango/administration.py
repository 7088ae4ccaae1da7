"""Administration of graphs in ArangoDB: creating, checking, dropping, catching up, and the active generation."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from asof_projections.graph.arango.connection import Address, MakeHttp, client, database, require_version
from asof_projections.graph.arango.errors import translated_errors
from asof_projections.graph.arango.schema import (
    CHECKPOINTS,
    INDEXES,
    VERSION,
    check,
    install,
    prefix,
    remove,
)
from asof_projections.graph.arango.store import ArangoGraph
from asof_projections.projector import catch_up
from asof_streams.chain import genesis
from asof_streams.errors import AccessDenied, ContractError, NotFound, PositionConflict
from asof_streams.log import EventLog

_ANSWERS: Final = "answers"  # key of the document with the active generation; no log has this name


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """The position of a graph in a database, and whether this version of asof can use it."""

    log: str
    position: int
    schema: str
    fit: bool


@contextmanager
def _connected(address: Address, http: MakeHttp | None) -> Iterator[Any]:
    """Yield a client, which is closed at the end; its errors are raised as ours."""
    opened = client(address, http)
    try:
        with translated_errors(address.where):
            yield opened
    finally:
        opened.close()


def create(address: Address, log: str, http: MakeHttp | None = None, *, replace: bool = False) -> None:
    """Create the database and an empty graph of a log, each unless it exists.

    Only to create a database is `_system` needed. replace: remove the log's graph first. AccessDenied: the user may
    not do this here. ContractError: a graph with another schema exists.
    """
    with _connected(address, http) as opened:
        db = database(opened, address)
        try:
            require_version(db, address.where)
        except NotFound:
            _create_database(opened, address)
        if replace:
            remove(db, log)
        checkpoint = _checkpoint(db, log)
        if checkpoint is not None:
            check(checkpoint["schema"], log)
        install(db, log)
        if checkpoint is None:
            start = {"_key": log, "schema": VERSION, "position": 0, "head": genesis(log).hex(), "last": -1, "mark": ""}
            db.collection(CHECKPOINTS).insert(start, overwrite_mode="replace")


def _create_database(opened: Any, address: Address) -> None:
    system = database(opened, address, "_system")
    try:
        require_version(system, address.where)
        with translated_errors(address.where):
            system.create_database(address.database, sharding="single")
    except AccessDenied:
        raise AccessDenied(
            f"ArangoDB at {address.where} has no such database, and this user may not create one: that takes the right "
            "rw on _system. Or have the database created, with the right rw on it for this user"
        ) from None


def drop(address: Address, log: str, http: MakeHttp | None = None) -> None:
    """Remove the graph of a log, if there is one."""
    with _connected(address, http) as opened:
        remove(database(opened, address), log)


def follow(log: EventLog, address: Address, http: MakeHttp | None = None, *, shared: bool = False) -> ArangoGraph:
    """Open the graph of a log, or create it, and catch it up as `go_on` does."""
    try:
        store = ArangoGraph(address, log.name, http)
    except NotFound:
        create(address, log.name, http)
        store = ArangoGraph(address, log.name, http)
    try:
        go_on(log, store, shared=shared)
    except BaseException:
        store.close()
        raise
    return store


def go_on(log: EventLog, store: ArangoGraph, *, shared: bool = False) -> None:
    """Catch a store up to the end of its log. Another process may do so at the same time, from the same log.

    shared: other processes have copies of the log, which may be longer. ContractError: the graph comes from another
    log, or from more records than this one has; it stays as it is, since it may belong to another memory.
    """
    store.rollback()
    while not (shared and store.position() > log.end()):
        if not store.follows(log):
            raise ContractError(
                f"the graph of {log.name} in ArangoDB stands at {store.position()} and comes from another "
                "log, or from a longer one: name another database, or replace it with asof graph create --replace"
            )
        try:
            catch_up(log, store)
        except PositionConflict:
            store.rollback()
        else:
            return


def statuses(address: Address, logs: Sequence[str], http: MakeHttp | None = None) -> list[GraphStatus]:
    """Return the status of the graphs of some logs, those that exist. NotFound: the database does not exist."""
    with _connected(address, http) as opened:
        db = database(opened, address)
        require_version(db, address.where)
        collections = {collection["name"] for collection in db.collections()}
        checkpoints = [_checkpoint(db, log) for log in logs]
        return [_status(checkpoint, collections, db) for checkpoint in checkpoints if checkpoint is not None]


def server_version(address: Address, http: MakeHttp | None = None) -> str:
    """Return the version of the server that holds a database. NotFound: the database does not exist."""
    with _connected(address, http) as opened:
        return require_version(database(opened, address), address.where)


def positions(address: Address, logs: Sequence[str], http: MakeHttp | None = None) -> dict[str, int]:
    """Return the positions of the graphs of some logs, those that exist. NotFound: the database does not exist."""
    with _connected(address, http) as opened:
        checkpoints = database(opened, address).collection(CHECKPOINTS).get_many(list(logs))
        return {checkpoint["_key"]: checkpoint["position"] for checkpoint in checkpoints}


def answering(address: Address, http: MakeHttp | None = None) -> str | None:
    """Return the active generation; None: none was ever chosen."""
    with _connected(address, http) as opened:
        document = _checkpoint(database(opened, address), _ANSWERS)
    return None if document is None else str(document["generation"])


def switch(address: Address, generation: str, http: MakeHttp | None = None) -> None:
    """Make another generation the active one; one document changes."""
    with _connected(address, http) as opened:
        checkpoints = database(opened, address).collection(CHECKPOINTS)
        checkpoints.insert({"_key": _ANSWERS, "generation": generation}, overwrite_mode="replace")


def _checkpoint(db: Any, key: str) -> Any:
    try:
        with translated_errors(""):
            return db.collection(CHECKPOINTS).get(key)
    except NotFound:  # nothing was ever created here
        return None


def _status(checkpoint: Any, collections: set[str], db: Any) -> GraphStatus:
    log, start = checkpoint["_key"], prefix(checkpoint["_key"])
    fit = checkpoint["schema"] == VERSION
    for kind in INDEXES:
        fit = fit and start + kind in collections
        if fit:
            names = {index["name"] for index in db.collection(start + kind).indexes()}
            fit = names >= INDEXES[kind].keys()
    return GraphStatus(log, checkpoint["position"], checkpoint["schema"], fit)
