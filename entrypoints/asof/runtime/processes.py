"""Set-up shared by processes that do long work: garbage collector, allocator, logging, priority, errors to send."""

import gc
import json
import logging
import os
import sys
import traceback
from threading import Lock
from typing import TYPE_CHECKING, Final

from asof_streams.errors import AsofError
from asof_streams.instants import render

if TYPE_CHECKING:
    from asof.settings import Settings

_SELDOM: Final = (200_000, 50, 1_000)  # thresholds of the garbage collector
_BLOCK: Final = 16 * 1024 * 1024  # bytes; glibc takes no note of those over 32 MiB


def tune_allocator() -> None:
    """Look for cycles seldom, and keep memory that is freed.

    A stream of small values leaves no cycles, and looking for them costs a fifth. SQLite takes and frees half a
    megabyte for one question: where glibc gives that back to the system each time, the question takes twice as long. It
    keeps up to twice the largest block that was ever freed.
    """
    gc.set_threshold(*_SELDOM)
    bytes(_BLOCK)


def return_freed_memory() -> None:
    """Return freed memory to the system (glibc's malloc_trim) after long work; elsewhere it does nothing.

    It takes milliseconds, and later allocations are slower.
    """
    import ctypes  # imported here: most commands need no ctypes

    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


class SeldomCollections:
    """A context manager that lets this process look for cycles as seldom as `tune_allocator` does, for long work.

    Several threads may work so at a time: what was set before the first of them is set again after the last. A program
    that has turned automatic collections off, has them as seldom, or sets something itself meanwhile keeps that.
    """

    _lock: Final = Lock()
    _count = 0
    _before: tuple[int, int, int] = _SELDOM

    def __enter__(self) -> None:
        cls = SeldomCollections
        with self._lock:
            if cls._count == 0:
                cls._before = gc.get_threshold()
                if 0 < cls._before[0] < _SELDOM[0]:
                    gc.set_threshold(*_SELDOM)
            cls._count += 1

    def __exit__(self, *_: object) -> None:
        cls = SeldomCollections
        with self._lock:
            cls._count -= 1
            if cls._count == 0 and gc.get_threshold() == _SELDOM:
                gc.set_threshold(*cls._before)


class _JsonFormatter(logging.Formatter):
    """Writes a log record as one line of JSON: time, level, logger, message, and the error's class and place."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": render(round(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info is not None and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
            fields["traceback"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(fields, ensure_ascii=False)


def log_to_stderr(settings: "Settings", *names: str) -> None:
    """Log to stderr: messages of asof at the level of the settings, warnings of other packages."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_JsonFormatter() if settings.log_format == "json" else text)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    for name in names:
        logging.getLogger(name).setLevel(settings.log_level.upper())


def log_worker(settings: "Settings") -> None:
    """Log to stderr what a worker does."""
    log_to_stderr(settings, "asof_agents")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # ten lines a second where there is no broker


def lower_priority() -> None:
    """Let a request go first: without, one in a hundred waits four times as long."""
    os.nice(5)


def sanitize_error(error: Exception) -> Exception:
    """Return an error that may be sent and shown: our own as it is, any other as its class and place without its text.

    The text of an error that nobody foresaw may quote content.
    """
    if isinstance(error, AsofError):
        return error
    return RuntimeError("".join([type(error).__name__, "\n", *traceback.format_tb(error.__traceback__)]))
