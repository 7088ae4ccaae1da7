"""Many groups of few messages, and one of many: neither memory nor open files grow with what nobody uses."""

import gc
import io
import json
import sys
import tracemalloc
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof_projections import slot_cache
from asof_projections.graph.sqlite_store import postings, recent_turns, write_buffer
from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache
from effort import tries

GROUPS = tries(200, nightly=400)
MOST = 100  # bytes for each further group: a few numbers, and no object of Python


def held(data: Path, groups: int) -> int:
    """Return the bytes that a memory holds that took two messages of each group, or one of each of twice as many."""
    with asof.open(data, embedder="none") as memory:
        memory.add("I like tea.", group_id="group", role="Ana")
        memory.search("tea", group_id="group")
        tracemalloc.start()
        try:
            for start in (0, GROUPS):
                messages = [line(number, groups) for number in range(start, start + GROUPS)]
                memory.produce(io.BytesIO(b"\n".join(messages)))
                for number in range(start, start + GROUPS, GROUPS // 10):
                    assert memory.search("a friend in Oslo", group_id=group(number, groups))
            clear_bounded_caches()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()


def clear_bounded_caches() -> None:
    """Forget what functions of asof remember of their last calls."""
    for name, module in list(sys.modules.items()):
        for function in vars(module).values() if name.startswith("asof") else ():
            if isinstance(function, _lru_cache_wrapper) and function.cache_parameters()["maxsize"] is not None:
                function.cache_clear()


def line(number: int, groups: int) -> bytes:
    friend = "B" + "".join("aeiou"[int(digit) % 5] + "lmnprstvwz"[int(digit)] for digit in f"{number:03}")
    said = {"content": f"My friend {friend} lives in Oslo.", "role": "Ana", "role_type": "user"}
    return json.dumps(said | {"group_id": group(number, groups)}).encode()


def group(number: int, groups: int) -> str:
    return f"group-{number % groups:04}"


def test_a_group_takes_no_memory_but_for_what_is_said_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound_caches(monkeypatch)
    held(tmp_path / "first", GROUPS)  # what is loaded once
    few, many = held(tmp_path / "few", GROUPS), held(tmp_path / "many", 2 * GROUPS)
    assert many - few < MOST * GROUPS


def test_what_was_said_takes_no_memory_of_who_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound_caches(monkeypatch)
    written(tmp_path / "first", GROUPS // 2)  # what is loaded once
    few, many = written(tmp_path / "few", GROUPS), written(tmp_path / "many", 4 * GROUPS)
    assert many - few < MOST * 3 * GROUPS


def written(data: Path, count: int) -> int:
    """Return the bytes that a memory holds that took so many messages of one group."""
    with asof.open(data, embedder="none") as memory:
        memory.add("I like tea.", group_id="group", role="Ana")
        tracemalloc.start()
        try:
            memory.produce(io.BytesIO(b"\n".join(line(number, 1) for number in range(count))))
            clear_bounded_caches()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()


def bound_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is kept of what was written or asked about last have small bounds."""
    monkeypatch.setattr(GenerationalCache.__init__, "__defaults__", (20,))
    monkeypatch.setattr(slot_cache, "_MOST", 20)
    monkeypatch.setattr(recent_turns, "_GROUPS", 2)
    monkeypatch.setattr(postings, "_MOST", 20)
    monkeypatch.setattr(write_buffer, "_EXACT_MAX", 16)
    monkeypatch.setattr(write_buffer, "_BLOOM_BYTES", 1 << 12)


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_group_keeps_no_file_open(tmp_path: Path, is_encrypted: bool) -> None:
    keys = tmp_path / "keys" if is_encrypted else None
    with asof.open(tmp_path / "data", embedder="none", keys=keys) as memory:
        few, many = (open_files(memory, start, GROUPS) for start in (0, GROUPS))
        assert many - few < GROUPS // 20  # files of its own of each group that was asked about would be twice as many
        assert len(memory.groups()) == 2 * GROUPS


def open_files(memory: Memory, start: int, count: int) -> int:
    """Return how many files are open after one message of each of some groups, and a question about every tenth."""
    numbers = range(start, start + count)
    memory.produce(io.BytesIO(b"\n".join(line(number, 2 * GROUPS) for number in numbers)))
    for number in numbers[::10]:
        assert memory.search("a friend in Oslo", group_id=group(number, 2 * GROUPS))
    gc.collect()
    return sum(1 for _ in Path("/dev/fd").iterdir())
