"""asof: an event-sourced, bi-temporal memory for AI agents.

`asof.open(directory)` gives a Memory: add messages, ask what was true and what was known, as of any moment.
`asof.open_async(directory)` gives its twin for programs with an event loop.
"""

from asof.api.exports import NAMES
from asof.api.exports import __getattr__ as __getattr__
from asof.api.exports import open as open  # noqa: A004 - asof.open reads well
from asof.api.exports import open_async as open_async
from asof.api.exports import restore as restore

__all__ = NAMES  # noqa: PLE0605 - written once, beside where each name comes from


def __dir__() -> list[str]:
    """Return the names that completion offers: also those that are not loaded yet."""
    return sorted(NAMES)
