"""The reader that searches, in a process of its own: no other request waits while it computes vectors.

It has the one model and the one index of a service, and is started when it is first asked. One thread uses it.
"""

from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from operator import methodcaller
from typing import Final, Self, TypeVar

from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import begin_beside_parent, give_way, log_to_stderr, told
from asof.service.reader import Reader
from asof.settings import Settings
from asof_streams.errors import UnavailableError

_PROCESSES: Final = get_context("spawn")  # of nothing: ours has threads

R = TypeVar("R")


class Searcher:
    """Asks questions that can be pickled, one after the other. Use it as a context manager."""

    def __init__(self, places: DirectoryLayout, settings: Settings) -> None:
        self._given = places, settings
        self._running: tuple[Pipe, BaseProcess] | None = None

    def ask(self, question: Callable[[Reader], R]) -> R:
        """Return the answer. UnavailableError: the process ended, and is started again when it is asked next."""
        pipe, _ = self._running = self._running or self._started()
        try:
            pipe.send(question)
            answer: R | Exception = pipe.recv()
        except (EOFError, OSError):
            self._end()
            raise UnavailableError("the process that searches has ended: ask again") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def keep_up(self, seconds: float) -> bool:
        """Embed what is new for about so long; return whether there is more."""
        more: bool = self.ask(methodcaller("keep_up", seconds))
        return more

    def _started(self) -> tuple[Pipe, BaseProcess]:
        pipe, theirs = _PROCESSES.Pipe()
        process = _PROCESSES.Process(target=_answer, args=(theirs, *self._given), name="asof-searcher", daemon=True)
        process.start()
        theirs.close()
        return pipe, process

    def _end(self) -> None:
        if self._running is not None:
            pipe, process = self._running
            pipe.close()
            process.join()
            self._running = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


def _answer(pipe: Pipe, places: DirectoryLayout, settings: Settings) -> None:
    """Answer questions until there are no more."""
    begin_beside_parent()
    give_way()
    log_to_stderr("asof")
    with suppress(EOFError), Reader(places, settings, clock.system) as reader:
        while True:
            question = pipe.recv()
            try:
                answer = question(reader)
            except Exception as error:  # noqa: BLE001 - it is whoever asked that has to know
                answer = told(error)
            pipe.send(answer)
