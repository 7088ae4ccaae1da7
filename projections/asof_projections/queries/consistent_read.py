"""One question, one state: whatever is committed while a question is answered shows in the next one."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from asof_projections.graph.ports import GraphStore


class BeliefReader(Protocol):
    """What asks a store several things to answer one question."""

    @property
    def _beliefs(self) -> GraphStore: ...


A = TypeVar("A", bound=BeliefReader)
P = ParamSpec("P")
R = TypeVar("R")


def consistent_read(ask: Callable[Concatenate[A, P], R]) -> Callable[Concatenate[A, P], R]:
    """Answer a question from one state of the asker's store. What it returns must be whole, not an iterator."""

    @wraps(ask)
    def asked(self: A, /, *args: P.args, **given: P.kwargs) -> R:
        held = self._beliefs.begin_read()
        try:
            return ask(self, *args, **given)
        finally:
            if held:
                self._beliefs.end_read()

    return asked
