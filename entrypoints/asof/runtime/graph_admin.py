"""Making, checking and copying the graphs of a directory in the graph database of the settings."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from asof.runtime.graph_database import address_of, open_graph
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy, parts
from asof.runtime.wiring import existing, open_log
from asof.settings import Settings
from asof_projections.graph.arango import administration
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import rebuild
from asof_streams.errors import InvalidInput
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock

if TYPE_CHECKING:
    from asof_projections.graph.arango.administration import GraphStatus
    from asof_projections.graph.arango.connection import Address

Way = Literal["arango", "sqlite"]


@dataclass(frozen=True, slots=True)
class GraphCheck:
    """The state of one graph, and its fault; None: it has none."""

    where: str
    log: str
    position: int | None
    end: int
    digest: str | None
    wrong: str | None

    def to_json(self) -> dict[str, Any]:
        """Return it as it is shown."""
        return asdict(self)


def create(settings: Settings, *, replace: bool) -> list[str]:
    """Make the graphs of every log where there are none, empty; return whose there are then, and where."""
    made = []
    for places, address in _everywhere(settings):
        for log in _logs(places):
            administration.create(address, log, replace=replace)
            made.append(f"{log} in {address.where}")
    return made


def check(settings: Settings) -> list[GraphCheck]:
    """Compare every graph with its log and with the directory's own graph."""
    found = []
    for places, address in _everywhere(settings):
        there = {status.log: status for status in administration.statuses(address, _logs(places))}
        for name in _logs(places):
            status = there.get(name)
            with _log(places, name) as log:
                end = log.end()
                if status is None:
                    found.append(GraphCheck(address.where, name, None, end, None, "there is none: asof graph create"))
                elif not status.fit:
                    wrong = "made by another version, or not whole: asof graph create --replace"
                    found.append(GraphCheck(address.where, name, status.position, end, None, wrong))
                else:
                    found.append(_compared(places, address, name, status, end))
    return found


def copy(settings: Settings, to: Way) -> list[GraphCheck]:
    """Copy the graphs of one side to the other; return their state. WriterBusy: another process writes.

    Both follow the same logs, so that is where what is copied is read. To ArangoDB it goes on from wherever an earlier
    copy came to; a file is made beside the old one and put in its place when it is whole.
    """
    for places, address in _everywhere(settings):
        lock = WriterLock(places.root)
        try:
            for name in _logs(places):
                with _log(places, name) as log:
                    if to == "arango":
                        administration.follow(log, address, shared=is_copy(places.root)).close()
                    else:
                        rebuild(log, _graph(places, name))
        finally:
            lock.release()
    return check(settings)


def _everywhere(settings: Settings) -> Iterator[tuple[DirectoryLayout, "Address"]]:
    """Yield the directories of a memory, each with where its graphs are. InvalidInput: no memory, no database."""
    for places in parts(settings.data):
        existing(places)
        address = address_of(settings, places)
        if address is None:
            raise InvalidInput("which graph database? Give --graph arango, or set ASOF_GRAPH_URL", "graph_url")
        yield places, address


def _logs(places: DirectoryLayout) -> list[str]:
    return ["episodic", *(f"semantic.{info.name}" for info in existing(places).generations)]


def _log(places: DirectoryLayout, name: str) -> SqliteLog:
    layer, _, generation = name.partition(".")
    return open_log(places, layer, generation or None)


def _graph(places: DirectoryLayout, name: str) -> Path:
    _, _, generation = name.partition(".")
    return places.graph(generation) if generation else places.episodes


def _compared(places: DirectoryLayout, address: "Address", name: str, status: "GraphStatus", end: int) -> GraphCheck:
    """Hold a graph to the directory's own, by all that they say."""
    with open_graph(address, name) as there, SqliteGraph(_graph(places, name), name) as here:
        digest, positions = there.digest(), (there.position(), here.position())
        if positions == (end, end):
            wrong = None if digest == here.digest() else "it is not what the directory's own graph says: replace it"
        elif positions[0] <= end:
            wrong = "it is behind its log: the next write, or asof graph copy, brings it up"
        else:
            wrong = "it knows more than the log has: it is another memory's, or the log was put back"
    return GraphCheck(address.where, name, status.position, end, digest, wrong)
