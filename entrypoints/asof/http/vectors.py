"""Vectors behind the worker: what is new is embedded between searches, some facts at a time."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from asof.http.reader import Reader
from asof.http.threads import Threads
from asof_streams.errors import AsofError

_SOME_SECONDS: Final = 0.03  # for which a search may find the searcher busy

log = logging.getLogger(__name__)


class Vectors:
    """Has the searcher bring its index up. What it has not come to yet is found by words."""

    def __init__(self, searcher: Threads[Reader]) -> None:
        self._searcher = searcher
        self._asked = False
        self._erasing = 0
        self._said = ""

    def follow(self) -> None:
        """Let what is new be embedded, from any thread."""
        if not self._asked:
            self._asked = True
            self._searcher.ask(self._some)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Embed nothing meanwhile: what is erased in that time would be kept after it was forgotten."""
        self._erasing += 1
        await asyncio.wrap_future(self._searcher.ask(lambda _: None))  # what is under way ends
        try:
            yield
        finally:
            self._erasing -= 1
            self.follow()

    def _some(self, reader: Reader) -> None:
        self._asked = False
        if self._erasing:
            return
        try:
            if reader.keep_up(_SOME_SECONDS):
                self.follow()
        except AsofError as error:  # it is tried again when there is more; a search says it too
            if self._said != str(error):
                log.warning("nothing is embedded: %s", error)
                self._said = str(error)
