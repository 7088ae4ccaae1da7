"""The reader that searches, in a process of its own: no other request waits while it computes vectors.

It has the one model and the one index of a service. It is started before the worker, and reads them meanwhile, or when
it is first asked: one thread uses it.
"""

from collections.abc import Callable
from operator import methodcaller
from typing import Final, Self, TypeVar

from asof.runtime import clock
from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr, lower_priority, sanitize_error
from asof.service.children import StartChild
from asof.service.reader import Reader
from asof.settings import Settings
from asof_streams import tracing
from asof_streams.errors import UnavailableError

R = TypeVar("R")

_DONE: Final = object()


class Searcher:
    """Asks questions that can be pickled, one after the other. Use it as a context manager."""

    def __init__(self, places: DirectoryLayout, settings: Settings, start_child: StartChild = ChildProcess) -> None:
        self._given = places, settings
        self._start_child = start_child
        self._child: ChildProcess | None = None
        self._was_asked = False

    def start(self) -> None:
        """Start the process, which gets ready while others do."""
        self._child = self._child or self._start_child(answer, *self._given)

    def ask(self, question: Callable[[Reader], R]) -> R:
        """Return the answer. UnavailableError: the process ended, and is started again when it is asked next."""
        self.start()
        assert self._child is not None
        self._was_asked = True
        try:
            self._child.send(tracing.carried(question))
            found: R = self._child.receive()
        except ChannelClosed:
            self._stop()
            raise UnavailableError("the process that searches has ended: ask again") from None
        return found

    def keep_up(self, seconds: float) -> bool:
        """Embed new texts for about so long; return whether there are more."""
        more: bool = self.ask(methodcaller("keep_up", seconds))
        return more

    def _stop(self) -> None:
        if self._child is not None:
            self._child.stop() if self._was_asked else self._child.kill()  # who reads files only has nothing to finish
            self._child = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()


def answer(channel: Channel, places: DirectoryLayout, settings: Settings) -> None:
    """Answer questions until there are no more. What they need of files is read while nobody asks yet."""
    lower_priority()
    log_to_stderr(settings, "asof")
    with Reader(places, settings, clock.system) as reader:
        steps = reader.prepare()
        while True:
            while not channel.ready() and next(steps, _DONE) is not _DONE:
                pass
            question = channel.receive()
            try:
                found = question(reader)
            except Exception as error:  # noqa: BLE001 - it is whoever asked that has to know
                found = sanitize_error(error)
            channel.send(found)
