"""Children of services in a test process, forked from one that has imported what they need: each start costs a second.

Every other test of a service has it start new interpreters, as it does where people use it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from asof.runtime.child_process import ChildProcess
from asof_process import zygote
from forks import fork_children


@contextmanager
def forked_children() -> Iterator[None]:
    """Let all children that are started in the block be forks."""
    start = ChildProcess._start
    fork_children(zygote())
    try:
        yield
    finally:
        setattr(ChildProcess, "_start", start)  # noqa: B010
