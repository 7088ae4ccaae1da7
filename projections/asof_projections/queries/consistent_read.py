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


def consistent_read(method: Callable[Concatenate[A, P], R]) -> Callable[Concatenate[A, P], R]:
    """Answer a question from one state of the asker's store. What it returns must be whole, not an iterator."""

    @wraps(method)
    def consistent(self: A, /, *args: P.args, **kwargs: P.kwargs) -> R:
        begun = self._beliefs.begin_read()
        try:
            return method(self, *args, **kwargs)
        finally:
            if begun:
                self._beliefs.end_read()

    return consistent
