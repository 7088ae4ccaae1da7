"""The budget of one message: how much work its extraction may be, counted in units that every machine counts alike.

An ordinary text of the largest size that a message may have is about half of it. What costs more is nothing that
people say in one message, and would hold up those behind it: it is parked.
"""

from typing import Final

from asof_streams.errors import InvalidInput

WORK_MAX: Final = 900_000  # a unit is some four microseconds of a processor of 2020
WORD: Final = 1
SENTENCE: Final = 8
CLAUSE: Final = 20
CUES: Final = 2  # looked at for one unit, those that begin with a verb of the text
REPEATED: Final = 40  # what is stated, once more
TIMES: Final = 60  # for each stretch of text that is searched for times
MENTION: Final = 70  # with what follows from it in the layers and stores, as of a relationship
RELATIONSHIP: Final = 130
NAMES: Final = 200  # that a group is asked for
LOOK_BACK: Final = 16_384  # characters of each earlier turn that are read again


class Work:
    """Counts the work on one message."""

    def __init__(self, limit: int = WORK_MAX) -> None:
        self.units = 0
        self._limit = limit

    def spend(self, units: int) -> None:
        """Count more work. InvalidInput: it is too much for one message."""
        self.units += units
        if self.units > self._limit:
            reason = f"it is more work than one message may be, {self._limit} units: split it into several messages"
            raise InvalidInput(reason, field="content")
