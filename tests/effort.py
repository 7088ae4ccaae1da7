"""How hard the tests try: some twenty times with each change, hundreds of times at night (`make nightly`)."""

import os
from typing import Final

NIGHTLY: Final = os.environ.get("ASOF_TEST_NIGHTLY") == "1"


def tries(change: int, *, nightly: int) -> int:
    """Return how often something is tried: with a change, or at night."""
    return nightly if NIGHTLY else change
