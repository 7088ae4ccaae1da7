"""Waiting for a state. A test has no other limit of time: what is soon on an idle machine is late on a busy one."""

import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 300.0  # far more than anything takes at a load of thirty; it ends a wait for what never comes
_LOOK_SECONDS: Final = 0.1, 0.005  # between looks, at most and at least
_SHARE: Final = 0.1  # of the time waited so far: looking costs the processor what is waited for


def wait_until(true: Callable[[], object], told: Callable[[], str] = str) -> None:
    """Wait until something is true; fail, with what is `told` then, if it never is."""
    start = time.monotonic()
    while not true():
        waited = time.monotonic() - start
        assert waited < SECONDS, f"it did not come about in {SECONDS:.0f} s {told()}"
        most, least = _LOOK_SECONDS
        time.sleep(min(most, max(least, _SHARE * waited)))
