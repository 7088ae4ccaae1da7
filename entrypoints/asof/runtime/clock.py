"""The one clock: the time at the door. Everything behind the door takes its time from records."""

import time
from typing import Final

from asof_streams.errors import UnavailableError
from asof_streams.instants import DAY, render

_RELEASED: Final = 1_767_225_600_000_000  # 2026-01-01: no clock is right that is long after it, and long after the log
_YEAR: Final = 365.25 * DAY


def system() -> int:
    """Return the system's time in microseconds since 1970, UTC."""
    return time.time_ns() // 1_000


def expect_plausible(now: int, latest: int, years: float) -> int:
    """Return the time of a clock. UnavailableError: it is more than so many years after a log's latest record.

    What is recorded decades ahead would hold back all later messages, for recorded time never goes back. A log that is
    older than this release of asof was only idle, or holds an imported history.
    """
    if now > max(latest, _RELEASED) + years * _YEAR:
        raise UnavailableError(
            f"this machine's clock says {render(now)}, which is more than {years:g} years after all that is recorded: "
            "set the clock; or, if it is right, set ASOF_CLOCK_YEARS higher"
        )
    return now
