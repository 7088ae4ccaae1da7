"""What is damaged is not copied: nothing shows in a copy that its records are not those that were written."""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from asof.api.memory import Memory
from asof_projections.model.answers import LogEvent
from asof_streams.errors import DamagedLog
from asof_streams.sqlite_log import SqliteLog
from world import World

LOGS = {
    "messages": "messages.sqlite",
    "episodic": "episodic.sqlite",
    "semantic": "generations/main/semantic.main.sqlite",
}
DAMAGE = {
    "another word": "UPDATE log SET payload = CAST(replace(payload, 'Place3', 'Place4') AS BLOB) WHERE position = {at}",
    "another time": "UPDATE log SET recorded_at = recorded_at + 1 WHERE position = {at}",
    "another group": "UPDATE log SET grp = 'h' WHERE position = {at}",
    "another hash": "UPDATE log SET hash = zeroblob(32) WHERE position = {at}",
    "a record that is gone": "DELETE FROM log WHERE position = {at}",
}
LATE = "2025-01-01"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = World(tmp_path_factory.mktemp("whole") / "data")
    for number in range(6):
        world.tell(f"2024-01-0{number + 1}", subject="Ana", object=f"Place{number}")
    world.memory.close()
    return world.path


def position_of(path: Path) -> int:
    """Return the position of a record that names a place in the middle."""
    with closing(sqlite3.connect(path)) as db:
        sql = "SELECT min(position) FROM log WHERE CAST(payload AS TEXT) LIKE '%Place3%'"
        position: int = db.execute(sql).fetchone()[0]
        return position


def damaged(whole: Path, folder: Path, log: str, script: str) -> tuple[World, int]:
    """Return a memory of which one log is damaged, and the position of the damage."""
    data = Path(shutil.copytree(whole, folder / "data"))
    path = data / LOGS[log]
    position = position_of(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(script.format(at=position))
    return World(data), position


class Seen:
    """A projection that keeps the positions that it was given."""

    def __init__(self) -> None:
        self.positions: list[int] = []

    def apply(self, events: Sequence[LogEvent]) -> None:
        self.positions += [event.position for event in events]


COPIES: dict[str, Callable[[Memory, Path], object]] = {
    "backup": lambda memory, to: memory.backup(to),
    "checkout": lambda memory, to: memory.checkout(to, known_at=LATE),
}


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("what", DAMAGE)
def test_a_copy_of_a_damaged_log_is_refused_and_nothing_of_it_is_left(
    whole: Path, tmp_path: Path, what: str, log: str, copy: str
) -> None:
    world, position = damaged(whole, tmp_path, log, DAMAGE[what])
    before = sorted(tmp_path.iterdir())

    with pytest.raises(DamagedLog, match=rf"position {position}\b"):
        COPIES[copy](world.memory, tmp_path / "copy")

    assert sorted(tmp_path.iterdir()) == before
    world.memory.close()


def test_a_backup_that_is_refused_leaves_the_one_that_was_there(whole: Path, tmp_path: Path) -> None:
    world, _ = damaged(whole, tmp_path, "messages", DAMAGE["another word"])
    (tmp_path / "copy").write_bytes(b"the last one")

    with pytest.raises(DamagedLog):
        world.memory.backup(tmp_path / "copy")

    assert (tmp_path / "copy").read_bytes() == b"the last one"
    world.memory.close()


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_record_is_replayed_into_no_projection(whole: Path, tmp_path: Path, what: str, log: str) -> None:
    world, position = damaged(whole, tmp_path, log, DAMAGE[what])
    seen = Seen()

    with pytest.raises(DamagedLog, match=rf"position {position}\b"):
        world.memory.replay(seen, log=log)  # type: ignore[arg-type]

    assert [at for at in seen.positions if at >= position] == []
    world.memory.close()


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_message_is_replayed_into_no_directory(whole: Path, tmp_path: Path, what: str) -> None:
    world, position = damaged(whole, tmp_path, "messages", DAMAGE[what])

    with pytest.raises(DamagedLog, match=rf"position {position}\b"):
        world.memory.replay(str(tmp_path / "copy"), log="messages")

    copied = tmp_path / "copy" / "messages.sqlite"
    if copied.exists():
        with SqliteLog(copied) as log:
            assert log.end() <= position
    world.memory.close()


@pytest.mark.parametrize("log", LOGS)
def test_graphs_are_exported_and_copied_whatever_became_of_a_record(whole: Path, tmp_path: Path, log: str) -> None:
    expected = World(Path(shutil.copytree(whole, tmp_path / "expected")))
    world, _ = damaged(whole, tmp_path, log, DAMAGE["another word"])

    assert list(world.memory.export(group_id="g")) == list(expected.memory.export(group_id="g"))
    assert {graph.log for graph in world.memory.snapshot()} == {"episodic", "semantic.main"}
    world.memory.close()
    expected.memory.close()


@pytest.mark.parametrize("log", LOGS)
def test_nothing_is_copied_of_a_directory_whose_log_cannot_be_opened(whole: Path, tmp_path: Path, log: str) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    for path in data.rglob("*-wal"):
        path.unlink()
    (data / LOGS[log]).write_bytes(b"no database" * 1_000)
    world = World(data)

    with pytest.raises(DamagedLog, match=r"\.sqlite"):
        world.memory.snapshot()
    for copy in COPIES.values():
        with pytest.raises(DamagedLog, match=r"\.sqlite"):
            copy(world.memory, tmp_path / "copy")
    with pytest.raises(DamagedLog, match=r"\.sqlite"):
        list(world.memory.export(group_id="g"))

    assert not (tmp_path / "copy").exists()
    world.memory.close()
