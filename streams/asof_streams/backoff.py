"""Pauses between tries of work that fails because of the world outside. Pure but for the sleep, which can be given.

There is no chance in them: what is tried again has one caller, so no crowd comes back at the same moment.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that begin with `first` seconds, and grow by `factor` up to `longest` seconds.

    retries: how many pauses there are; None where work is tried again without end.
    """

    first: float
    factor: float = 2.0
    longest: float = inf
    retries: int | None = None

    def pauses(self) -> Iterator[float]:
        """Yield the seconds to wait before each new try. Ask for new ones once a try has succeeded."""
        return islice(self._growing(), self.retries)

    def _growing(self) -> Iterator[float]:
        pause = self.first
        while True:
            yield min(pause, self.longest)
            pause = min(pause * self.factor, self.longest)

    def retry(
        self, work: Callable[[], T], failures: type[Exception], *, sleep: Callable[[float], object] = time.sleep
    ) -> T:
        """Return what work gives, tried again after each of `failures`; that of the last try is raised."""
        for pause in self.pauses():
            try:
                return work()
            except failures:
                sleep(pause)
        return work()


OUTAGE = Backoff(0.5, longest=10.0)
"""For what is opened again until the world outside is back."""
