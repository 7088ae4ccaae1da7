"""The operations on the graphs of a memory in a graph database: check, make and copy them.

InvalidInput: the extra `arango` is not installed. GraphUnavailable: the database cannot be reached.
"""

from typing import Literal

from asof.runtime import graph_admin
from asof.runtime.graph_admin import GraphCheck
from asof.runtime.graph_database import require_driver
from asof.settings import Settings


def create_graphs(settings: Settings, *, replace: bool) -> list[str]:
    """Make an empty graph of every log that has none, or of every one with `replace`; return the logs and where."""
    require_driver()
    return graph_admin.create(_in_arango(settings), replace=replace)


def check_graphs(settings: Settings) -> list[GraphCheck]:
    """Compare every graph with its log and with the directory's own graph."""
    require_driver()
    return graph_admin.check(_in_arango(settings))


def copy_graphs(settings: Settings, to: Literal["arango", "sqlite"]) -> list[GraphCheck]:
    """Make the graphs of one side equal to those of the other, and compare them. WriterBusy: somebody writes."""
    require_driver()
    return graph_admin.copy(_in_arango(settings), to)


def _in_arango(settings: Settings) -> Settings:
    return settings.model_copy(update={"graph": "arango"})
