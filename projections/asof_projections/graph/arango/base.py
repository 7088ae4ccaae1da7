"""The base of every part of the ArangoDB graph: its connection, and the execution of queries."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.errors import translated_errors
from asof_projections.graph.arango.schema import COLLECTIONS, INDEXES, prefix
from asof_projections.graph.arango.wire import Document, decode, encode, key, stored_groups
from asof_streams.backoff import Backoff
from asof_streams.errors import GraphUnavailable
from asof_streams.instants import INF

NO_LIMIT: Final = 10**9  # rows
LATEST: Final = INF - 1  # after every instant, before an open end
_PAGE: Final = 1_000  # rows of an answer
_NUMBERS: Final = 50_000  # of an answer that is numbers alone
T = TypeVar("T")
_GROUPS: Final = frozenset(("group", "groups"))  # parameters
_BACKOFF: Final = Backoff(0.05, 4.0, retries=3)


@dataclass(slots=True)
class ReadState:
    """The consistent read of a graph and of what is searched beside it: whether there is one, and its snapshot."""

    is_held: bool = False
    snapshot: Any = None  # a read-only transaction, which begins with the first read


class ArangoReader:
    """Reads through the connection of one log's graph. Each part of ArangoGraph inherits it and has one concern."""

    generation: str
    _log: str
    _db: Any  # the driver's database
    _where: str
    _memory: int  # bytes that a query may take on the server
    _state: ReadState

    def _query(self, query: str, **parameters: Any) -> list[Any]:
        """Return the rows of a query of `aql`, read page by page; the names of collections are bound here."""
        start, names = prefix(self._log), aql.binds(query)
        bound: dict[str, Any] = {f"@{kind}": start + kind for kind in COLLECTIONS.values() if f"@{kind}" in names}
        bound |= {
            name: stored_groups(value) if name in _GROUPS else encode(value) for name, value in parameters.items()
        }
        return [decode(row) for row in self._execute(query, bound, _NUMBERS if parameters.get("brief") else _PAGE)]

    def _execute(self, query: str, bound: dict[str, Any], page: int) -> list[Any]:
        def execute() -> list[Any]:
            return list(self._reading().aql.execute(query, bind_vars=bound, batch_size=page, **self._limits))

        if self._state.is_held:  # no retry: the state that was read is gone with its transaction
            return self._translated(execute)
        return self._with_retries(execute)

    @property
    def _limits(self) -> dict[str, Any]:
        """What every query is sent with."""
        return {"memory_limit": self._memory, "fail_on_warning": True}

    def _with_retries(self, work: Callable[[], T]) -> T:
        """Do idempotent work; again, where the server was busy or did not answer."""
        return _BACKOFF.retry(partial(self._translated, work), GraphUnavailable)

    def _translated(self, work: Callable[[], T]) -> T:
        with translated_errors(self._where):
            return work()

    def _reading(self) -> Any:
        """Return the database, or in a consistent read its snapshot, which begins with the first read."""
        state = self._state
        if not state.is_held:
            return self._db
        if state.snapshot is None:
            read = [prefix(self._log) + kind for kind in INDEXES]
            state.snapshot = self._db.begin_transaction(read=read, allow_implicit=True)
        return state.snapshot

    def _document(self, kind: str, identity: str) -> Document | None:
        with translated_errors(self._where):
            document = self._reading().collection(prefix(self._log) + kind).get(key(identity))
        return None if document is None else decode(document)

    def _page(
        self, kind: str, group: str | None, after: int, known: int, limit: int, beginning: str | None = None
    ) -> Any:
        """Return documents of a kind in log order; beginning: only names whose key begins so."""
        rows = {"@rows": prefix(self._log) + kind}
        return self._query(aql.PAGE, **rows, group=group, after=after, known=known, limit=limit, prefix=beginning)

    def _pages(
        self, kind: str, group: str | None, after: int = -1, known: int = INF, beginning: str | None = None
    ) -> Iterator[Document]:
        """Yield all documents of a kind in log order, read page by page."""
        while page := self._page(kind, group, after, known, _PAGE, beginning):
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1]["n"]

    def _ids(self, uuids: Sequence[str]) -> list[str]:
        """Return the ids of entities' documents."""
        return [f"{prefix(self._log)}entities/{key(uuid)}" for uuid in uuids]
