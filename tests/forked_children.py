"""How children of test processes start: as forks of the zygote, which has imported all, or as new interpreters."""

from collections.abc import Iterator
from contextlib import contextmanager

from asof.runtime.child_process import ChildProcess
from asof_process import zygote
from forks import fork_children

_START = ChildProcess._start  # a new interpreter


class _LazyZygote:
    """The process that forks, which starts when it is first asked."""

    def fork(self, *inherited: int) -> int:
        return zygote().fork(*inherited)

    def end(self, pid: int) -> int:
        return zygote().end(pid)


@contextmanager
def forked_children() -> Iterator[None]:
    """Let all children that are started in the block be forks."""
    with _restored():
        fork_children(_LazyZygote())
        yield


@contextmanager
def new_interpreters() -> Iterator[None]:
    """Let all children that are started in the block be new interpreters, as where people use asof."""
    with _restored():
        setattr(ChildProcess, "_start", _START)  # noqa: B010
        yield


@contextmanager
def _restored() -> Iterator[None]:
    """Let children start as before once the block ends."""
    start = ChildProcess._start
    try:
        yield
    finally:
        setattr(ChildProcess, "_start", start)  # noqa: B010
