"""What is the same in every process of ours that does long work; one beside another ends with that one."""

import gc
import logging
import os
import signal
import traceback
from threading import Thread
from typing import Final

from asof_streams.errors import AsofError

_BLOCK: Final = 16 * 1024 * 1024  # bytes; glibc takes no note of those over 32 MiB


def tune() -> None:
    """Look for cycles seldom, and keep memory that is freed.

    A stream of small values leaves no cycles, and looking for them costs a fifth. SQLite takes and frees half a
    megabyte for one question: where glibc gives that back to the system each time, the question takes twice as long. It
    keeps up to twice the largest block that was ever freed.
    """
    gc.set_threshold(200_000, 50, 1_000)
    bytes(_BLOCK)


def log_to_stderr(*names: str) -> None:
    """Let what packages of ours say go to stderr, and of others what is wrong."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for name in names:
        logging.getLogger(name).setLevel(logging.INFO)


def begin_beside_parent() -> None:
    """Begin long work: leave signals to the parent, which tells this process to finish; end at once if it is gone."""
    tune()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def give_way() -> None:
    """Let a request go first: without, one in a hundred waits four times as long."""
    os.nice(5)


def told(error: Exception) -> Exception:
    """Return an error as it can be sent; one that nobody foresaw as the place where it was raised, without content."""
    if isinstance(error, AsofError):
        return error
    return RuntimeError("".join([type(error).__name__, "\n", *traceback.format_tb(error.__traceback__)]))


def _end_with_parent() -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
