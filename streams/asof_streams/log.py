"""The ports of a log: an ordered, append-only sequence of events.

Three kinds of log have one shape: `messages` (the input), `episodic` (episodes and extractions) and one
`semantic.<generation>` for each generation (facts and beliefs). Positions start at 0 and have no gaps.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from asof_streams.events import Draft, Record
from asof_streams.messages import AnyMessage


class EventLog(Protocol):
    """A log, for its one writer and any number of readers. Adapters: SqliteLog, and on Kafka EventTopic."""

    @property
    def name(self) -> str:
        """`messages`, `episodic` or `semantic.<generation>`."""
        ...

    def end(self) -> int:
        """Return the position that the next record will get."""
        ...

    def checkpoint(self) -> int:
        """Return the next position of the input log: this log has the events of every record before it."""
        ...

    def append(self, drafts: Sequence[Draft], *, checkpoint: int) -> int:
        """Append events and move the checkpoint in one atomic step; return the new end.

        Durable when it returns, unless the log was opened without durability. StorageFailed: nothing was appended.
        PositionConflict: the checkpoint is before the log's own. WriterBusy: another writer has taken the log over.
        """
        ...

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[Record]:
        """Yield the records of [start, stop) in order of position, without the erased ones.

        stop: None means the log's end at the time of the call. DamagedLog names the position that cannot be read;
        DecodeError: a newer version of asof wrote the record.
        """
        ...

    def caused_by(self, cause: int) -> int:
        """Return the position of the first record with this cause or a later one.

        Causes never decrease, but where what is left of a group is told again after a redaction.
        """
        ...

    def told(self, cause: int) -> Iterator[int]:
        """Yield where the records with this cause begin, the last telling first; those of earlier ones are erased."""
        ...

    def of_group(self, group: str) -> Iterator[Record]:
        """Yield the records of a group in order of position, without the erased ones."""
        ...

    def head(self, position: int) -> bytes:
        """Return the chain's hash over all records before `position`: within one log, equal heads mean equal histories.

        Each log salts its payloads, so two logs with the same events have different heads. InvalidInput: the log ends
        before `position`.
        """
        ...

    def verify(self) -> int:
        """Check every record against the hash chain; return their number. DamagedLog names the first bad position."""
        ...

    def erase(self, group: str, *, before: int | None = None) -> int:
        """Destroy a group's payloads at positions below `before` (None: all) for ever; return their number.

        Positions and the chain stay whole; read() no longer yields these records. The events that record an erasure
        itself stay. Idempotent, so a caller repeats it after any failure.
        """
        ...


class MessageLog(EventLog, Protocol):
    """The log to which producers append: it assigns each message its position and its recorded time."""

    def latest(self) -> int:
        """Return the latest recorded time of all groups; NEG where there is no record."""
        ...

    def accept(self, messages: Sequence[AnyMessage], *, clock: int, recorded: Sequence[int] | None = None) -> range:
        """Append messages in order, all or none; return their positions. Durable when it returns.

        clock: UTC microseconds. Each message is recorded at max(clock, latest(), its group's last + 1 µs): recorded
        times rise strictly within a group, and a clock that went back changes no answer as of a known moment before.
        recorded: one time for each message instead of the clock, to import a history. Equal times rise by a
        microsecond each. PositionConflict: they decrease within a group, or the group has a later record.
        """
        ...

    def suppress(self, start: int, stop: int) -> bool:
        """Destroy the content of those messages of [start, stop) that were sent with `suppress_content`.

        Return whether no byte of them is left in the log's files. False: a reader holds the file; repeat it later.
        """
        ...
