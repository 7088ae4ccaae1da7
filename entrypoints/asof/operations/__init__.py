"""Operations: each question and each write once, with its query model, its answer type and its function."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asof.operations import backup, erasures, generations, imports, replay, upkeep

__all__ = [
    "answers",
    "backup",
    "consolidation",
    "context",
    "curation",
    "doctor",
    "entities",
    "erasures",
    "errors",
    "extraction",
    "facts",
    "generations",
    "graph_database",
    "graphiti",
    "history",
    "ids",
    "imports",
    "kafka",
    "logs",
    "messages",
    "model",
    "ontologies",
    "operation",
    "periods",
    "posts",
    "process",
    "prompts",
    "queries",
    "quotes",
    "replay",
    "service_answers",
    "sessions",
    "times",
    "tracing",
    "upkeep",
    "usage",
    "writes",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """Load an operation's module when it is first named: a process that asks a question needs few of them."""
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")
