"""Children of services in a test process, forked from one that has imported what they need: each start costs a second.

Every other test of a service has it start new interpreters, as it does where people use it.
"""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import current_thread, main_thread

from asof.runtime import fork_server
from asof.runtime.child_process import ChildProcess, Process
from asof.runtime.fork_server import ForkServer

_IMPORTED = (
    "asof.service.build_process",
    "asof.service.long_questions",
    "asof.service.search_process",
    "asof.service.worker_process",
    "asof_agents.extraction.english.extractor",
    "asof_projections.vectors.faiss_index",
)


@cache
def _server() -> ForkServer:
    """Return the one of this test process, which ends with it."""
    assert current_thread() is main_thread(), "it would end with this thread"
    started = ForkServer(*_IMPORTED)
    atexit.register(started.kill)
    return started


@contextmanager
def forked_children() -> Iterator[None]:
    """Let all children that are started in the block be forks."""
    server, start = _server(), ChildProcess._start

    def fork(_: ChildProcess, *inherited: int) -> Process:
        return fork_server._Fork(server, inherited)

    setattr(ChildProcess, "_start", fork)  # noqa: B010
    try:
        yield
    finally:
        setattr(ChildProcess, "_start", start)  # noqa: B010
