"""The port of a log: an ordered, append-only sequence of events that knows its position.

Three kinds of log have one shape: `messages` (what was said to us), `episodic` (what was recorded) and one
`semantic.<generation>` for each generation (what is believed). Positions start at 0 and have no gaps.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from asof_streams.events import Draft, Record
from asof_streams.messages import AnyMessage


class EventLog(Protocol):
    """A log as its readers and its one writer see it."""

    @property
    def name(self) -> str:
        """`messages`, `episodic` or `semantic.<generation>`."""
        ...

    def end(self) -> int:
        """Return the position that the next record will get."""
        ...

    def checkpoint(self) -> int:
        """Return the position of the input log to go on from: all before it is in this log, or gave nothing."""
        ...

    def append(self, drafts: Sequence[Draft], *, checkpoint: int) -> int:
        """Append all or nothing, with the checkpoint that it stands for; return the new end.

        Durable when it returns, as far as the log's fsync mode goes. StorageFailed: nothing was appended.
        """
        ...

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[Record]:
        """Yield the records of [start, stop), in order, without the erased ones. No stop: up to the end as of now.

        DamagedLog names the position that cannot be read.
        """
        ...

    def head(self, position: int) -> bytes:
        """Return the chain's hash over all records before `position`: equal heads mean equal histories.

        Each log salts its chain, so two logs with the same events have different heads.
        """
        ...

    def verify(self) -> int:
        """Check every record against the hash chain; return how many there are. DamagedLog names the first bad one."""
        ...

    def erase(self, group: str, *, before: int | None = None) -> int:
        """Make a group's payloads below position `before` (None: all) unreadable for ever; return how many.

        Positions and chain stay whole; read() no longer yields these records. What says that something was erased
        stays. Safe to repeat after any failure.
        """
        ...


class MessageLog(EventLog, Protocol):
    """The log that producers append to: it gives each message its position and its recorded time."""

    def accept(self, messages: Sequence[AnyMessage], *, clock: int, recorded: Sequence[int] | None = None) -> range:
        """Append messages; return their positions. Durable when it returns.

        Each is recorded at max(clock, the last of its group + 1 µs), so that its time rises strictly within a group.
        `recorded` gives the times instead of the clock, for moving a history in: PositionConflict where they decrease,
        or where the group has something later. Times that stand still rise by a microsecond each.
        """
        ...

    def suppress(self, start: int, stop: int) -> bool:
        """Make the messages of [start, stop) that wish it unreadable for ever, as if they were erased.

        Returns whether no byte of them is left in the log's files; if not, a reader is in the way: repeat it later.
        """
        ...
