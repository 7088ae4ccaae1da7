"""The memories that take part: asof, a plain table, and other packages where they are installed."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from bench.two_clocks.adapters.asof_memory import AsofMemory
from bench.two_clocks.adapters.plain_table import PlainTable
from bench.two_clocks.told import Adapter


def adapters() -> dict[str, Callable[[Path], Adapter]]:
    """Return what makes each adapter, by its name; given the folder in which it may write."""
    found: dict[str, Callable[[Path], Adapter]] = {"asof": AsofMemory, "table": PlainTable}
    if find_spec("memvara") is not None:
        from bench.two_clocks.adapters.memvara_memory import MemvaraMemory

        found["memvara"] = MemvaraMemory
    if find_spec("mem0") is not None:
        from bench.two_clocks.adapters.mem0_memory import Mem0Memory

        found["mem0"] = Mem0Memory
    if find_spec("graphiti_core") is not None and find_spec("kuzu") is not None:
        from bench.two_clocks.adapters.graphiti_memory import GraphitiMemory

        found["graphiti"] = GraphitiMemory
    return found
