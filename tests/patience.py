"""Waiting for a state. A test has no other limit of time: what is soon on an idle machine is late on a busy one."""

import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 300.0  # far more than anything takes at a load of thirty; it ends a wait for what never comes
_LOOK_SECONDS: Final = 0.01


def wait_until(true: Callable[[], object], told: Callable[[], str] = str) -> None:
    """Wait until something is true; fail, with what is `told` then, if it never is."""
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, f"it did not come about in {SECONDS:.0f} s {told()}"
        time.sleep(_LOOK_SECONDS)
