"""A log in one SQLite file: positions without gaps, atomic batches, a hash chain, one writer, any number of readers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from secrets import token_bytes
from struct import Struct
from typing import Final, NamedTuple, Protocol, Self

from asof_streams import chain, semantic  # noqa: F401 - semantic: its import registers its events
from asof_streams.bulk_insert import BulkInsert
from asof_streams.chain import Row
from asof_streams.compression import close_appended
from asof_streams.content_keys import CLEAR, ContentKeys, decrypt, encrypt
from asof_streams.errors import (
    DamagedLog,
    DecodeError,
    InvalidInput,
    KeysUnavailable,
    PositionConflict,
    WriterBusy,
)
from asof_streams.events import Draft, Record, decode
from asof_streams.ids import derive
from asof_streams.instants import NEG
from asof_streams.key_store import key_place
from asof_streams.messages import AnyMessage, ErasureRequest, Message, RedactionRequest
from asof_streams.record_sealer import context, is_sealed_record
from asof_streams.recorded_times import RecordedTimes
from asof_streams.sealer import NOT_SEALED, Sealer, is_sealed
from asof_streams.sqlite import (
    SqliteGuard,
    connect,
    create,
    snapshot,
    sync_commits,
    transaction,
    truncate_wal,
    vacuum,
)
from asof_streams.sqlite_erasures import Erasures
from asof_streams.sqlite_records import REMEDY, Head, Records, empty_log_script
from asof_streams.sqlite_requests import KeyedRequest, Requests, Submission
from asof_streams.sqlite_traces import MessageTraces

_INSERT: Final = BulkInsert("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
_OF_GROUP: Final = "SELECT position FROM log WHERE position >= ? AND grp = ? AND payload IS NOT NULL ORDER BY position"
_USED: Final = (  # the trees are numbered from 0, big-endian, behind the mark
    "SELECT grp, max(substr(payload, 2, 4)) FROM log WHERE substr(payload, 1, 1) IN (x'01', x'02') "
    "AND (?1 IS NULL OR grp = ?1) GROUP BY grp"
)
_CHUNK: Final = 256  # records read in one query: no snapshot stays open while the caller works on them
_LEAST_COMPRESSED: Final = 512  # records of an append that is worth compressing
_SALTS: Final = Struct(f"{chain.SALT_BYTES}s")
_GROUP_AND_TIME: Final = itemgetter(0, 1)  # of a draft
_RECORDED_AT: Final = itemgetter(1)
_EVENT: Final = itemgetter(5)


class Encoded(Protocol):
    """An event as a log stores it; it need not be decoded."""

    @property
    def type(self) -> str: ...
    @property
    def version(self) -> int: ...
    def encode(self) -> bytes: ...


class EncodedEvent(NamedTuple):
    """An event that is encoded already."""

    type: str
    version: int
    payload: bytes

    def encode(self) -> bytes:
        return self.payload


EncodedDraft = tuple[str, int, int, int, int, Encoded]
"""A Draft of an encoded event: group, recorded_at, cause, place, size, event."""


class SqliteLog:
    """A MessageLog in the file `<name>.sqlite`, used by the thread that opened it.

    writable: create the file if it does not exist, and take the log over. Each writer raises the log's term, so the
    writer before it gets WriterBusy at its next append; hold the directory's WriterLock to keep a second writer out.
    durable: append and accept return when the disk has the batch. Without it a power cut may lose the last batches,
    whole and from the end; a crash of the process never does.
    term: of a writer in another thread of this process that this object writes beside; None: raise the term.
    """

    def __init__(self, path: Path, *, writable: bool = False, durable: bool = True, term: int | None = None) -> None:
        self.path: Final = path
        self._name = path.stem
        self._guard = SqliteGuard(path, REMEDY, DamagedLog)
        with self._guard:
            if writable and not path.exists():
                create(path, empty_log_script(self.name))
            self._db = connect(path, writable=writable, durable=durable)
        try:
            self._records = Records(path, self._db)
            self._requests = Requests(self._db)
            self._traces = MessageTraces(self._db)
            self._erasures = Erasures(self._db, self._records)
            self._times = RecordedTimes(self._db)
            self._written = Head(-1, b"", 0, 0)  # what this object appended last
            self._last = (0, NEG)  # the end of the log when that was the cause of its last record
            self._keys = ContentKeys(path.with_suffix(".keys"))
            self._sealer = _sealer_of(path, self._trees_of)
            self._term = 0 if not writable else self._raise_term() if term is None else term
        except BaseException:
            self._db.close()
            raise
        self._are_messages = self.name == "messages"
        self.compresses_batches = False  # whether many records of one append are compressed at once

    @property
    def name(self) -> str:
        return self._name

    @property
    def term(self) -> int:
        """The number of this writer among all writers of the log, from 1; 0 for a reader."""
        return self._term

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading.

    def end(self) -> int:
        return self._records.head().position

    def checkpoint(self) -> int:
        return self._records.head().checkpoint

    def head(self, position: int) -> bytes:
        if position == 0:
            return chain.genesis(self.name)
        if position == self._written.position:  # no hash of a log ever changes
            return self._written.hash
        if not 0 < position <= self.end():
            raise InvalidInput(f"{self.name} has no position {position - 1}: it ends at {self.end()}")
        hash_: bytes = self._records.rows(position - 1, position)[0][9]
        return hash_

    def read(self, start: int = 0, stop: int | None = None, *, checked: bool = False) -> Iterator[Record]:
        """Yield records as every log does. checked: each is compared with the chain first, else with nothing."""
        end = self.end()
        stop = end if stop is None else min(stop, end)
        make = tuple.__new__
        previous = self.head(start) if checked and start < stop else b""
        for at in range(start - start % _CHUNK, stop, _CHUNK):  # so that no closed block is read twice
            for row in self._records.rows(max(at, start), min(at + _CHUNK, stop), with_hashes=checked):
                if checked:
                    previous = self._records.expect_link(previous, row)
                payload = row[12]
                if payload is None:
                    self._records.expect_erased(row)
                    continue
                if payload[:1] != CLEAR:
                    payload = self._opened(row)
                    if payload is None:
                        continue  # it is no longer to be read; a crash came before its payload was dropped
                try:
                    event = decode(row[7], row[8], payload)
                except DecodeError as error:
                    self._expect_link(row[0])
                    raise DecodeError(f"{self.path}, position {row[0]}: {error}") from None
                yield make(Record, (*row[:7], event))

    def _opened(self, row: Row) -> bytes | None:
        """Return the payload of a record that is encrypted; None: its key was destroyed."""
        position, payload = row[0], row[12]
        try:
            if is_sealed_record(payload):
                opened = self._expect_sealer().records.open(row[1], self._context(row), payload)
            elif is_sealed(payload):
                opened = self._expect_sealer().open(row[1], row[3], position, row[10], payload)
            else:
                key = self._keys.find(position)
                opened = None if key is None else decrypt(key, position, payload)
        except KeysUnavailable:
            self._expect_link(position)
            raise
        if opened is None:
            self._expect_link(position)
        return opened

    def _expect_link(self, position: int) -> None:
        """Check that a record is what was written. DamagedLog: it is not."""
        self._records.expect_link(self.head(position), self._records.rows(position, position + 1)[0])

    def _context(self, row: Row) -> bytes:
        """Return the context in which a record from a topic was sealed; the id of a message is its position here."""
        position, _, _, cause, place, _, _, type_, version = row[:9]
        id_ = str(position) if self._are_messages else derive("event", self.name, cause, place, type_)
        return context(f"/asof/{self.name}", type_, version, id_)

    def _expect_sealer(self) -> Sealer:
        if self._sealer is None:
            raise KeysUnavailable(f"{self.path} is encrypted, and keys.json is missing: restore it from a backup")
        return self._sealer

    def preview(self, messages: Sequence[AnyMessage], *, clock: int) -> list[Record]:
        """Return messages as `accept` would record them now; nothing is written."""
        with self._guard, snapshot(self._db):
            head = self._records.head()
            times = self._times.next(head.position, [message.group_id for message in messages], clock, None)
        return [
            Record(position, message.group_id, at, position, 0, 1, 0, message)
            for position, (message, at) in enumerate(zip(messages, times, strict=True), head.position)
        ]

    def groups(self) -> list[str]:
        """Return every group that has had a record, in no particular order."""
        return [group for (group,) in self._records.query("SELECT grp FROM groups", trusted=0)]

    def verify(self) -> int:
        with self._guard, snapshot(self._db):
            head = self._records.head()
            end = head.position
            last: dict[str, int] = {}
            tellings: list[int] = []
            previous, cause = chain.genesis(self.name), NEG
            for at in range(0, end, _CHUNK):
                for row in self._records.rows(at, min(at + _CHUNK, end)):
                    previous = self._records.expect_link(previous, row)
                    last[row[1]] = row[2]
                    if row[3] < cause:
                        tellings.append(row[0])
                    cause = row[3]
            if previous != head.hash:
                raise self._records.damaged(max(end - 1, 0), "it is not the record that the log ended with")
            rows = end - self._records.blocks.end()
            if self._records.query("SELECT count(*) FROM log", trusted=end) != [(rows,)]:
                raise self._records.damaged(end, "there are records beyond the log's end")
            if self._records.tellings() != tellings:
                raise self._records.damaged(end, "what it says of where something is told again is not so")
            if dict(self._records.query("SELECT grp, recorded_at FROM groups", trusted=end)) != last:
                raise self._records.damaged(end, "the groups' last recorded times are not those of the records")
            if self._records.query("PRAGMA integrity_check(1)", trusted=end) != [("ok",)]:
                raise self._records.damaged(end, "the records are whole, but the file around them is not")
        return end

    # Writing.

    def append(self, drafts: Sequence[Draft], *, checkpoint: int) -> int:
        with self._writing() as head:
            expect_checkpoint(self.name, checkpoint, head)
            written = self._write(head, drafts, checkpoint)
        self._written = written
        return written.position

    def append_encoded(self, start: int, drafts: Sequence[EncodedDraft], *, checkpoint: int) -> int:
        """Append the events of another process, as `append` does. PositionConflict: the log does not end at `start`."""
        with self._writing() as head:
            if head.position != start:
                raise PositionConflict(
                    f"{self.name} ends at {head.position}: a batch that begins at {start} cannot follow"
                )
            expect_checkpoint(self.name, checkpoint, head)
            return self._write(head, drafts, checkpoint).position

    def accept(self, messages: Sequence[AnyMessage], *, clock: int, recorded: Sequence[int] | None = None) -> range:
        with self._writing() as head:
            self._accept(head, messages, clock, recorded)
        return range(head.position, head.position + len(messages))

    def record(
        self, messages: Sequence[AnyMessage], *, clock: int, recorded: Sequence[int] | None = None
    ) -> list[Record]:
        """Accept messages, as `accept` does; return them as `read` would."""
        with self._writing() as head:
            drafts = self._accept(head, messages, clock, recorded)
        return [
            Record(position, group, at, position, 0, 1, self._term, message)
            for position, (message, (group, at, *_)) in enumerate(zip(messages, drafts, strict=True), head.position)
        ]

    def accept_each(self, submissions: Sequence[Submission], *, clock: int) -> list[range | InvalidInput]:
        """Accept the messages of several callers in one transaction; return each caller's positions, in order.

        A request whose key was used before, also earlier in `submissions`, adds nothing and gets its first positions;
        one without messages does not use its key.
        InvalidInput in an answer: the key belongs to another request; the other callers' messages are accepted.
        """
        new: list[AnyMessage] = []
        answers: list[range | InvalidInput] = []
        with self._writing() as head:
            for messages, request, trace in submissions:
                try:
                    positions = None if request is None else self._requests.positions_of(request, clock)
                except InvalidInput as error:
                    answers.append(error)
                    continue
                if positions is None:
                    start = head.position + len(new)
                    positions = range(start, start + len(messages))
                    new += messages
                    if request is not None and messages:
                        self._requests.record(request, positions, messages[0].group_id, clock)
                    if trace is not None and messages:
                        self._traces.record(positions, trace, clock)
                answers.append(positions)
            if new:
                self._accept(head, new, clock, None)
        return answers

    def positions_of(self, request: KeyedRequest, *, clock: int) -> range | None:
        """Return the positions of a request's messages; None: it was not accepted in the last day.

        clock: UTC microseconds. InvalidInput: another request had the same key.
        """
        with self._guard:
            return self._requests.positions_of(request, clock)

    def note_traces(self, traces: Iterable[tuple[int, str]], *, clock: int) -> None:
        """Keep the traces that messages were sent in, by their positions, for a day from the clock on."""
        with self._writing():
            for position, trace in traces:
                self._traces.record(range(position, position + 1), trace, clock)

    def trace_of(self, position: int) -> str | None:
        """Return the trace that a message was sent in, as a W3C traceparent; None: none is known, or no longer."""
        with self._guard:
            return self._traces.of(position)

    def erase(self, group: str, *, before: int | None = None) -> int:
        """Erase as the port says. Copies of payloads may be left in the log's files until `vacuum` rewrites them.

        Where content is encrypted, the erasure of messages begins with their keys, which are those of all that was made
        of them. So a crash leaves nothing that can be read, and the next call removes the rest.
        """
        with self._writing() as head:
            limit = head.position if before is None else before
            self._requests.erase(group, limit)
            self._traces.erase(limit)
            self._destroy_keys(group, limit)
            return self._erasures.erase(group, limit)

    def redact(self, group: str, positions: Sequence[int]) -> int:
        """Erase those of a group's records that stand at some positions, as `erase` does; return their number.

        Where the content of messages is encrypted, all that was made of them can no longer be read either.
        """
        with self._writing() as head:
            own = [at for at in positions if at < head.position and self.group_of(at) == group]
            self._destroy_keys_at(group, own)
            self._requests.redact(own)
            self._traces.erase(head.position)
            return self._erasures.erase_some(group, own, head.position)

    def positions_in(self, group: str, start: int = 0) -> list[int]:
        """Return the positions of a group's records from one on, in order, without the erased ones.

        It reads the log from there on, and decodes nothing.
        """
        with self._guard, snapshot(self._db):
            rows = [row for rows in self._records.blocks.of_group(group, self.end(), start) for row in rows]
            closed = [row[0] for row in rows if row[0] >= start and row[1] == group and row[12] is not None]
            return closed + [at for (at,) in self._db.execute(_OF_GROUP, (start, group))]

    def of_group(self, group: str) -> Iterator[Record]:
        """Yield the records of a group in order of position, without the erased ones. It reads the whole log."""
        for _, some in groupby(self.positions_in(group), key=lambda at: at // _CHUNK):
            wanted = list(some)
            own = frozenset(wanted)
            yield from (record for record in self.read(wanted[0], wanted[-1] + 1) if record.position in own)

    def _destroy_keys(self, group: str, stop: int) -> None:
        if self._sealer is not None and self._are_messages:
            self._sealer.destroy(group, range(stop))

    def _destroy_keys_at(self, group: str, positions: Sequence[int]) -> None:
        if self._sealer is not None and self._are_messages:
            self._sealer.destroy(group, *(range(at, at + 1) for at in positions))

    def tally(self, group: str) -> tuple[int, int]:
        """Return how many of a group's records have content that `erase` would erase, and how many had some before."""
        with self._guard, snapshot(self._db):
            return self._erasures.tally(group, self.end())

    def destroyed(self, group: str, *messages: range) -> bool:
        """Return whether no key of a group's messages in some ranges is left. False: content is not encrypted."""
        return self._sealer is not None and not self._sealer.holds(group, *messages)

    def has_holes(self) -> bool:
        """Return whether keys of some of a group's records are destroyed, and of others not: a part of it was erased.

        So it is where the log is an older one than the erasure. What is left does not follow from itself.
        """
        held: dict[str, bool] = {}
        return any(held.setdefault(group, is_left) != is_left for group, is_left in self._keys_left())

    def is_older_than_an_erasure(self) -> bool:
        """Return whether the key of a record that is here is destroyed."""
        return not all(is_left for _, is_left in self._keys_left())

    def _keys_left(self) -> Iterator[tuple[str, bool]]:
        """Yield the group of each encrypted record, and whether its key is left."""
        if self._sealer is None:
            return
        end = self.end()
        for at in range(0, end, _CHUNK):
            for row in self._records.rows(at, min(at + _CHUNK, end)):
                if row[12] is not None and is_sealed(row[12]):
                    yield row[1], self._sealer.can_open(row[1], row[3], row[12])

    def trees(self, group: str | None = None) -> Mapping[str, int]:
        """Return how many trees of keys the encrypted records name, by group, in no order; None: of all groups."""
        with self._guard:
            last: dict[str, bytes] = dict(self._db.execute(_USED, (group,)))
            blocks = self._records.blocks  # after the rows, since those become blocks, and never the other way
            for rows in blocks.each() if group is None else blocks.of_group(group, self.end()):
                for row in rows:
                    if group in (None, row[1]) and row[12] is not None and is_sealed(row[12]):
                        last[row[1]] = max(last.get(row[1], b""), row[12][1:5])
        return {name: int.from_bytes(number) + 1 for name, number in last.items()}

    def _trees_of(self, group: str) -> int:
        """Return how many trees of keys a group's records name. All records are read, but for those of a new group."""
        return self.trees(group).get(group, 0) if self.last_recorded(group) != NEG else 0

    def vacuum(self) -> bool:
        """Rewrite the file if payloads were erased; return whether no byte of them is left. False: a reader is there.

        That it is to be done is kept in the file, so that a later writer does it.
        """
        with self._guard:
            return vacuum(self._db)

    def suppress(self, start: int, stop: int) -> bool:
        with self._writing():
            self._erasures.suppress(start, stop)
        with self._guard:
            self._keys.destroy(stop)
            return truncate_wal(self._db)

    def has_suppressed(self) -> bool:
        """Return whether the content of a message is gone that was not erased, neither with its group nor alone."""
        erased: set[str | int] = set()
        end = self.end()
        for at in range((end - 1) // _CHUNK * _CHUNK, -1, -_CHUNK):
            for row in reversed(self._records.rows(at, min(at + _CHUNK, end))):
                if row[7] == ErasureRequest.type:
                    erased.add(row[1])
                elif row[12] is None and erased.isdisjoint(row[:2]):
                    return True
                elif row[7] == RedactionRequest.type and row[12] is not None:
                    erased.update(RedactionRequest.model_validate_json(row[12]).positions)
        return False

    @property
    def has_content_keys(self) -> bool:
        """Whether messages are on the log whose content `suppress` has not destroyed."""
        return bool(self._keys)

    def sync(self) -> None:
        """Have everything that was appended on the disk, also where a log is not durable otherwise."""
        with self._guard:
            sync_commits(self._db)

    def group_of(self, position: int) -> str:
        """Return the group of a record, also of an erased one."""
        group: str = self._records.rows(position, position + 1)[0][1]
        return group

    def recorded_at(self, position: int) -> int:
        """Return when a record was recorded, in UTC microseconds, also of an erased one."""
        at: int = self._records.rows(position, position + 1)[0][2]
        return at

    def cause_of(self, position: int) -> int:
        """Return the cause of a record, also of an erased one."""
        return self._records.cause_of(position)

    def caused_by(self, cause: int) -> int:
        end = self.end()
        return next(self._records.caused_by(cause, end), end)

    def told(self, cause: int) -> Iterator[int]:
        found = list(self._records.caused_by(cause, self.end()))
        return (at for at in reversed(found) if self.cause_of(at) == cause)

    def _accept(
        self, head: Head, messages: Sequence[AnyMessage], clock: int, recorded: Sequence[int] | None
    ) -> list[EncodedDraft]:
        times = self._times.next(head.position, [message.group_id for message in messages], clock, recorded)
        drafts: list[EncodedDraft] = [  # tuples in the shape of a Draft, at a fifth of the cost
            (message.group_id, at, position, 0, 1, message)
            for position, (message, at) in enumerate(zip(messages, times, strict=True), head.position)
        ]
        self._write(head, drafts, head.checkpoint)
        return drafts

    def _write(self, head: Head, drafts: Sequence[EncodedDraft], checkpoint: int) -> Head:
        last = head.hash
        term = self._term
        before = self._last_cause(head.position)
        tellings: list[int] = []
        quiet = self._are_messages and any(map(_is_suppressed, map(_EVENT, drafts)))
        key = self._keys.make(head.position, head.position + len(drafts)) if quiet else None

        def rows() -> Iterator[Row]:
            nonlocal last, before
            salts = _SALTS.iter_unpack(token_bytes(_SALTS.size * len(drafts)))
            numbered = enumerate(zip(drafts, salts, strict=True), head.position)
            for position, ((group, recorded_at, cause, place, size, event), (salt,)) in numbered:
                if cause < before:
                    tellings.append(position)
                before = cause
                payload = event.encode()
                if key is not None and _is_suppressed(event):
                    payload = encrypt(key, position, payload)
                envelope = (position, group, recorded_at, cause, place, size, term, event.type, event.version)
                if self._sealer is not None and payload.startswith(CLEAR):
                    payload = self._seal(self._sealer, envelope, salt, payload)
                last = chain.link(last, envelope, chain.seal(salt, payload))
                # sqlite3 binds bytearrays fastest
                yield (*envelope, bytearray(last), bytearray(salt), None, bytearray(payload))

        if quiet or len(drafts) < _LEAST_COMPRESSED or not self.compresses_batches or self._sealer is not None:
            _INSERT.run(self._db, rows())
        else:
            made = list(rows())
            if not close_appended(self._db, self._records, self.name, head.hash, made):
                _INSERT.run(self._db, made)
        end = head.position + len(drafts)
        latest = max(map(_RECORDED_AT, drafts), default=NEG)
        self._times.note(head.position, end, dict(map(_GROUP_AND_TIME, drafts)), latest)
        self._records.add_tellings(tellings)
        self._last = end, before
        written = Head(end, last, checkpoint, term)
        self._records.put_head(written)
        return written

    def _last_cause(self, end: int) -> int:
        if self._last[0] != end:
            self._last = end, self._records.cause_of(end - 1)
        return self._last[1]

    def _seal(self, sealer: Sealer, envelope: Row, salt: bytes, payload: bytes) -> bytes:
        """Return a payload as it is kept where content is encrypted."""
        position, group, _, cause, _, _, _, type_, _ = envelope
        if type_ not in NOT_SEALED:
            return sealer.seal(group, cause, position, salt, payload)
        if self._are_messages:
            sealer.expect(group)  # an erasure that cannot be done is not to stand before all later messages
        return payload

    def latest(self) -> int:
        """Return the latest recorded time of all groups; NEG where there is no record."""
        with self._guard:
            return self._times.latest(self._records.head().position)

    def last_recorded(self, group: str) -> int:
        """Return the recorded time of a group's last record; NEG if it has none."""
        return self._times.last(group)

    def earliest(self, group: str) -> int:
        """Return the earliest recorded time that an imported message of a group may have."""
        return self._times.earliest(group)

    @contextmanager
    def _writing(self) -> Iterator[Head]:
        try:
            with self._guard, transaction(self._db):
                head = self._records.head()
                if head.term != self._term:
                    raise WriterBusy(f"{self.path}: another process has taken over writing; open it again")
                yield head
        except BaseException:  # after a rollback another writer may reach the same end with other records
            self._times.forget()
            self._last = (0, NEG)
            raise

    def _raise_term(self) -> int:
        with self._guard, transaction(self._db):
            head = self._records.head()
            self._records.put_head(head._replace(term=head.term + 1))
        return head.term + 1


def expect_checkpoint(log: str, checkpoint: int, head: Head) -> None:
    """Refuse a checkpoint that is before the log's own. PositionConflict names both."""
    if checkpoint < head.checkpoint:
        raise PositionConflict(f"{log}: checkpoint {checkpoint} is before {head.checkpoint}")


def _sealer_of(path: Path, used: Callable[[str], int]) -> Sealer | None:
    """Return what encrypts a log; None: nothing does. `keys.json` is in the data directory, above each generation."""
    root = path.parents[2] if path.stem.startswith("semantic.") else path.parent
    place = key_place(root / "keys.json")
    return None if place is None else Sealer(place.open(), path.stem, used)


def _is_suppressed(event: Encoded) -> bool:
    # of each record: to say no, isinstance of a pydantic class takes six times as long
    return type(event) is Message and event.suppress_content
