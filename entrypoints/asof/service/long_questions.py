"""Questions that take long, each in a process of its own: neither requests nor messages wait for them."""

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from asof.runtime.child_process import ChannelClosed, ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof.service.children import StartChild
from asof.service.reader import Reader
from asof.service.search_process import answer
from asof.settings import Settings
from asof_streams import tracing
from asof_streams.errors import UnavailableError

R = TypeVar("R")


class LongQuestions:
    """Asks questions that can be pickled, one after the other, from any thread, which waits for the answer."""

    def __init__(self, places: DirectoryLayout, settings: Settings, start_child: StartChild = ChildProcess) -> None:
        self._given = places, settings
        self._start_child = start_child
        self._turn = Lock()
        self._state = Lock()
        self._child: ChildProcess | None = None
        self._ended = False

    def ask(self, question: Callable[[Reader], R]) -> R:
        """Return the answer. UnavailableError: the process ended before it, as all do with the service."""
        with self._turn:
            child = self._start()
            try:
                child.send(tracing.carried(question, last=True))
                found: R = child.receive()
            except ChannelClosed:
                raise UnavailableError("the process that answers this has ended: ask again") from None
            finally:
                child.kill()
            return found

    def _start(self) -> ChildProcess:
        with self._state:
            if self._ended:
                raise UnavailableError("the service is stopping: ask again once it runs")
            self._child = self._start_child(answer, *self._given)
            return self._child

    def end(self) -> None:
        """Answer nothing more, not even what is asked now."""
        with self._state:
            self._ended = True
            if self._child is not None:
                self._child.abort()
