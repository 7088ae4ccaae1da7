"""Check-ins, which are messages that the bot sends first: when one is asked for, and which of them are due.

Nothing here waits or reads a clock. Whoever sends them asks at moments of its own which are due, and records each as
sent before it is: so each is sent at most once, whatever a clock shows and however often the process starts.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, Self

from asof_projections.conversation.model import Checkin
from asof_streams.instants import SECOND, to_datetime
from asof_streams.timezones import on_wall

LONGEST_MINUTES: Final = 43_200  # thirty days: a later check-in is due then
_MINUTE: Final = 60 * SECOND
_HOURS: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The hours of a day in which no check-in is sent, by the wall clock of a group's time zone.

    They begin with the minute `start` of the day and end before the minute `end`, over midnight if that is the smaller
    number. If both are the same, no hour is quiet. Where clocks are put forward or back, what they show decides: an
    hour that comes twice is quiet twice.
    """

    start: int
    end: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the hours that a text such as 22:00-08:00 names. ValueError: it names none."""
        written = _HOURS.fullmatch(text)
        if written is None:
            raise ValueError("no hours: write them as 22:00-08:00")
        first, first_minute, last, last_minute = map(int, written.groups())
        return cls(first * 60 + first_minute, last * 60 + last_minute)

    def covers(self, instant: int, zone: tzinfo) -> bool:
        """Say whether an instant is quiet where the clocks of a zone are read."""
        wall = on_wall(to_datetime(instant), zone)
        minute = wall.hour * 60 + wall.minute
        if self.start <= self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end


def due_time(asked_at: int, minutes: int) -> int | None:
    """Return from when on a check-in is due that is asked for in some minutes, or None where that asks for none.

    minutes: below 1 asks for none; more than LONGEST_MINUTES count as that many.
    """
    return asked_at + min(minutes, LONGEST_MINUTES) * _MINUTE if minutes >= 1 else None


def due_checkins(
    scheduled: Iterable[Checkin], now: int, quiet: QuietHours, zone_of: Callable[[str], tzinfo]
) -> list[Checkin]:
    """Return which check-ins are to be sent now, by when they were due, then by group.

    zone_of: the time zone of a group. In its quiet hours nothing is due to it; what was due then is so when they end.
    """
    due = [checkin for checkin in scheduled if checkin.due_at <= now and not quiet.covers(now, zone_of(checkin.group))]
    return sorted(due, key=lambda checkin: (checkin.due_at, checkin.group, checkin.checkin_id))
