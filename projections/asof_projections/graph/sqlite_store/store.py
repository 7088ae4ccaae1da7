"""The bi-temporal graph in one SQLite file, whose rows and position change in one transaction.

A store follows one log: `episodes.db` the episodic log, `graph.db` that of its generation, with one schema and one
class. It is disposable: a lost or damaged file is built again from its log (asof_projections.projector).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from asof_projections.graph.sqlite_store import schema
from asof_projections.graph.sqlite_store.checkpoints import Checkpoints
from asof_projections.graph.sqlite_store.details import SqliteDetails
from asof_projections.graph.sqlite_store.event_projector import SqliteEventProjector
from asof_projections.graph.sqlite_store.fts import FullTextSearch
from asof_projections.graph.sqlite_store.history import SqliteHistory
from asof_projections.graph.sqlite_store.name_numbers import SqliteNames
from asof_projections.graph.sqlite_store.posts import SqlitePosts
from asof_projections.graph.sqlite_store.row_ids import Claim
from asof_projections.graph.sqlite_store.snapshots import remove_snapshot
from asof_projections.graph.sqlite_store.turns import SqliteTurns
from asof_streams.episodic import EpisodeWithdrawn, GroupErased
from asof_streams.errors import DamagedView, PositionConflict
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.semantic import EntityUndescribed, RelationDeclared
from asof_streams.sqlite import SqliteGuard, connect, create, owes_vacuum, vacuum

# After these events cached reads may be wrong.
_INVALIDATING: Final = frozenset((EpisodeWithdrawn, EntityUndescribed, GroupErased, RelationDeclared))
REMEDY: Final = "rebuild it from its log"
_COMMITTED: Final = "INSERT OR REPLACE INTO meta VALUES ('position', ?), ('head', ?)"
_FOLLOWED: Final = f"{_COMMITTED}, ('checkpoint', ?)"
_READING: Final = ("PRAGMA cache_size = -65536",)  # KiB
_WRITING: Final = (  # ids are random, so a commit touches many pages: copy them back seldom
    "PRAGMA cache_size = -32768",  # KiB, of a commit; the system keeps the other pages, once for all processes
    "PRAGMA wal_autocheckpoint = 65536",  # pages, where Checkpoints come too late
)
_LOADING: Final = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA cache_size = -65536",  # KiB: with four times as much it took as long
    "PRAGMA threads = 2",
)
_SORTING: Final = (
    "PRAGMA cache_size = -4096",
)  # KiB; it also bounds the size of a sort, so that a second thread sorts too


class SqliteGraph(SqliteHistory, FullTextSearch, SqliteDetails, SqliteNames, SqliteTurns, SqlitePosts):
    """A GraphStore in the file `path` that follows the log named `log`. Used by the thread that opened it.

    writable: made where there is none; one process may write at a time. NotFound: there is none to read.
    ContractError: it follows another log, or was made by a version with another schema.
    """

    def __init__(self, path: Path, log: str, *, writable: bool = False) -> None:
        self.path: Final = path
        self.generation = log.partition(".")[2]
        self._guard = SqliteGuard(path, REMEDY, DamagedView)
        with self._guard:
            if writable and not path.exists():
                create(path, schema.script(log))
            # after a power cut the store is caught up from its log
            self._db = connect(path, writable=writable, durable=False)
            try:
                schema.check(self._db, path, log)
                self._set(_WRITING if writable else _READING)
            except BaseException:
                self._db.close()
                raise
        self._projector = SqliteEventProjector(self._db, self._index_for, empty=writable and self.position() == 0)
        if writable:
            self._write_buffer, self._cache = self._projector.write_buffer, self._projector.cache
            self._slots, self._turns = self._projector.slots, self._projector.turns
        self._checkpoints = Checkpoints(path, self._db)
        self._next: int | None = None  # while a transaction is open: the position after the last record applied
        self._loading = False
        self._indexed: set[str] = set()  # during a bulk load: the indexes that are there

    def close(self) -> None:
        self._checkpoints.wait()
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _entity(self, uuid: str) -> int:
        known = self._projector.row_ids.remembered_entity(uuid)
        if known is not None:
            return known
        rows = self._rows_on(uuid, "SELECT n FROM entities WHERE uuid = ?", (uuid,))
        return rows[0][0] if rows else -1

    def _remember_fact(self, uuid: str, n: int, claim: Claim) -> None:
        self._projector.row_ids.remember_fact(uuid, n, claim)

    def begin_read(self) -> bool:
        """Begin a consistent read: until `end_read` all reads see one state. False: a transaction is open already."""
        if self._db.in_transaction:
            return False
        self._execute("BEGIN")
        return True

    def end_read(self) -> None:
        """End a consistent read: later reads see what was committed since `begin_read`."""
        self._execute("COMMIT")

    def position(self) -> int:
        """Return the position of the log up to which its records are committed here."""
        at: int = self._one("SELECT value FROM meta WHERE key = 'position'")
        return at

    def head(self) -> bytes:
        """Return the chain's hash over all records before the position."""
        head: bytes = self._one("SELECT value FROM meta WHERE key = 'head'")
        return head

    def checkpoint(self) -> int:
        """Return the log's checkpoint as of the last commit that named one; INF: no commit has."""
        at: int | None = self._one("SELECT value FROM meta WHERE key = 'checkpoint'")
        return INF if at is None else at

    def begin(self) -> None:
        """Open a transaction, unless one is open."""
        if self._next is None:
            with self._guard:
                self._db.execute("BEGIN IMMEDIATE")
                self._next = self.position()

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position: visible to this store's own reads at once, to others after commit.

        Records at positions that were applied before are skipped. Positions may be missing, since erased records are
        not read.
        """
        self.begin()
        assert self._next is not None
        with self._guard:
            for record in records:
                if record.position >= self._next:
                    self._projector.apply(record)
                    self._next = record.position + 1
                    if type(record.event) in _INVALIDATING:
                        self._projector.cache.clear()

    def commit(self, position: int, head: bytes, checkpoint: int | None = None) -> None:
        """Make the applied records visible, with the position behind them and the chain's hash up to there.

        checkpoint: that of the log there; None: it stays, since more of the same input follows.

        PositionConflict: a record at or after that position was applied.
        """
        self.begin()
        assert self._next is not None
        if position < self._next:
            raise PositionConflict(
                f"{self.path} has applied records up to {self._next}: it cannot commit at {position}"
            )
        with self._guard:
            self._projector.index_words()
            if checkpoint is None:
                self._db.execute(_COMMITTED, (position, head))
            else:  # a file of an earlier version has no such row
                self._db.execute(_FOLLOWED, (position, head, checkpoint))
            if self._loading:
                return  # nobody else sees the file; one commit at the end writes each page once
            self._db.execute("COMMIT")
            self._next = None
            self._checkpoints.committed()

    def vacuum(self) -> bool:
        """Rewrite the file if rows were erased; return whether no byte of them is left. False: a reader is there.

        Its snapshot is removed first.

        That it is to be done is kept in the file, so that a later writer does it. No transaction may be open.
        """
        self._checkpoints.wait()
        with self._guard:
            if owes_vacuum(self._db):
                remove_snapshot(self.path)
                self._tell_words("optimize")  # erased words too
            return vacuum(self._db)

    def rollback(self) -> None:
        """Discard all records that were applied since the last commit."""
        self._next = None
        self._projector.forget()
        self._forget_searches()
        if self._db.in_transaction:
            with self._guard:
                self._db.execute("ROLLBACK")

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Fill an empty store fast. The file must have no other user, and is useless if the load is interrupted.

        Indexes and words are made at the end: until then only apply, commit and position may be called, and after
        `answer_handlers` the reads of handlers and `index_words`. PositionConflict: the store is not empty.
        """
        if self.position() != 0:
            raise PositionConflict(f"{self.path} is not empty: it stands at {self.position()}")
        with self._guard:
            self._set(_LOADING)
            for index in schema.ASKED | schema.READ:
                self._db.execute(f"DROP INDEX {index}")
            self._indexed.clear()
        self._projector.indexing_words, self._loading = False, True
        yield
        has_words = self._projector.indexing_words
        self._projector.indexing_words, self._loading = True, False
        with self._guard:
            self._projector.index_words()
            if self._db.in_transaction:
                self._db.execute("COMMIT")
                self._next = None
            self._projector.forget()  # what handlers looked up, while another process may still write
            self._set(_SORTING)
            self._index(schema.ASKED | schema.READ)
            if not has_words:
                self._tell_words("rebuild")
            self._set(("PRAGMA synchronous = NORMAL", "PRAGMA journal_mode = WAL", *_WRITING))

    def _tell_words(self, command: str) -> None:
        for words in schema.WORDS:
            self._db.execute(f"INSERT INTO {words} ({words}) VALUES ('{command}')")

    def answer_handlers(self) -> None:
        """Make the indexes that the reads of handlers need, during a bulk load, and index words as they come."""
        with self._guard:
            self._index(schema.ASKED)
        self.begin_words()

    def begin_words(self) -> None:
        """Index words with each commit, or `index_words`, from here on, instead of at the end of a bulk load."""
        if not self._projector.indexing_words:
            with self._guard:
                self._tell_words("rebuild")
            self._projector.indexing_words = True

    def index_words(self) -> None:
        """Write all rows that are buffered, and index the words in them."""
        with self._guard:
            self._projector.index_words()

    def _index_for(self, *indexes: str) -> None:
        if self._loading and not self._indexed.issuperset(indexes):
            with self._guard:
                self._index({name: schema.INDEXES[name] for name in indexes})
            self._indexed.update(indexes)

    def _index(self, indexes: Mapping[str, str]) -> None:
        there = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
        for name, index in indexes.items():
            if name not in there:
                self._db.execute(f"CREATE {index}")

    def _set(self, pragmas: Iterable[str]) -> None:
        for pragma in pragmas:
            self._db.execute(pragma)
