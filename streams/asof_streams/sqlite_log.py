"""A log in one SQLite file: gap-free positions, whole batches, a hash chain, one writer and any number of readers."""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final, NamedTuple, Self

from asof_streams import chain, semantic  # noqa: F401 - semantic: so that its events can be read
from asof_streams.episodic import GroupErased
from asof_streams.errors import DamagedLog, DecodeError, InvalidInput, PositionConflict, StorageFailed, WriterBusy
from asof_streams.events import Draft, Record, decode
from asof_streams.instants import NEG, SECOND
from asof_streams.messages import AnyMessage, ErasureRequest
from asof_streams.sqlite import Guard, connect, create, snapshot, transaction

# A record has salt and payload, or once it is erased the seal alone. `head` is one row: how far the log goes, checked
# by its digest, so that a log cut short is found. `groups` holds the recorded time of each group's last record.
_LOG: Final = (
    "CREATE TABLE log (position INTEGER PRIMARY KEY, grp TEXT NOT NULL, recorded_at INTEGER NOT NULL, "
    "cause INTEGER NOT NULL, place INTEGER NOT NULL, size INTEGER NOT NULL, term INTEGER NOT NULL, type TEXT NOT NULL, "
    "version INTEGER NOT NULL, hash BLOB NOT NULL, salt BLOB, seal BLOB, payload BLOB) STRICT"
)
_HEADS: Final = (
    "CREATE TABLE head (position INTEGER NOT NULL, hash BLOB NOT NULL, checkpoint INTEGER NOT NULL, "
    "term INTEGER NOT NULL, digest BLOB NOT NULL) STRICT"
)
_GROUPS: Final = "CREATE TABLE groups (grp TEXT PRIMARY KEY, recorded_at INTEGER NOT NULL) STRICT, WITHOUT ROWID"
_SCHEMA: Final = (_LOG, _HEADS, _GROUPS)
_INSERT: Final = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)"
_SELECT: Final = (
    "SELECT position, grp, recorded_at, cause, place, size, term, type, version, hash, salt, seal, payload "
    "FROM log WHERE position >= ? AND position < ? ORDER BY position"
)
_DATED: Final = "INSERT INTO groups VALUES (?, ?) ON CONFLICT DO UPDATE SET recorded_at = excluded.recorded_at"
_ERASE: Final = (
    "UPDATE log SET seal = seal(salt, payload), salt = NULL, payload = NULL "
    "WHERE grp = ? AND position < ? AND payload IS NOT NULL AND type NOT IN (?, ?)"
)
_CHUNK: Final = 256  # records read at once: no reader keeps a snapshot while its caller thinks
_STOOD_STILL: Final = SECOND  # how far equal given times may have risen: a million messages of one moment
_REMEDY: Final = "restore it from a backup; any log but `messages` can also be made again from the log before it"
_HEAD: Final = struct.Struct(">3q")
_SALTS: Final = struct.Struct(f"{chain.SALT_BYTES}s")

Row = tuple[Any, ...]


class _Head(NamedTuple):
    position: int  # the next record's
    hash: bytes  # over all records
    checkpoint: int
    term: int

    def digest(self) -> bytes:
        return chain.seal(self.hash, _HEAD.pack(self.position, self.checkpoint, self.term))


class SqliteLog:
    """A MessageLog in the file `<name>.sqlite`, used by the thread that opened it.

    durable: append and accept return when the disk has what they wrote; without it a power cut (never a crash of the
    process) may take the last batches, whole and from the end. A second writer deposes the first, which then gets
    WriterBusy: hold the directory's WriterLock to keep others out in the first place.
    """

    def __init__(self, path: Path, *, writable: bool = False, durable: bool = True) -> None:
        self.path: Final = path
        self._guard = Guard(path, _REMEDY)
        with self._guard:
            if writable and not path.exists():
                create(path, _new(self.name))
            self._db = connect(path, writable=writable, durable=durable)
        try:
            self._expect_schema()
            self._term = self._raise_term() if writable else 0
        except BaseException:
            self._db.close()
            raise

    @property
    def name(self) -> str:
        return self.path.stem

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading.

    def end(self) -> int:
        return self._head().position

    def checkpoint(self) -> int:
        return self._head().checkpoint

    def head(self, position: int) -> bytes:
        if position == 0:
            return chain.genesis(self.name)
        if not 0 < position <= self.end():
            raise InvalidInput(f"{self.name} has no position {position - 1}: it ends at {self.end()}")
        found: bytes = self._rows(position - 1, position)[0][9]
        return found

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[Record]:
        end = self.end()
        stop = end if stop is None else min(stop, end)
        make = tuple.__new__
        for at in range(start, stop, _CHUNK):
            for row in self._rows(at, min(at + _CHUNK, stop)):
                payload = row[12]
                if payload is None:
                    self._expect_seal(row)
                    continue
                try:
                    event = decode(row[7], row[8], payload)
                except DecodeError as error:
                    self._expect_link(self.head(row[0]), row)
                    raise DecodeError(f"{self.path}, position {row[0]}: {error}") from None
                yield make(Record, (*row[:7], event))

    def verify(self) -> int:
        with self._guard, snapshot(self._db):
            head = self._head()
            end = head.position
            last: dict[str, int] = {}
            previous = chain.genesis(self.name)
            for at in range(0, end, _CHUNK):
                for row in self._rows(at, min(at + _CHUNK, end)):
                    previous = self._expect_link(previous, row)
                    last[row[1]] = row[2]
            if previous != head.hash:
                raise self._damaged(max(end - 1, 0), "it is not the record that the log ended with")
            if self._ask("SELECT count(*) FROM log", trusted=end) != [(end,)]:
                raise self._damaged(end, "there are records beyond the log's end")
            if dict(self._ask("SELECT grp, recorded_at FROM groups", trusted=end)) != last:
                raise self._damaged(end, "the groups' last recorded times are not those of the records")
            if self._ask("PRAGMA integrity_check(1)", trusted=end) != [("ok",)]:
                raise self._damaged(end, "the records are whole, but the file around them is not")
        return end

    # Writing.

    def append(self, drafts: Sequence[Draft], *, checkpoint: int) -> int:
        with self._writing() as head:
            if checkpoint < head.checkpoint:
                raise PositionConflict(f"{self.name}: checkpoint {checkpoint} is before {head.checkpoint}")
            return self._write(head, drafts, checkpoint)

    def accept(self, messages: Sequence[AnyMessage], *, clock: int, recorded: Sequence[int] | None = None) -> range:
        with self._writing() as head:
            times = self._times([message.group_id for message in messages], clock, recorded)
            drafts = [
                Draft(message.group_id, at, position, 0, 1, message)
                for position, (message, at) in enumerate(zip(messages, times, strict=True), head.position)
            ]
            return range(head.position, self._write(head, drafts, head.checkpoint))

    def erase(self, group: str, *, before: int | None = None) -> int:
        """Erase as the port says; no byte of a payload is left in the log's files. It rewrites the whole file."""
        with self._writing() as head:
            limit = head.position if before is None else before
            self._db.create_function("seal", 2, chain.seal, deterministic=True)
            erased = self._db.execute(_ERASE, (group, limit, ErasureRequest.type, GroupErased.type)).rowcount
        with self._guard:
            self._db.execute("VACUUM")  # SQLite may have left copies where it moved records about
            busy, _, _ = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StorageFailed(f"{self.path}-wal still holds erased text: a reader is using it; erase again")
        return erased

    def _write(self, head: _Head, drafts: Sequence[Draft], checkpoint: int) -> int:
        last = head.hash
        term = self._term

        def rows() -> Iterator[Row]:
            nonlocal last
            salts = _SALTS.iter_unpack(token_bytes(_SALTS.size * len(drafts)))
            numbered = enumerate(zip(drafts, salts, strict=True), head.position)
            for position, ((group, recorded_at, cause, place, size, event), (salt,)) in numbered:
                payload = event.encode()
                envelope = (position, group, recorded_at, cause, place, size, term, event.type, event.version)
                last = chain.link(last, envelope, chain.seal(salt, payload))
                yield (*envelope, last, salt, payload)

        self._db.executemany(_INSERT, rows())
        self._db.executemany(_DATED, {draft.group: draft.recorded_at for draft in drafts}.items())
        end = head.position + len(drafts)
        self._put(_Head(end, last, checkpoint, term))
        return end

    def _times(self, groups: Sequence[str], clock: int, recorded: Sequence[int] | None) -> list[int]:
        last: dict[str, int] = {}  # as recorded here: risen where the given times stood still
        given: dict[str, int] = {}
        times = []
        for index, group in enumerate(groups):
            before = last[group] if group in last else self._last(group)
            at = clock if recorded is None else recorded[index]
            if recorded is not None and at < given.get(group, before - _STOOD_STILL):
                raise PositionConflict(
                    f"group {group}: message {index + 1} was recorded before the one that it follows"
                )
            given[group] = at
            last[group] = at = max(at, before + 1)
            times.append(at)
        return times

    def _last(self, group: str) -> int:
        row = self._db.execute("SELECT recorded_at FROM groups WHERE grp = ?", (group,)).fetchone()
        return NEG if row is None else row[0]

    @contextmanager
    def _writing(self) -> Iterator[_Head]:
        with self._guard, transaction(self._db):
            head = self._head()
            if head.term != self._term:
                raise WriterBusy(f"{self.path}: another process has taken over writing; open it again")
            yield head

    def _raise_term(self) -> int:
        with self._guard, transaction(self._db):
            head = self._head()
            self._put(head._replace(term=head.term + 1))
        return head.term + 1

    # What is stored, checked.

    def _put(self, head: _Head) -> None:
        self._db.execute(
            "UPDATE head SET position = ?, hash = ?, checkpoint = ?, term = ?, digest = ?", (*head, head.digest())
        )

    def _head(self) -> _Head:
        rows = self._ask("SELECT position, hash, checkpoint, term, digest FROM head", trusted=0)
        try:
            [(*fields, digest)] = rows
            head = _Head(*fields)
            if head.digest() == digest:
                return head
        except (TypeError, ValueError, struct.error):
            pass
        raise self._damaged(0, "the row that says how far the log goes is not what was written")

    def _rows(self, start: int, stop: int) -> list[Row]:
        """Return the rows of [start, stop), all of which must be there."""
        try:
            rows = self._ask(_SELECT, start, stop, trusted=start)
        except DamagedLog:
            if stop - start == 1:
                raise
            middle = (start + stop) // 2
            return self._rows(start, middle) + self._rows(middle, stop)
        for position, row in enumerate(rows, start):
            if row[0] != position:
                raise self._damaged(position, "it is missing")
        if len(rows) < stop - start:
            raise self._damaged(start + len(rows), "it is missing")
        return rows

    def _ask(self, sql: str, *values: int, trusted: int) -> list[Row]:
        """Return the rows of a query; where it fails, all before position `trusted` still stands."""
        try:
            with self._guard:
                return self._db.execute(sql, values).fetchall()
        except DamagedLog:
            raise self._damaged(trusted, "the file cannot be read there") from None

    def _expect_link(self, previous: bytes, row: Row) -> bytes:
        envelope, (found, salt, sealed, payload) = row[:9], row[9:]
        try:
            if payload is not None:
                sealed = chain.seal(salt, payload)
            expected = chain.link(previous, envelope, sealed)
        except (TypeError, struct.error):
            expected = b""
        if found != expected:
            raise self._damaged(row[0], "it is not what was written")
        return expected

    def _expect_seal(self, row: Row) -> None:
        if row[11] is None:
            raise self._damaged(row[0], "its payload is missing")

    def _damaged(self, position: int, what: str) -> DamagedLog:
        return DamagedLog(f"{self.path} is damaged from position {position} on: {what}; {_REMEDY}")

    def _expect_schema(self) -> None:
        if self._ask("SELECT sql FROM sqlite_schema ORDER BY rowid", trusted=0) != [(sql,) for sql in _SCHEMA]:
            raise self._damaged(0, "its tables are not those of a log that this version knows")


def _new(name: str) -> str:
    head = _Head(0, chain.genesis(name), 0, 0)
    return ";".join([*_SCHEMA, f"INSERT INTO head VALUES (0, x'{head.hash.hex()}', 0, 0, x'{head.digest().hex()}')"])
