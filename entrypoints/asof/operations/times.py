"""Times at a door: aware datetimes to microseconds since 1970 and back, and the clock of this machine."""

from asof.runtime.clock import system
from asof_streams.instants import from_datetime, to_datetime

__all__ = ["from_datetime", "system", "to_datetime"]
