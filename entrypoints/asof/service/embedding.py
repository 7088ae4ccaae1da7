"""Embedding behind writes and searches: one thread or process embeds new texts, some at a time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from threading import Timer
from typing import Final, Protocol

from asof_streams.errors import AsofError, ContractError

_SOME_SECONDS: Final = 0.03  # for which a search may find the searcher busy
_PAUSE_SECONDS: Final = 0.5

log = logging.getLogger(__name__)


class Embeds(Protocol):
    """The owner of the vectors: the searcher of a service, or the session of a memory."""

    def keep_up(self, seconds: float) -> bool:
        """Embed new texts for about so long; return whether there are more."""
        ...


class BackgroundEmbedder:
    """Keeps vectors up to date; while a worker is `busy`, only now and then: it needs the processor more.

    `submit` is that of the pool whose one thread does it. What it has not come to yet is found by words.
    """

    def __init__(
        self, submit: Callable[[Callable[[Embeds], None]], "Future[None]"], busy: Callable[[], bool] = lambda: False
    ) -> None:
        self._submit = submit
        self._busy = busy
        self._asked = False
        self._paused = 0  # by so many callers
        self.failure = ""  # why nothing was embedded when it was last tried; empty: it was

    def follow(self) -> None:
        """Start embedding new texts, from any thread; nothing starts once the pool is closed."""
        if not self._asked:
            self._asked = True
            with suppress(ContractError):  # a worker or a timer may go on for a moment after it
                alone = Context()  # of no caller: what is embedded is of many traces
                alone.run(self._submit, self._some).add_done_callback(_say_unforeseen)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Pause embedding: a text that is erased in that time would get a vector after its erasure."""
        with self.paused():
            await asyncio.wrap_future(self._submit(lambda _: None))  # what is under way ends
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Start to embed nothing, as before a search that somebody waits for; called in the event loop."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1
            self.follow()

    def _some(self, vectors: Embeds) -> None:
        if self._busy():
            pause = Timer(_PAUSE_SECONDS, self._go_on)
            pause.daemon = True
            pause.start()
        else:
            self._asked = False  # before it looks: whoever ends a pause after that asks again
        if self._paused:
            return
        try:
            more = vectors.keep_up(_SOME_SECONDS)
        except AsofError as error:  # it is tried again when there is more; a search says it too
            if self.failure != str(error):
                log.warning("nothing is embedded: %s", error)
            self.failure = str(error)
        else:
            self.failure = ""
            if more:
                self.follow()

    def _go_on(self) -> None:
        self._asked = False
        self.follow()


def _say_unforeseen(done: "Future[None]") -> None:
    """Log an error that nobody asks for."""
    if not done.cancelled() and (error := done.exception()) is not None:
        log.error("nothing is embedded: %s", type(error).__name__)
