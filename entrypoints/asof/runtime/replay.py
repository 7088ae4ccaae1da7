"""Replay: the records of a log, in order, into a sink, at full speed or at a pace, from where the sink stopped.

A sink has each record at least once: after a failure those behind its position come again, with the same ids and
positions. A sink that keeps its position with its own data, as a directory does, has each record once.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, Protocol

from asof_projections.model.answers import LogEvent
from asof_streams.errors import DamagedFile, InvalidInput
from asof_streams.events import Record
from asof_streams.files import make_folder, replace_file
from asof_streams.json_document import read_json
from asof_streams.sqlite_log import SqliteLog

_CHUNK: Final = 1_000  # events at once, or a few more: those of one message stay together
_POLL_SECONDS: Final = 0.2
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)


class Projection(Protocol):
    """A read model of your own, which `Memory.replay` and `asof replay` feed with the events of a log.

    An object with this one method. A class that `asof replay` is to make takes no arguments; if it has a method
    `close`, that is called at the end.
    """

    def apply(self, events: Sequence[LogEvent]) -> None:
        """Process the next events, in the order of their positions; those of one message come together.

        Make it durable before returning: the position after them is kept then. After a failure in between, the same
        events come again, so processing them twice must do no harm: an event's `id` and `position` never change.
        An exception ends the replay before its position moves.
        """
        ...


class Sink(Protocol):
    """The destination of a replay."""

    def position(self) -> int | None:
        """Return the position of the record to go on with; None: it is kept for the sink."""
        ...

    def apply(self, records: Sequence[Record]) -> None:
        """Take records for good, in order; those of one message come together."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class ReplayPosition:
    """The position in a log at which a sink goes on, in a file beside the log, with the chain's hash there."""

    def __init__(self, folder: Path, name: str, log: SqliteLog) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidInput("up to 100 letters, digits, '.', '_' and '-'", field="name")
        self._path: Final = folder / f"{name}.{log.name}.json"
        self._log = log

    def load(self) -> int:
        """Return the position; 0 where none is kept. InvalidInput: it is one of another log, that was here before."""
        try:
            kept = read_json(self._path.read_text("utf-8"))
            position, hash_ = kept["position"], bytes.fromhex(kept["hash"])
        except FileNotFoundError:
            return 0
        except (ValueError, KeyError, TypeError):
            raise DamagedFile(f"{self._path} is no position of a replay: remove it, and say --from") from None
        if position > self._log.end() or self._log.head(position) != hash_:
            raise InvalidInput("the log is not the one that was replayed before: begin anew with 0", field="from")
        return int(position)

    def save(self, position: int) -> None:
        """Keep the position, durably."""
        make_folder(self._path.parent)
        kept = {"position": position, "hash": self._log.head(position).hex()}
        replace_file(self._path, [json.dumps(kept).encode()])


class Pace:
    """Waits so that records come in the rhythm in which they were recorded, `factor` times as fast."""

    def __init__(self, factor: float, sleep: Callable[[float], None], monotonic: Callable[[], float]) -> None:
        self._factor = factor
        self._sleep = sleep
        self._monotonic = monotonic
        self._begun: tuple[float, int] | None = None

    def wait(self, recorded_at: int) -> None:
        """Wait until a record is due."""
        if self._begun is None:
            self._begun = self._monotonic(), recorded_at
        began, first = self._begun
        due = began + (recorded_at - first) / 1e6 / self._factor
        if (seconds := due - self._monotonic()) > 0:
            self._sleep(seconds)


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that is done: of the positions [start, end) of a log, how many events were there to replay."""

    log: str
    start: int
    end: int
    events: int


def replay(
    log: SqliteLog,
    sink: Sink,
    start: int,
    stop: int | None,
    *,
    save: Callable[[int], None],
    pace: float | None = None,
    wait: Callable[[float], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Replay:
    """Replay the records of [start, stop) into a sink; return what was replayed.

    save: is told each position that the sink has come to. pace: how many times the original speed; None: without a
    pause. wait: at the end of the log, waits for more, without end, unless there is a `stop`; None: it ends there.
    DamagedLog: a record is not what was written; the sink does not get it, since nothing shows damage in a copy.
    """
    paced = None if pace is None else Pace(pace, sleep, monotonic)
    position, events = start, 0
    while True:
        end = log.end() if stop is None else min(stop, log.end())
        records_left = log.read(position, end, checked=True)
        messages: Iterator[list[Record]] = (list(some) for _, some in groupby(records_left, _cause))
        for records in messages if paced else _chunks(messages):
            if paced:
                paced.wait(records[0].recorded_at)
            sink.apply(records)
            position, events = records[-1].position + 1, events + len(records)
            save(position)
        if position < end:  # what stood there was erased
            position = end
            save(position)
        if wait is None or (stop is not None and position >= stop):
            return Replay(log.name, start, position, events)
        wait(_POLL_SECONDS)


def _cause(record: Record) -> int:
    return record.cause


def _chunks(messages: Iterable[list[Record]]) -> Iterator[list[Record]]:
    chunk: list[Record] = []
    for records in messages:
        chunk += records
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
