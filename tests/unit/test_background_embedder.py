"""Vectors behind searches: by one thread, while its pool is open."""

import asyncio
from contextlib import nullcontext
from threading import Event, current_thread

import pytest

from asof.service import embedding
from asof.service.embedding import BackgroundEmbedder
from asof_streams.resource_pool import ResourcePool
from patience import SECONDS, wait_until


class Texts:
    """Whoever has the vectors: so many texts lack one."""

    def __init__(self, lacking: int) -> None:
        self.lacking = lacking

    def keep_up(self, _seconds: float) -> bool:
        self.lacking -= 1
        return self.lacking > 0


def pool_of(texts: Texts) -> ResourcePool[Texts]:
    return ResourcePool("vectors", lambda: nullcontext(texts))


def test_all_that_is_new_gets_its_vector_after_it_was_asked_for_once() -> None:
    texts = Texts(5)
    pool = pool_of(texts)
    BackgroundEmbedder(pool.submit).follow()

    wait_until(lambda: texts.lacking == 0)
    pool.close()


def test_a_worker_that_gets_further_while_its_service_closes_fails_nowhere() -> None:
    texts = Texts(1)
    pool = pool_of(texts)
    embedder = BackgroundEmbedder(pool.submit)
    pool.close()

    embedder.follow()

    assert texts.lacking == 1


def test_a_pause_that_ends_after_its_service_closed_fails_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_PAUSE_SECONDS", 0.05)
    over: list[BackgroundEmbedder] = []
    go_on = BackgroundEmbedder._go_on

    def note(embedder: BackgroundEmbedder) -> None:
        go_on(embedder)
        over.append(embedder)

    monkeypatch.setattr(BackgroundEmbedder, "_go_on", note)
    texts = Texts(1)
    pool = pool_of(texts)
    BackgroundEmbedder(pool.submit, busy=lambda: True).follow()
    wait_until(lambda: texts.lacking == 0)
    pool.close()

    wait_until(lambda: bool(over))


def test_an_erasure_whose_request_is_given_up_before_it_begins_lets_embedding_go_on() -> None:
    texts, busy = Texts(1), Event()
    pool = pool_of(texts)
    embedder = BackgroundEmbedder(pool.submit)
    pool.submit(lambda _: busy.wait())

    async def give_up() -> None:
        async def erase() -> None:
            async with embedder.held():
                pass

        erasing = asyncio.ensure_future(erase())
        await asyncio.sleep(0)
        erasing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await erasing

    asyncio.run(give_up())
    busy.set()

    wait_until(lambda: texts.lacking == 0)
    pool.close()


def test_an_erasure_that_ends_just_as_a_text_is_to_be_embedded_leaves_none_behind() -> None:
    """The thread has looked whether it may embed, and not told yet that it does not, when the erasure ends."""
    texts, looked, over = Texts(1), Event(), Event()
    pool = pool_of(texts)

    class Embedder(BackgroundEmbedder):
        @property
        def _paused(self) -> int:
            paused = self._held
            if paused and current_thread().name.startswith("vectors"):
                looked.set()
                assert over.wait(SECONDS)
            return paused

        @_paused.setter
        def _paused(self, paused: int) -> None:
            self._held = paused

    embedder = Embedder(pool.submit)

    async def erase() -> None:
        async with embedder.held():
            embedder.follow()
            await asyncio.to_thread(looked.wait, SECONDS)
        over.set()

    asyncio.run(erase())

    wait_until(lambda: texts.lacking == 0)
    pool.close()
