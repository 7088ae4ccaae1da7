"""A disk that is full, or read-only: a clear error, nothing half-written, and on it goes once there is room."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import asof
from asof_streams.errors import StorageFailed
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock
from full_disk import files_no_larger_than
from unchecked import not_checked

SIZE = 3_145_728  # bytes of a small disk; a new memory has two thirds of it


def said(number: int) -> Message:
    return Message(group_id="ana", content=f"SECRET {number} " + "x" * 2_000, role_type="user")


def fill(log: SqliteLog, most: int) -> int:
    """Append batches of five until the disk refuses one; return how many messages were acknowledged."""
    acknowledged = log.end()
    for _ in range(most):
        try:
            acknowledged = log.accept([said(acknowledged + i) for i in range(5)], clock=1).stop
        except StorageFailed as error:
            refusal = str(error)
            break
    else:
        pytest.fail("the disk never filled up")
    assert refusal.startswith(f"{log.path}: ")
    assert "SECRET" not in refusal
    return acknowledged


def expect_whole(log: SqliteLog, messages: int) -> None:
    assert log.verify() == log.end() == messages
    assert [record.event for record in log.read()] == [said(number) for number in range(messages)]


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("size", [100_000, 101_234, 300_000])
def test_a_file_that_may_not_grow_takes_no_half_batch(tmp_path: Path, size: int, durable: bool) -> None:
    path = tmp_path / "messages.sqlite"
    with SqliteLog(path, writable=True, durable=durable) as log:
        with files_no_larger_than(size):
            full = fill(log, most=size // 10_000)
            expect_whole(log, full)
        assert log.accept([said(full)], clock=1) == range(full, full + 1)

    with SqliteLog(path) as log:
        expect_whole(log, full + 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        not_checked("on a disk that is really full: this user may not mount a small one")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_takes_no_half_batch_and_the_log_goes_on_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "messages.sqlite"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (SIZE - 750_000))
    with SqliteLog(path, writable=True) as log:
        full = fill(log, most=200)
        expect_whole(log, full)
        assert full > 0

        ballast.unlink()
        log.accept([said(full)], clock=1)
        full_again = fill(log, most=200)
        expect_whole(log, full_again)

    with SqliteLog(path) as log:
        expect_whole(log, full_again)


def test_a_full_disk_refuses_a_new_log_and_leaves_none(small_disk: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        (small_disk / "ballast").write_bytes(b"x" * 2 * SIZE)

    with pytest.raises(StorageFailed):
        SqliteLog(small_disk / "messages.sqlite", writable=True)
    with pytest.raises(StorageFailed):
        WriterLock(small_disk / "data")

    assert not (small_disk / "messages.sqlite").exists()
    (small_disk / "ballast").unlink()
    with SqliteLog(small_disk / "messages.sqlite", writable=True) as log:
        assert log.accept([said(0)], clock=1) == range(1)


def test_a_memory_that_was_closed_before_the_disk_was_full_can_be_read(small_disk: Path) -> None:
    data = small_disk / "data"
    with asof.open(data, embedder="none") as memory:
        memory.add("I moved to Berlin in March.", role="Ana")
        memory.erase("nobody")
    with (small_disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        while ballast.write(b"x"):
            pass
    for _ in range(2):
        with asof.open(data, embedder="none") as memory:
            assert [fact.object for fact in memory.facts()] == ["Berlin"]
            assert memory.stats()["messages"] == 2
            with pytest.raises(StorageFailed, match="free some space"):
                memory.add("I like tea.", role="Ana")
            assert [episode.content for episode in memory.episodes()] == ["I moved to Berlin in March."]


def test_what_was_produced_until_the_disk_was_full_can_be_read(small_disk: Path) -> None:
    line = {"group_id": "g", "role": "Ana", "role_type": "user", "content": "Hm. " * 150}
    with asof.open(small_disk / "data", embedder="none") as memory:
        memory.add("I moved to Berlin in March.", role="Ana", group_id="g")
        with pytest.raises(StorageFailed, match="free some space"):
            memory.produce(json.dumps(line) for _ in range(20_000))

    with asof.open(small_disk / "data", embedder="none") as memory:
        assert [fact.object for fact in memory.facts(group_id="g")] == ["Berlin"]
        assert memory.episodes(group_id="g")[0].content == "I moved to Berlin in March."


def test_a_disk_that_turns_read_only_is_read_on_and_refuses_to_be_written(small_disk: Path) -> None:
    path = small_disk / "messages.sqlite"
    with SqliteLog(path, writable=True) as log:
        log.accept([said(0)], clock=1)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)

    with pytest.raises(StorageFailed, match=f"{path}: "):
        SqliteLog(path, writable=True)
    with SqliteLog(path) as log:
        expect_whole(log, 1)


def test_a_folder_that_cannot_be_made_is_a_storage_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StorageFailed, match=r"writer\.lock: "):
        WriterLock(tmp_path / "file" / "data")
    with pytest.raises(StorageFailed, match=r"messages\.sqlite: "):
        SqliteLog(tmp_path / "nowhere" / "messages.sqlite", writable=True)


def test_a_memory_is_closed_though_a_file_that_readers_need_cannot_be_made(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with asof.open(data, embedder="none") as memory:
        memory.add("I moved to Berlin in March.", role="Ana")
        (data / "messages.sqlite-shm.new").mkdir()

    with asof.open(data, embedder="none") as memory:
        memory.add("I like tea.", role="Ana")
        assert [fact.object for fact in memory.facts()] == ["Berlin", "tea"]
