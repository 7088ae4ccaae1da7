"""One Memory used by many threads, and its asynchronous twin used by several event loops."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

import asof
from asof.api.memory import Memory

THREADS = 4
EACH = 5


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path / "data", embedder="none") as opened:
        yield opened


def elsewhere(call: Callable[[], Any]) -> Any:
    """Return what a call returns in a thread that ends with it."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(call).result()


def test_what_one_thread_writes_another_asks_about_and_a_third_adds_to(memory):
    memory.add("I live in Rome.", role="Ana")

    [rome] = elsewhere(lambda: memory.facts(about="Ana"))
    elsewhere(lambda: memory.add("I work at Acme.", role="Ana"))

    assert rome.object == "Rome"
    assert [fact.object for fact in memory.facts(about="Ana")] == ["Rome", "Acme"]
    assert elsewhere(memory.verify) == memory.verify()
    elsewhere(memory.close)


def test_threads_that_write_and_ask_at_once_lose_and_double_nothing(memory):
    begin = Barrier(2 * THREADS)

    def write(thread: int) -> list[int]:
        begin.wait()
        return [memory.add(f"I like Model{thread}x{n}.", role=f"User{thread}").position for n in range(EACH)]

    def ask(thread: int) -> list[int]:
        begin.wait()
        return [len(memory.facts(about=f"User{thread}")) for _ in range(EACH)]

    with ThreadPoolExecutor(2 * THREADS) as threads:
        writers = [threads.submit(write, n) for n in range(THREADS)]
        askers = [threads.submit(ask, n) for n in range(THREADS)]
        positions = [position for writer in writers for position in writer.result()]
        counts = [asker.result() for asker in askers]

    assert sorted(positions) == list(range(THREADS * EACH))
    assert all(seen == sorted(seen) for seen in counts)
    assert {name: len(memory.facts(about=name)) for name in ("User0", "User3")} == {"User0": EACH, "User3": EACH}
    assert all(check.ok for check in memory.verify())


def test_an_iterator_can_be_read_by_another_thread_between_the_calls_of_the_first(memory):
    memory.add("I live in Rome.", role="Ana")
    events, pieces = memory.events("messages"), memory.export()

    first, opening = elsewhere(lambda: next(events)), elsewhere(lambda: next(pieces))
    memory.add("I work at Acme.", role="Ana")

    assert first.type == "message.sent"
    assert "Rome" in opening + "".join(pieces)


def test_a_call_from_within_a_report_of_progress_is_answered(memory):
    before: list[asof.Page[asof.Fact]] = []
    line = {"group_id": "default", "subject": "Ana", "relation": "lives_in", "object": "Rome"}

    memory.import_facts([line], acknowledged=lambda *_: before.append(memory.facts(about="Ana")))

    assert [[fact.object for fact in facts] for facts in before] == [["Rome"]]


def test_the_twin_answers_the_tasks_of_two_event_loops(tmp_path):
    twin = asof.open_async(tmp_path / "data", embedder="none")

    async def tell(name: str) -> list[asof.Fact]:
        await asyncio.gather(*(twin.add(f"I like Model{n}.", role=name) for n in range(EACH)))
        return await twin.facts(about=name)

    answers: dict[str, list[asof.Fact]] = {}
    loops = [
        Thread(target=lambda name=name: answers.update({name: asyncio.run(tell(name))})) for name in ("Ana", "Ben")
    ]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    asyncio.run(twin.close())

    assert {name: len(facts) for name, facts in answers.items()} == {"Ana": EACH, "Ben": EACH}


def test_a_verb_of_a_closed_twin_is_refused_instead_of_waiting_for_ever(tmp_path):
    async def tell() -> None:
        async with asof.open_async(tmp_path / "data", embedder="none") as twin:
            await twin.add("I like Model1.", role="Ana")
            listing = twin.events()
            await anext(listing)
        for verb in (twin.facts(about="Ana"), anext(listing), anext(twin.events())):
            with pytest.raises(asof.ContractError, match="asof-memory is closed"):
                await verb
        await twin.close()

    asyncio.run(tell())


def test_a_closed_memory_refuses_every_verb_and_leaves_its_directory_to_others(tmp_path):
    memory = asof.open(tmp_path / "data", embedder="none")
    memory.add("I like Model1.", role="Ana")
    memory.close()

    for verb in (memory.facts, memory.stats, lambda: memory.add("I like Model2.", role="Ana")):
        with pytest.raises(asof.ContractError, match=r"the memory is closed: asof\.open opens it again"):
            verb()
    memory.close()
    with asof.open(tmp_path / "data", embedder="none") as other:
        other.add("I like Model3.", role="Ana")
        assert len(other.facts()) == 2
