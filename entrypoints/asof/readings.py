"""Every question a memory answers, each fixed once to a moment on both clocks: valid, and known."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from asof.bootstrap import Opened, Places, existing, open_reader
from asof.settings import Settings
from asof_projections.generations import GenerationInfo
from asof_projections.rows import Entity, Fact, Moment
from asof_streams import instants
from asof_streams.events import Record

Time = str | datetime | int

HEAD = instants.INF - 1  # as known now: after everything that was recorded


def instant(time: Time) -> int:
    """Return a time given at the door as microseconds: text (RFC 3339, or a date, month or year), datetime or int."""
    match time:
        case int():
            return time
        case datetime():
            return instants.from_datetime(time)
        case str():
            return instants.parse_moment(time)
