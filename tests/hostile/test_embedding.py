"""Vectors that are made behind the searches, while something else happens to what they are of."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import vector_search
from asof_projections.embedding.hashing import HashingEmbedder
from commands import fact
from full_disk import files_no_larger_than
from patience import SECONDS, wait_until

MANY = 120
FULL = 40_000  # bytes that a file may have: readers' own files beside a database fit, a vector more does not


class Gate:
    """Where the thread that embeds many texts stands, and waits."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr(vector_search, "_OWN_SECONDS", 0)
    gate, embed = Gate(), HashingEmbedder.embed

    def waiting(self: HashingEmbedder, texts: Sequence[str]) -> Any:
        if len(texts) > 1:
            gate.reached.set()
            assert gate.open.wait(SECONDS)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", waiting)
    yield gate
    gate.open.set()


@pytest.fixture
def memory(tmp_path: Path, gate: Gate) -> Iterator[Memory]:
    """A memory whose vectors are about to be made."""
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        memory.import_facts([fact(group_id="g", subject=f"Ana {n}", object="Rome") for n in range(MANY)])
        memory.search("Ana 7", group_id="g")
        assert gate.reached.wait(SECONDS)
        yield memory
        gate.open.set()


def switched(memory: Memory) -> None:
    memory.rebuild("second")
    memory.switch("second")


def dropped(memory: Memory) -> None:
    switched(memory)
    memory.drop("main")


@pytest.mark.parametrize("change", [lambda memory: memory.rebuild("second"), switched, dropped])
def test_vectors_of_another_generation_are_made_while_those_of_the_last_were(
    memory: Memory, gate: Gate, change: Callable[[Memory], None], caplog: pytest.LogCaptureFixture
) -> None:
    vectors = memory._session._vectors
    assert vectors is not None

    change(memory)
    gate.open.set()
    vectors.submit(lambda _: None).result()  # what was under way has ended

    wait_until(lambda: memory.search("Ana 7", group_id="g").vectors_behind == 0)
    assert memory.search("Ana 7", group_id="g")[0].scores.meaning is not None
    assert [check.found for check in memory.verify() if not check.ok] == []
    assert [record.getMessage() for record in caplog.records] == []


def test_a_group_that_is_erased_while_its_vectors_are_made_leaves_none(
    memory: Memory, gate: Gate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = memory._session._vectors
    assert vectors is not None

    memory.erase("g")
    gate.open.set()
    vectors.submit(lambda _: None).result()

    assert memory.embed().vectors == 0
    assert [record.getMessage() for record in caplog.records] == []
    memory.close()
    assert [path for path in (tmp_path / "data").rglob("*.index") if b"Ana 7" in path.read_bytes()] == []


@pytest.mark.parametrize("texts", [5, MANY])
@pytest.mark.parametrize("opened", ["before", "then"])
def test_a_full_disk_is_searched_by_words_and_by_vectors_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: int, opened: str
) -> None:
    monkeypatch.setattr(vector_search, "_REST_SECONDS", 0)
    with ExitStack() as stack:
        memory = stack.enter_context(asof.open(tmp_path / "data", embedder="hash"))
        memory.import_facts([fact(group_id="g", subject=f"Ana {n}", object="Rome") for n in range(texts)])
        if opened == "before":
            memory.facts(group_id="g")
        else:
            memory.close()
            memory = stack.enter_context(asof.open(tmp_path / "data", embedder="hash"))
        with files_no_larger_than(FULL):
            found = memory.search("Ana 3", group_id="g", over="facts")
            assert found[0].fact == "Ana 3 lives in Rome"
            assert found.unavailable is not None
            assert "vectors.db" in found.unavailable
            assert "Ana 3" in memory.context("Ana 3", group_id="g").text
        wait_until(lambda: memory.search("Ana 3", group_id="g").vectors_behind == 0)
        found = memory.search("Ana 3", group_id="g", over="facts")
        assert (found.unavailable, found[0].scores.meaning is not None) == (None, True)


FORKS = """
import os, signal, sys
import asof
with asof.open(sys.argv[1], embedder="hash") as memory:
    memory.add("I moved to Oslo.", role="Ana", group_id="g")
    memory._session._embed_behind()
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        memory.add("I like tea.", role="Ana", group_id="g")
        found = sorted(fact.fact for fact in memory.facts(group_id="g"))
    else:
        signal.alarm(60)
if child:
    print(code, found, flush=True)
os._exit(0)
"""


def test_a_fork_that_leaves_its_parents_memory_ends_and_changes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(tmp_path / "data")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "0 ['Ana likes tea', 'Ana lives in Oslo']\n", done.stderr
