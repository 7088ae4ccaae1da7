"""Tasks that wait until messages are believed: they share looks, which may take long and fail."""

import asyncio
from collections.abc import Callable
from threading import Event

from asof.service.visibility import Visibility
from asof_streams.errors import StorageFailed, UnavailableError
from patience import SECONDS


class Looks:
    """Sees at each look what is next: an offset, or an error; at the end the last one again and again."""

    def __init__(self, *seen: int | UnavailableError) -> None:
        self._seen = seen
        self.since: list[int] = []

    def __call__(self, since: int) -> int:
        seen = self._seen[min(len(self.since), len(self._seen) - 1)]
        self.since.append(since)
        if isinstance(seen, UnavailableError):
            raise seen
        return seen


def reach(look: Callable[[int], int], *offsets: int, seconds: float = SECONDS) -> None:
    """Let as many tasks wait at the same time, each for the message at one of some offsets."""

    async def wait() -> None:
        visibility = Visibility(look)
        await asyncio.gather(*(visibility.reach(offset, seconds) for offset in offsets))

    asyncio.run(wait())


def test_all_that_wait_at_the_same_time_use_the_same_looks() -> None:
    looks = Looks(3, 100)

    reach(looks, *range(3, 100))

    assert looks.since == [-1, 3]


def test_there_is_no_look_for_what_is_known_to_be_believed() -> None:
    looks = Looks(3)

    async def wait() -> None:
        visibility = Visibility(looks)
        for offset in (2, 1, 2):
            await visibility.reach(offset, SECONDS)

    asyncio.run(wait())
    assert looks.since == [-1]


def test_what_cannot_be_read_is_looked_for_again_as_long_as_there_is_time() -> None:
    looks = Looks(StorageFailed("the disk fails"), UnavailableError("not now"), 1)

    reach(looks, 0)

    assert looks.since == [-1, -1, -1]


def test_a_wait_ends_when_its_time_is_over() -> None:
    for seen in (0, StorageFailed("the disk fails")):
        looks = Looks(seen)
        reach(looks, 0, seconds=0.0)
        assert looks.since == [-1], "there is a look in any case"


def test_others_go_on_while_one_looks() -> None:
    let_go = Event()

    def look(_: int) -> int:
        assert let_go.wait(SECONDS)
        return 1

    async def wait() -> None:
        waiting = asyncio.create_task(Visibility(look).reach(0, SECONDS))
        await asyncio.sleep(0)
        let_go.set()
        await waiting

    asyncio.run(wait())
