"""Erasing: whatever was told, and however it came to lie where it does, no byte of an erased group is left in a file.

Each word of a group is random, so that a copy anywhere is found: in a log, a graph, vectors, a write-ahead log, or in
the free space of a page, where moving rows about leaves copies of them.
"""

import json
import random
import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from asof.runtime import erasure
from asof.runtime.erasure import Vacuum
from asof.runtime.layout import DirectoryLayout
from asof.runtime.snapshots import take_snapshots
from asof_streams import sqlite
from asof_streams.errors import WriterBusy
from effort import tries
from http_server import serving
from patience import wait_until
from world import World

GROUPS = 12
ERASED = "g3", "g7"


class Canaries:
    """Random words, by group."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.by_group: dict[str, set[str]] = {}

    def word(self, group: str) -> str:
        word = "Q" + "".join(self._random.choice("bcdfghjklmnpqrstvwxz") for _ in range(9))
        self.by_group.setdefault(group, set()).add(word)
        return word

    def sentence(self, group: str) -> str:
        name, place, thing = (self.word(group) for _ in range(3))
        more = " ".join(self.word(group) for _ in range(self._random.choice((0, 1, 5, 20))))
        return f"My sister {name} moved to {place} in March. I like {thing}. {more}"

    def left(self, folder: Path, *groups: str) -> dict[str, list[str]]:
        """Return the words of groups that stand in files, in whatever case, by file."""
        words = {word.lower().encode(): word for group in groups for word in self.by_group[group]}
        [length] = {len(word) for word in words}
        found: dict[str, list[str]] = {}
        for file in (file for file in folder.rglob("*") if file.is_file()):
            content = file.read_bytes().lower()
            starts = (match.start() for match in re.finditer(b"q", content))
            if here := words.keys() & {content[start : start + length] for start in starts}:
                found[str(file.relative_to(folder))] = [words[coded] for coded in here]
        return found


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for a reader that never ends."""
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.1)


def tell(world: World, canaries: Canaries, messages: int) -> None:
    """Tell every group of things, one after the other and some at once; the vectors follow."""
    for _ in range(4):
        groups = [f"g{number % GROUPS}" for number in range(messages * GROUPS // 4)]
        lines = [{"group_id": g, "role": "Ana", "role_type": "user", "content": canaries.sentence(g)} for g in groups]
        world.memory.produce(json.dumps(line) for line in lines)
        world.memory.search(canaries.word("asked"), group_id="g3")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read a file in one transaction meanwhile."""
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        yield
        reader.execute("ROLLBACK")


@pytest.mark.parametrize("seed", range(tries(2, nightly=60)))
def test_no_word_of_an_erased_group_is_left_in_any_file_and_the_others_stay(tmp_path: Path, seed: int) -> None:
    world, canaries = World(tmp_path / "data", embedder="hash"), Canaries(seed)
    tell(world, canaries, 24)
    assert canaries.left(world.path, *ERASED)

    for group in ERASED:
        world.memory.erase(group)
    world.restart()

    assert canaries.left(world.path, *ERASED) == {}
    assert canaries.left(world.path, "g1").keys() >= {"messages.sqlite", "episodes.db", "generations/main/graph.db"}
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()


def test_what_a_reader_holds_back_is_owed_over_restarts_and_done_when_the_reader_ends(tmp_path: Path) -> None:
    world, canaries = World(tmp_path / "data"), Canaries(1)
    tell(world, canaries, 12)
    graph = world.path / "generations" / "main" / "graph.db"

    with reading(graph), reading(world.path / "messages.sqlite"):
        world.memory.erase("g3")
        assert world.memory.facts(group_id="g3") == []
        assert world.memory.stats()["erasing"] == 2
        world.restart()
        assert world.memory.stats()["erasing"] == 2
        assert canaries.left(world.path, "g3")
        world.memory.close()

    world.restart()
    assert world.memory.stats()["erasing"] == 0
    assert canaries.left(world.path, "g3") == {}
    world.memory.close()


def test_an_erasure_is_done_at_once_however_long_opening_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, canaries = World(tmp_path / "data"), Canaries(1)
    tell(world, canaries, 4)
    times = chain((0.0, 1_000.0), count(1_001.0))  # what is read twice at opening takes a thousand seconds
    monkeypatch.setattr(erasure, "time", SimpleNamespace(monotonic=lambda: next(times)))

    world.restart()

    assert world.memory.erase("g3").done
    assert canaries.left(world.path, "g3") == {}
    world.memory.close()


def test_after_an_erasure_a_rebuild_has_the_digest_of_what_answers(tmp_path: Path) -> None:
    world, canaries = World(tmp_path / "data"), Canaries(2)
    tell(world, canaries, 4)
    world.memory.erase("g3")
    tell(world, canaries, 1)

    world.memory.rebuild("again")

    assert world.memory.digest("again") == world.memory.digest("main")
    world.memory.close()


def test_no_word_of_an_erased_group_is_left_in_a_snapshot_whether_it_was_taken_before_or_meanwhile(
    tmp_path: Path,
) -> None:
    world, canaries = World(tmp_path / "data"), Canaries(4)
    tell(world, canaries, 12)
    world.memory.snapshot()
    assert {name for name in canaries.left(world.path, "g3") if name.endswith(".snapshot.db")}
    erased = Event()

    def take() -> None:
        while not erased.is_set():
            with suppress(WriterBusy):  # an erasure is under way
                take_snapshots(DirectoryLayout(world.path))

    taker = Thread(target=take)
    taker.start()
    try:
        for group in ERASED:
            world.memory.erase(group)
    finally:
        erased.set()
        taker.join()
    world.memory.close()
    world.restart()  # what a snapshot that was read from held back is done

    assert world.memory.stats()["erasing"] == 0
    assert canaries.left(world.path, *ERASED) == {}
    world.memory.snapshot()
    assert canaries.left(world.path, *ERASED) == {}
    world.memory.close()


class Slow:
    """A file that owes a vacuum for ever, which takes a hundredth of a second."""

    def __init__(self) -> None:
        self.vacuums = 0

    def vacuum(self) -> bool:
        self.vacuums += 1
        time.sleep(0.01)
        return True


def test_erasures_one_after_another_are_rewritten_together_for_no_more_than_half_of_the_time(tmp_path: Path) -> None:
    file = Slow()
    vacuum = Vacuum(DirectoryLayout(tmp_path), lambda: [file])
    start = time.monotonic()
    for _ in range(10_000):
        vacuum.note()
        vacuum.run()

    assert 1 <= file.vacuums <= 2 + (time.monotonic() - start) / 0.02
    vacuum.note()
    vacuum.finish()
    assert not vacuum.owed


def test_a_deletion_over_http_is_accepted_while_a_reader_holds_files_and_done_when_it_ends(tmp_path: Path) -> None:
    canaries, data = Canaries(3), tmp_path / "data"
    graph = data / "generations" / "main" / "graph.db"
    with serving(data) as server:
        for group in ("g3", "g7", "g8"):
            server.say(group, *(canaries.sentence(group) for _ in range(8)))
        assert server.client.delete("/group/g8").status_code == 200
        assert canaries.left(data, "g8") == {}

        with reading(graph), reading(data / "episodic.sqlite"):
            answer = server.client.delete("/group/g3")
            assert answer.status_code == 202
            assert "still hold" in answer.json()["message"]
            assert server.client.get("/v1/stats").json()["erasing"] == 2
            assert server.episodes("g3") == []
            assert server.say("g7", "I live in Oslo.").status_code == 202  # nobody waits for the reader
        wait_until(lambda: server.client.get("/v1/stats").json()["erasing"] == 0)
        assert canaries.left(data, "g3") == {}

        with reading(graph):
            assert server.client.delete("/group/g7").status_code == 202
            server.end(signal.SIGKILL)
            assert canaries.left(data, "g7")  # a worker outlives its parent by a moment, in which no reader may end
    with serving(data) as server:
        wait_until(lambda: server.client.get("/v1/stats").json()["erasing"] == 0)
        assert canaries.left(data, "g7") == {}
