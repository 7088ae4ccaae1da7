"""Consistent reads: a question that reads a store several times sees one state of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from asof_projections.graph.ports import GraphStore


class ConsistentStore(Protocol):
    """A store of which several reads can see one state."""

    def begin_read(self) -> bool: ...

    def end_read(self) -> None: ...


@contextmanager
def one_state(store: ConsistentStore) -> Iterator[None]:
    """Let all reads of a store see one state, that of the first; they may do so already."""
    begun = store.begin_read()
    try:
        yield
    finally:
        if begun:
            store.end_read()


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
        store = self._beliefs
        begun = store.begin_read()  # as one_state does, without a generator for each question
        try:
            return method(self, *args, **kwargs)
        finally:
            if begun:
                store.end_read()

    return consistent
