"""asof: an event-sourced, bi-temporal memory for AI agents.

`asof.open(directory)` gives a Memory: add messages, ask what was true and what was known, as of any moment.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asof.memory import Memory

__all__ = ["open"]


def open(data: str | Path | None = None, **settings: Any) -> "Memory":  # noqa: A001 - asof.open reads well
    """Open the memory in a directory (default: ASOF_DATA or ./asof-data), making it at the first write.

    `settings` are those of docs/reference/settings.md, such as ontology="agent_memory_v1" or embedder="none".
    InvalidInput names one that cannot be.
    """
    from asof.memory import Memory
    from asof.settings import read

    chosen = read(**settings) if data is None else read(data=Path(data), **settings)
    return Memory(chosen.data, chosen)
