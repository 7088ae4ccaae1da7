"""The base of every part of the ArangoDB graph: its connection, and the execution of queries."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.errors import translated_errors
from asof_projections.graph.arango.schema import COLLECTIONS, VIEW, prefix
from asof_projections.graph.arango.wire import Document, decode, encode, key, stored_groups
from asof_streams.backoff import Backoff
from asof_streams.errors import GraphUnavailable
from asof_streams.instants import INF

NO_LIMIT: Final = 10**9  # rows
LATEST: Final = INF - 1  # after every instant, before an open end
_BATCH: Final = 100_000  # rows of an answer
_PAGE: Final = 1_000  # rows
_MEMORY: Final = 1 << 30  # bytes a query may take on the server
_LIMITS: Final = {"batch_size": _BATCH, "memory_limit": _MEMORY, "fail_on_warning": True}
T = TypeVar("T")
_GROUPS: Final = frozenset(("group", "groups"))  # parameters
_BACKOFF: Final = Backoff(0.05, 4.0, retries=3)


class ArangoReader:
    """Reads through the connection of one log's graph. Each part of ArangoGraph inherits it and has one concern."""

    generation: str
    _log: str
    _db: Any  # the driver's database
    _where: str
    _snapshot: Any = None  # the read-only transaction of a consistent read
    _reading_one_state = False

    def _query(self, query: str, **parameters: Any) -> list[Any]:
        """Return the rows of a query of `aql`; the names of collections and of the view are bound here.

        A query of the view reads what is committed now, even within a consistent read: waiting for a view is not
        possible in a transaction.
        """
        start, names = prefix(self._log), aql.binds(query)
        bound: dict[str, Any] = {
            f"@{kind}": start + kind for kind in (*COLLECTIONS.values(), VIEW) if f"@{kind}" in names
        }
        bound |= {
            name: stored_groups(value) if name in _GROUPS else encode(value) for name, value in parameters.items()
        }
        held = self._reading_one_state and f"@{VIEW}" not in names
        return [decode(row) for row in self._execute(query, bound, held=held)]

    def _execute(self, query: str, bound: dict[str, Any], *, held: bool) -> list[Any]:
        def execute() -> list[Any]:
            database = self._reading() if held else self._db
            return list(database.aql.execute(query, bind_vars=bound, **_LIMITS))

        if held:  # no retry: the state that was read is gone with its transaction
            return self._translated(execute)
        return self._with_retries(execute)

    def _with_retries(self, work: Callable[[], T]) -> T:
        """Do idempotent work; again, where the server was busy or did not answer."""
        return _BACKOFF.retry(partial(self._translated, work), GraphUnavailable)

    def _translated(self, work: Callable[[], T]) -> T:
        with translated_errors(self._where):
            return work()

    def _reading(self) -> Any:
        """Return the database, or in a consistent read its snapshot, which begins with the first read."""
        if not self._reading_one_state:
            return self._db
        if self._snapshot is None:
            read = [prefix(self._log) + kind for kind in COLLECTIONS.values()]
            self._snapshot = self._db.begin_transaction(read=read, allow_implicit=True)
        return self._snapshot

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
