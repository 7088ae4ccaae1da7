"""Children of processes of tests: forks of one that has imported what they need, as a new interpreter would again.

What an operator starts, and what that starts, are new interpreters in the tests that ask for them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from asof.runtime.child_process import ChildProcess
from asof_process import zygote
from forks import fork_children

_START = ChildProcess._start  # a new interpreter


class _Zygote:
    """The process that forks, which starts when it is first asked."""

    def fork(self, *inherited: int) -> int:
        return zygote().fork(*inherited)

    def end(self, pid: int) -> int:
        return zygote().end(pid)


@contextmanager
def forked_children() -> Iterator[None]:
    """Let all children that are started in the block be forks."""
    start = ChildProcess._start
    fork_children(_Zygote())
    try:
        yield
    finally:
        setattr(ChildProcess, "_start", start)  # noqa: B010


@contextmanager
def new_interpreters() -> Iterator[None]:
    """Let all children that are started in the block be new interpreters, as where people use asof."""
    start = ChildProcess._start
    setattr(ChildProcess, "_start", _START)  # noqa: B010
    try:
        yield
    finally:
        setattr(ChildProcess, "_start", start)  # noqa: B010
