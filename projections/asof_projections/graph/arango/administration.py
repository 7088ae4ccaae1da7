"""Making, checking and emptying graphs in ArangoDB; following a log with one; and which generation answers."""

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
from asof_streams.errors import ContractError, NotFound, PositionConflict
from asof_streams.log import EventLog

_ANSWERS: Final = "answers"  # the key of the document that names the generation that answers; no log is called so


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """A graph in a database, and whether this version of asof can use it."""

    log: str
    position: int
    schema: str
    fit: bool


@contextmanager
def _connected(address: Address, http: MakeHttp | None) -> Iterator[Any]:
    """Give a client for as long as it is needed; what it raises is told as asof does."""
    opened = client(address, http)
    try:
        with translated_errors(address.where):
            yield opened
    finally:
        opened.close()


def create(address: Address, log: str, http: MakeHttp | None = None, *, replace: bool = False) -> None:
    """Make the database where there is none, and an empty graph of a log where there is none; what is there stays.

    replace: what there is of the log is removed first. ContractError: a graph of another schema is there.
    """
    with _connected(address, http) as opened:
        system = database(opened, address, "_system")
        require_version(system, address.where)
        if not system.has_database(address.database):
            system.create_database(address.database, sharding="single")
        db = database(opened, address)
        if replace:
            remove(db, log)
        checkpoint = _checkpoint(db, log)
        if checkpoint is not None:
            check(checkpoint["schema"], log)
        install(db, log)
        if checkpoint is None:
            start = {"_key": log, "schema": VERSION, "position": 0, "head": genesis(log).hex(), "last": -1, "mark": ""}
            db.collection(CHECKPOINTS).insert(start, overwrite_mode="replace")


def drop(address: Address, log: str, http: MakeHttp | None = None) -> None:
    """Remove the graph of a log."""
    with _connected(address, http) as opened:
        remove(database(opened, address), log)


def follow(log: EventLog, address: Address, http: MakeHttp | None = None, *, shared: bool = False) -> ArangoGraph:
    """Return a store that stands where its log ends, made where there is none; otherwise as `go_on`."""
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
    """Bring a store up to where its log ends. What somebody else brings up meanwhile, by the same log, is passed over.

    shared: others have copies of the log, which may go further. ContractError: what is there is of another log, or
    knows more than this one; it is left as it is, since the database may be another memory's.
    """
    store.rollback()
    while not (shared and store.position() > log.end()):
        if not store.follows(log):
            raise ContractError(
                f"the graph of {log.name} in ArangoDB stands at {store.position()} of another log, or of more than "
                "this one has: name another database, or replace it with asof graph create --replace"
            )
        try:
            catch_up(log, store)
        except PositionConflict:
            store.rollback()
        else:
            return


def statuses(address: Address, logs: Sequence[str], http: MakeHttp | None = None) -> list[GraphStatus]:
    """Return how the graphs of some logs stand, of those that there are. NotFound: there is no such database."""
    with _connected(address, http) as opened:
        db = database(opened, address)
        require_version(db, address.where)
        collections = {collection["name"] for collection in db.collections()}
        checkpoints = [_checkpoint(db, log) for log in logs]
        return [_status(checkpoint, collections, db) for checkpoint in checkpoints if checkpoint is not None]


def positions(address: Address, logs: Sequence[str], http: MakeHttp | None = None) -> dict[str, int]:
    """Return where the graphs of some logs stand, of those that there are. NotFound: there is no such database."""
    with _connected(address, http) as opened:
        checkpoints = database(opened, address).collection(CHECKPOINTS).get_many(list(logs))
        return {checkpoint["_key"]: checkpoint["position"] for checkpoint in checkpoints}


def answering(address: Address, http: MakeHttp | None = None) -> str | None:
    """Return the generation that answers, None where none was ever chosen."""
    with _connected(address, http) as opened:
        document = _checkpoint(database(opened, address), _ANSWERS)
    return None if document is None else str(document["generation"])


def switch(address: Address, generation: str, http: MakeHttp | None = None) -> None:
    """Let another generation answer, in one document."""
    with _connected(address, http) as opened:
        checkpoints = database(opened, address).collection(CHECKPOINTS)
        checkpoints.insert({"_key": _ANSWERS, "generation": generation}, overwrite_mode="replace")


def _checkpoint(db: Any, key: str) -> Any:
    try:
        with translated_errors(""):
            return db.collection(CHECKPOINTS).get(key)
    except NotFound:  # nothing was ever made here
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
