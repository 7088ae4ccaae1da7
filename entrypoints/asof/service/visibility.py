"""How far messages are believed, for tasks that wait for it at the same time: they share each look at the files."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from asof_streams.errors import UnavailableError
from asof_streams.polling import looks


class Visibility:
    """The offset of the messages topic before which all messages are believed, for the tasks of one event loop.

    look: returns that offset, given what it returned last, -1 at first. Other threads call it, one at a time.
    """

    def __init__(self, look: Callable[[int], int]) -> None:
        self._look = look
        self._offset = -1
        self._looks = 0  # that are over
        self._turn = asyncio.Lock()

    async def reach(self, offset: int, seconds: float) -> None:
        """Wait until the message at an offset is believed, for some seconds at most.

        What cannot be read at a look is not believed yet.
        """
        for pause in looks(seconds):
            if self._offset <= offset:
                await self._look_once()
            if self._offset > offset:
                return
            await asyncio.sleep(pause)

    async def _look_once(self) -> None:
        """Look, or wait for the look of another that is under way."""
        before = self._looks
        async with self._turn:
            if self._looks == before:
                with suppress(UnavailableError):
                    self._offset = await asyncio.to_thread(self._look, self._offset)
                self._looks += 1
