"""Set-up of processes that do long work."""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.api.memory import Memory
from asof.runtime import generations
from asof.runtime.processes import SeldomCollections
from asof.settings import Settings
from process_memory import printed_by

SAID = {"content": "I live in Rome.", "role": "Ana", "role_type": "user", "timestamp": "2024-05-10T09:00:00Z"}


@pytest.fixture(autouse=True)
def frequent() -> Iterator[None]:
    """Collect as often as Python does by itself, whatever ran in this process before."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_while_anybody_works_long_collections_are_seldom_and_then_as_often_as_before() -> None:
    before = gc.get_threshold()
    one, other = SeldomCollections(), SeldomCollections()
    with one:
        other.__enter__()
        during = gc.get_threshold()
    after_one = gc.get_threshold()
    other.__exit__()

    assert during == after_one > before
    assert gc.get_threshold() == before


@pytest.mark.parametrize("own", [(0, 10, 10), (500_000, 20, 20)])
def test_a_program_that_collects_never_or_more_seldom_still_keeps_to_that(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with SeldomCollections():
        during = gc.get_threshold()

    assert during == gc.get_threshold() == own


def test_what_a_program_sets_meanwhile_is_not_undone() -> None:
    with SeldomCollections():
        gc.set_threshold(900, 9, 9)

    assert gc.get_threshold() == (900, 9, 9)


def test_messages_are_taken_and_generations_rebuilt_with_seldom_collections_and_a_source_is_read_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "FLUSH_EVERY", 1)
    before, seen, reading = gc.get_threshold(), list[tuple[int, int, int]](), list[tuple[int, int, int]]()

    def look(*_: object) -> int:
        seen.append(gc.get_threshold())
        return 0

    def source() -> Iterator[dict[str, str]]:
        reading.append(gc.get_threshold())
        yield SAID

    with Memory(Settings(data=tmp_path, embedder="none"), now=look) as memory:
        assert memory.produce(source()).accepted == 1
        assert max(seen) > before
        seen.clear()
        memory.rebuild("again", progress=look)

    assert max(seen) > before == gc.get_threshold()
    assert reading == [before]


@pytest.mark.parametrize(("source", "is_inert"), [(list, True), (iter, False)])
def test_a_source_that_leaves_no_garbage_is_read_with_seldom_collections_too(
    tmp_path: Path, source: Callable[[list[Any]], Iterable[Any]], *, is_inert: bool
) -> None:
    before, between = gc.get_threshold(), list[tuple[int, int, int]]()

    with Memory(Settings(data=tmp_path, embedder="none")) as memory:
        memory.produce(source([SAID]), acknowledged=lambda *_: between.append(gc.get_threshold()))

    assert [at > before for at in between] == [is_inert]
    assert gc.get_threshold() == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_was_freed_below_some_that_is_used_is_given_back() -> None:
    kept, left = printed_by(FREES)
    assert kept > 60  # megabytes: as tuned, what is freed is kept
    assert left < 20


FREES = """
from asof.runtime.processes import return_freed_memory, tune_allocator
from process_memory import private_megabytes
tune_allocator()
before = private_megabytes()
blocks = [bytearray(b"1" * 4096) for _ in range(20_000)]
del blocks[:-1]
kept = private_megabytes() - before
return_freed_memory()
print(kept, private_megabytes() - before)
"""
