"""Pauses between looks at a state that another process brings about: files and logs tell nobody that they changed."""

import time
from collections.abc import Iterator
from typing import Final

_SHARE: Final = 0.1  # of the time waited so far: what is waited for comes at most this much later
_LEAST, _MOST = 0.002, 0.1  # seconds


def looks(seconds: float) -> Iterator[float]:
    """Yield after each look how many seconds to pause before the next one; 0 after the last, when they are over.

    Example: `for pause in looks(2.0): if there(): return True; sleep(pause)`, then `return False`.
    """
    start = time.monotonic()
    while (waited := time.monotonic() - start) < seconds:
        yield min(max(_SHARE * waited, _LEAST), _MOST, seconds - waited)
    yield 0.0
