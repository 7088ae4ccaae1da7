"""Vectors behind the worker: what is new is embedded between searches, some facts at a time."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Timer
from typing import Final

from asof.service.search_process import Searcher
from asof_streams.errors import AsofError
from asof_streams.resource_pool import ResourcePool

_SOME_SECONDS: Final = 0.03  # for which a search may find the searcher busy
_PAUSE_SECONDS: Final = 0.5

log = logging.getLogger(__name__)


class BackgroundEmbedder:
    """Has the searcher bring its index up; while the worker is `busy`, now and then: it needs the processor more.

    What it has not come to yet is found by words.
    """

    def __init__(self, searcher: ResourcePool[Searcher], busy: Callable[[], bool]) -> None:
        self._searcher = searcher
        self._busy = busy
        self._asked = False
        self._erasing = 0
        self.failure = ""  # why nothing was embedded when it was last tried; empty: it was

    def follow(self) -> None:
        """Let what is new be embedded, from any thread."""
        if not self._asked:
            self._asked = True
            self._searcher.submit(self._some)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Embed nothing meanwhile: what is erased in that time would be kept after it was forgotten."""
        self._erasing += 1
        await asyncio.wrap_future(self._searcher.submit(lambda _: None))  # what is under way ends
        try:
            yield
        finally:
            self._erasing -= 1
            self.follow()

    def _some(self, searcher: Searcher) -> None:
        if self._erasing:
            self._asked = False
            return
        if self._busy():
            pause = Timer(_PAUSE_SECONDS, self._go_on)
            pause.daemon = True
            pause.start()
        else:
            self._asked = False
        try:
            if searcher.keep_up(_SOME_SECONDS):
                self.follow()
        except AsofError as error:  # it is tried again when there is more; a search says it too
            if self.failure != str(error):
                log.warning("nothing is embedded: %s", error)
            self.failure = str(error)
        else:
            self.failure = ""

    def _go_on(self) -> None:
        self._asked = False
        self.follow()
