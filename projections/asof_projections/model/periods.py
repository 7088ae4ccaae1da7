"""Periods of valid time."""

from datetime import datetime, timedelta


def is_right_before(start: datetime | None, end: datetime | None) -> bool:
    """Return whether a period stands right before its end, since nobody said when it began: "I used to work at SAP"."""
    return start is not None and end is not None and end - start <= timedelta(microseconds=1)
