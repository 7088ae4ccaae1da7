"""The graphs of a directory in a graph database, where the settings name one: kept up with its logs, and asked."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PARTITION, is_copy
from asof.settings import Settings
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.ports import BeliefStore
from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.log import EventLog

if TYPE_CHECKING:
    from asof_projections.graph.arango.connection import Address
    from asof_projections.graph.arango.store import ArangoGraph
    from asof_projections.vectors.ports import VectorIndex

Of = Literal["fact", "name"]


def address_of(settings: Settings, places: DirectoryLayout) -> "Address | None":
    """Return where the graphs of a directory are; None where its own files are asked. Each partition has a database.

    InvalidInput: the address is none, or the extra is not installed.
    """
    if not settings.in_arango:
        return None
    require_driver()
    from asof_projections.graph.arango.connection import Address

    address = Address.parse(settings.graph_url, _password(settings), settings.graph_query_memory << 20)
    name = places.root.name
    return address.beside(f"-{name}") if name.startswith(PARTITION) else address


def require_driver() -> None:
    """Refuse to go on where the extra is not installed."""
    if find_spec("arango") is None:
        raise InvalidInput(
            f"ArangoDB needs python-arango, which is not installed. Get it with: {install_command('arango')}"
        )


def open_graph(address: "Address", log: str) -> "ArangoGraph":
    """Open the graph of a log for reading. NotFound: there is none."""
    from asof_projections.graph.arango.store import ArangoGraph

    return ArangoGraph(address, log)


def vectors_of(
    settings: Settings, beliefs: BeliefStore, of: Of, file: Path, model_id: str, dimensions: int
) -> "VectorIndex":
    """Open the vectors of a graph's facts or names: in a file, unless the settings have them in its database."""
    if isinstance(beliefs, SqliteGraph):
        from asof_projections.vectors.faiss_index import FaissVectorIndex

        return FaissVectorIndex.open(file, model_id, dimensions)
    from asof_projections.graph.arango.store import ArangoGraph

    assert isinstance(beliefs, ArangoGraph)
    if settings.graph_vectors == "database":
        return beliefs.vectors(of, model_id, dimensions)
    from asof_projections.vectors.late_selection import LateSelectionIndex

    index = LateSelectionIndex.open(file, model_id, dimensions)
    index.graph = beliefs
    return index


def _password(settings: Settings) -> str | None:
    if settings.graph_password is not None:
        return settings.graph_password.get_secret_value()
    if settings.graph_password_file is None:
        return None
    try:
        return settings.graph_password_file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"{settings.graph_password_file} holds no password for ArangoDB that can be read") from None


class Graphs:
    """Follows the logs of a directory; `shared`: there are copies of them elsewhere, that it may follow too."""

    def __init__(self, address: "Address", *, shared: bool) -> None:
        self._address = address
        self._shared = shared
        self._stores: dict[str, ArangoGraph] = {}
        self._answers: str | None = None

    def follow(self, logs: Iterable[EventLog], answers: str) -> None:
        """Bring the graphs of these logs up to where they end, and let a generation answer. GraphUnavailable."""
        from asof_projections.graph.arango import administration

        for log in logs:
            store = self._stores.get(log.name)
            if store is None:
                self._stores[log.name] = administration.follow(log, self._address, shared=self._shared)
            else:
                administration.go_on(log, store, shared=self._shared)
        if self._answers != answers:
            administration.switch(self._address, answers)
            self._answers = answers

    def drop(self, log: str) -> None:
        """Remove the graph of a log."""
        from asof_projections.graph.arango import administration

        store = self._stores.pop(log, None)
        if store is not None:
            store.close()
        administration.drop(self._address, log)

    def close(self) -> None:
        """Let go of the database."""
        for store in self._stores.values():
            store.close()
        self._stores = {}


def graphs_of(settings: Settings, places: DirectoryLayout) -> Graphs | None:
    """Return the projector of a directory's graphs in a graph database; None where the settings name none."""
    address = address_of(settings, places)
    return None if address is None else Graphs(address, shared=is_copy(places.root))


def kept_up(settings: Settings, places: DirectoryLayout, logs: Iterable[EventLog]) -> bool:
    """Whether the graph database, where the settings name one, has all that these logs have."""
    address = address_of(settings, places)
    if address is None:
        return True
    from asof_projections.graph.arango import administration

    ends = {log.name: log.end() for log in logs}
    try:
        return ends == administration.positions(address, list(ends))
    except NotFound:
        return False
