"""Consistent reads: a question that reads a store several times sees one state of it."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from asof_projections.graph.ports import GraphStore


class BeliefReader(Protocol):
    """An object whose methods read a store several times."""

    @property
    def _beliefs(self) -> GraphStore: ...


A = TypeVar("A", bound=BeliefReader)
P = ParamSpec("P")
R = TypeVar("R")


def consistent_read(method: Callable[Concatenate[A, P], R]) -> Callable[Concatenate[A, P], R]:
    """Run a method within one consistent read of its store. It must return a finished answer, not an iterator."""

    @wraps(method)
    def consistent(self: A, /, *args: P.args, **kwargs: P.kwargs) -> R:
        begun = self._beliefs.begin_read()
        try:
            return method(self, *args, **kwargs)
        finally:
            if begun:
                self._beliefs.end_read()

    return consistent
