"""How a service starts its children: as forks that share what this process has imported, where there can be any."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from asof.runtime.child_process import ChildProcess, P, Work
from asof.runtime.fork_server import OwnForkServer
from asof.runtime.forks import can_fork


class StartChild(Protocol):
    """Starts a child that calls `work(channel, *args)`, as ChildProcess does."""

    def __call__(self, work: Work[P], *args: P.args, **named: P.kwargs) -> ChildProcess:
        """Return the child. OSError: it cannot be started."""
        ...


@contextmanager
def child_starter() -> Iterator[StartChild]:
    """Yield what starts children while the context lasts. Its thread has to live as long as they.

    Enter it once what they need is imported, and before there are other threads: then they start in milliseconds, and
    otherwise each is a new interpreter.
    """
    if not can_fork():
        yield ChildProcess
        return
    gc.freeze()  # a collection here would copy every page that the forks share
    server = OwnForkServer()
    try:
        yield server.start
    finally:
        server.kill()
