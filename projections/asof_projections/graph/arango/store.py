"""The bi-temporal graph of one log in ArangoDB, whose documents and position change in one transaction.

Applied records stay in memory until `commit` writes whole documents, each only if it is newer than the stored one.
After a conflict, a lost answer or an absent server, the unit of work is repeated from its first request. Its
checkpoint, which it locks exclusively, shows whether an earlier attempt was committed; so nothing is done twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from typing import Any, Final, Literal, Self

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import ReadState
from asof_projections.graph.arango.connection import LOCK_SECONDS, Address, MakeHttp, client, database
from asof_projections.graph.arango.errors import require_gone, translated_errors
from asof_projections.graph.arango.event_projector import ArangoEventProjector
from asof_projections.graph.arango.scans import ArangoScans
from asof_projections.graph.arango.schema import CHECKPOINTS, INDEXES, VERSION, check, prefix
from asof_projections.graph.arango.vectors import ArangoVectorIndex
from asof_projections.graph.arango.wire import Document, ascii_text, chunks, decode, encode
from asof_streams.backoff import Backoff
from asof_streams.errors import GraphUnavailable, NotFound, PositionConflict
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.log import EventLog

CHUNK: Final = 1_000  # documents a request
ERASED: Final = 10_000  # documents a transaction, which the server holds in memory
_THEIRS: Final = ("_id", "_rev")  # fields that the server adds to a document
_KEPT: Final = ("last", "mark", "checkpoint")  # of the stored checkpoint, where a commit does not name them
_BACKOFF: Final = Backoff(0.05, 2.5, retries=5)  # of units of work


class ArangoGraph(ArangoScans):
    """A GraphStore in a database that follows the log named `log`. Used by the thread that opened it.

    NotFound: the database holds no such graph (asof_projections.graph.arango.administration makes it). ContractError:
    it was made by a version with another schema. GraphUnavailable: the server does not answer.
    """

    def __init__(self, address: Address, log: str, http: MakeHttp | None = None) -> None:
        self._where, self._memory, self._state = address.where, address.query_memory, ReadState()
        self._log = log
        self.generation = log.partition(".")[2]
        self._client = client(address, http)
        self._db = database(self._client, address)
        self._next: int | None = None  # the position after the last record applied; None: nothing is applied
        self._base = 0  # the committed position that the applied records follow
        self._last: Record | None = None  # that was applied
        self._projector = ArangoEventProjector(log, self._load)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        checkpoint = self._checkpoint(self._db)
        if checkpoint is None:
            raise NotFound(f"ArangoDB at {self._where} holds no graph of {self._log}: asof graph create makes it")
        check(checkpoint["schema"], self._log)

    def vectors(self, of: Literal["fact", "name"], model_id: str, dimensions: int) -> ArangoVectorIndex:
        """Open the vector index of facts or names; vectors of another model are removed."""
        return ArangoVectorIndex(self, f"{of}_vectors", model_id, dimensions)

    def close(self) -> None:
        """Close the store. Records that were not committed are discarded."""
        with suppress(GraphUnavailable):
            self.end_read()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Consistent reads.

    def begin_read(self) -> bool:
        """Begin a consistent read: until `end_read` all reads see one state. False: they do so already."""
        held, self._state.is_held = self._state.is_held, True
        return not held

    def end_read(self) -> None:
        """End a consistent read: later reads see what was committed since `begin_read`."""
        snapshot, self._state.snapshot, self._state.is_held = self._state.snapshot, None, False
        if snapshot is not None:
            _abort(snapshot)

    # Following a log.

    def position(self) -> int:
        """Return the position of the log up to which its records are committed here."""
        return int(self._current_checkpoint()["position"])

    def head(self) -> bytes:
        """Return the chain's hash over all records before the position."""
        return bytes.fromhex(self._current_checkpoint()["head"])

    def checkpoint(self) -> int:
        """Return the log's checkpoint as of the last commit that named one; INF: no commit has."""
        return int(self._current_checkpoint().get("checkpoint", INF))

    def begin(self) -> None:
        """Read the committed position, unless records are applied already."""
        if self._next is None:
            self._base = self._next = self.position()

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position; they are visible after `commit`.

        Records at positions that were applied before are skipped. Positions may be missing, since erased records are
        not read.
        """
        self.begin()
        assert self._next is not None
        new = [record for record in records if record.position >= self._next]
        if new:
            self._projector.apply(new)
            self._next = new[-1].position + 1
            self._last = new[-1]

    def commit(self, position: int, head: bytes, checkpoint: int | None = None) -> None:
        """Make the applied records visible, with the position behind them and the chain's hash up to there.

        checkpoint: that of the log there; None: it stays, since more of the same input follows.

        PositionConflict: a record at or after that position was applied, or another process has committed meanwhile.
        """
        self.begin()
        assert self._next is not None
        if position < self._next:
            raise PositionConflict(
                f"{self._log} in ArangoDB has applied records up to {self._next}: it cannot commit at {position}"
            )
        reached: Document = {"position": position, "head": head.hex()}
        if checkpoint is not None:
            reached["checkpoint"] = checkpoint
        if self._last is not None:
            reached |= {"last": self._last.position, "mark": _fingerprint(self._last, self._log)}
        while not self._unit(lambda transaction: self._move(transaction, reached)):
            pass  # more of a group is to be erased
        self._projector.forget()
        self._next = self._last = None
        self._base = position

    def rollback(self) -> None:
        """Discard all records that were applied since the last commit."""
        self._next = self._last = None
        self._projector.forget()

    def follows(self, log: EventLog) -> bool:
        """Whether the committed state comes from this log, by the last record applied, unless that is erased.

        `head` cannot tell: each copy of a log salts its chain of hashes, so copies of one log have different heads.
        """
        checkpoint = self._current_checkpoint()
        if checkpoint["position"] > log.end():
            return False
        last = list(log.read(checkpoint["last"], checkpoint["last"] + 1)) if checkpoint["last"] >= 0 else []
        return not last or _fingerprint(last[0], self._log) == checkpoint["mark"]

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Fill an empty store: the same as at other times, so an interrupted load can be continued.

        PositionConflict: the store is not empty.
        """
        if self.position() != 0:
            raise PositionConflict(f"{self._log} in ArangoDB is not empty: it stands at {self.position()}")
        yield

    # Transactions.

    def _unit(self, work: Callable[[Any], bool]) -> bool:
        """Do work in one transaction; repeat it where the server was busy or did not answer."""
        return _BACKOFF.retry(partial(self._transact, work), GraphUnavailable)

    def _transact(self, work: Callable[[Any], bool]) -> bool:
        transaction = None
        try:
            with translated_errors(self._where):
                transaction = self._begin()
                done = work(transaction)
                transaction.commit_transaction()
                return done
        except BaseException:
            _abort(transaction)
            raise

    def _begin(self) -> Any:
        written = [prefix(self._log) + kind for kind in INDEXES]
        return self._db.begin_transaction(
            write=written, exclusive=[CHECKPOINTS], allow_implicit=False, lock_timeout=LOCK_SECONDS
        )

    def _move(self, transaction: Any, reached: Document) -> bool:
        """Write the changed documents and how far they go, unless an earlier attempt did.

        False: of the erased groups more is left than one transaction removes, and nothing else was written yet.
        """
        stored = self._checkpoint(transaction)
        assert stored is not None
        if (stored["position"], stored["head"]) == (reached["position"], reached["head"]):
            if reached["position"] > self._base:
                return True  # the earlier attempt was committed, only its answer was lost
        elif stored["position"] != self._base:
            raise PositionConflict(
                f"{self._log} in ArangoDB stands at {stored['position']}, not at {self._base}: "
                "another process writes it"
            )
        if not self._erase(transaction):
            return False
        self._write(transaction)
        kept = {name: stored[name] for name in _KEPT if name in stored}
        self._write_checkpoint(transaction, kept | reached)
        return True

    def _erase(self, transaction: Any) -> bool:
        """Remove documents of erased groups; return whether none is left. One transaction removes so many at most."""
        start, left = prefix(self._log), ERASED
        for group in self._projector.erased:
            for kind in INDEXES:
                bound = {"@rows": start + kind, "group": ascii_text(group), "limit": left}
                left -= len(list(transaction.aql.execute(aql.ERASE, bind_vars=bound, **self._limits)))
                if not left:
                    return False
        return True

    def _write(self, transaction: Any) -> None:
        start = prefix(self._log)
        for kind, keys in self._projector.removed():
            for some in chunks(keys, CHUNK):
                require_gone(transaction.collection(start + kind).delete_many(some))
        for kind, documents in self._projector.written():
            self._replace(transaction.collection(start + kind), documents)

    def _replace(self, collection: Any, documents: Iterable[Document]) -> None:
        for some in chunks(documents, CHUNK):
            collection.insert_many(
                [encode(document) for document in some],
                overwrite_mode="replace",
                version_attribute="seq",
                raise_on_document_error=True,
            )

    def _write_checkpoint(self, transaction: Any, checkpoint: Document) -> None:
        document = {"_key": self._log, "schema": VERSION, **checkpoint}
        transaction.collection(CHECKPOINTS).insert(document, overwrite_mode="replace")

    def _current_checkpoint(self) -> Document:
        with translated_errors(self._where):
            checkpoint = self._checkpoint(self._reading())
        if checkpoint is None:
            raise NotFound(f"ArangoDB at {self._where} holds no graph of {self._log}: asof graph create makes it")
        return checkpoint

    def _checkpoint(self, through: Any) -> Document | None:
        with translated_errors(self._where):
            checkpoint: Document | None = through.collection(CHECKPOINTS).get(self._log)
        return checkpoint

    def _load(self, kind: str, keys: Sequence[str]) -> Iterator[Document]:
        collection = self._db.collection(prefix(self._log) + kind)
        for some in chunks(keys, CHUNK):
            with translated_errors(self._where):
                documents = collection.get_many(some)
            yield from (decode({name: value for name, value in d.items() if name not in _THEIRS}) for d in documents)


def _fingerprint(record: Record, log: str) -> str:
    """Return a hash that no other record has."""
    identity = f"{record.id_in(log)} {record.group} {record.recorded_at} ".encode() + record.event.encode()
    return sha256(identity).hexdigest()


def _abort(transaction: Any) -> None:
    """Abort a transaction; a server that cannot be reached ends it by itself."""
    if transaction is not None:
        with suppress(GraphUnavailable), translated_errors(""):
            transaction.abort_transaction()
