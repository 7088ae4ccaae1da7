"""A backup holds everything that cannot be made again, and restores a memory that answers as the one it was of."""

import gzip
import json
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.cli import app, calls
from asof_streams.errors import DamagedFile, InvalidInput, StorageFailed
from full_disk import files_no_larger_than
from world import World

LOGS = ("messages.sqlite", "episodic.sqlite", "generations/main/semantic.main.sqlite")


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.tell("2021-03-01", object="Lisbon", valid_at="2020")
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    world.tell("2022-04-01", group_id="gone", subject="Zxqv", object="Zarquon")
    world.memory.add("I moved to Rome in May.", role="Ana", group_id="g", timestamp="2023-06-01")
    yield world
    world.memory.close()


def rows(directory: Path) -> list[list[tuple[object, ...]]]:
    """The stored records of each log, with their hashes and salts."""
    found = []
    for name in LOGS:
        with closing(sqlite3.connect(directory / name)) as db:
            found.append(db.execute("SELECT * FROM log ORDER BY position").fetchall())
    return found


def restored(world: World, *files: Path) -> World:
    directory = world.path.with_name("restored")
    asof.restore(*files, data=directory, embedder="none")
    return World(directory)


def test_a_backup_of_a_memory_that_is_open_restores_every_record_and_every_answer(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one.backup")

    with restored(world, tmp_path / "one.backup").memory as copy:
        assert copy.digest() == world.digest()
        assert all(check.ok for check in copy.verify())
        at_both = {"group_id": "g", "any_time": True, "known_at": "2022-01-01"}
        assert copy.facts(**at_both) == world.memory.facts(**at_both)
        copy.add("I moved to Oslo.", role="Ana", group_id="g")
    assert [some[: len(own)] for some, own in zip(rows(tmp_path / "restored"), rows(world.path), strict=True)] == rows(
        world.path
    )


def test_backups_that_continue_one_another_hold_what_came_later_and_restore_the_whole(
    world: World, tmp_path: Path
) -> None:
    first = world.memory.backup(tmp_path / "1")
    world.tell("2024-02-01", object="Oslo", valid_at="2024")
    world.memory.rebuild("second")
    second = world.memory.backup(tmp_path / "2", after=tmp_path / "1")
    world.tell("2024-03-01", relation="works_at", object="Acme")
    world.memory.switch("second")
    world.memory.drop("main")
    world.memory.backup(tmp_path / "3", after=tmp_path / "2")

    starts = {log.log: log.start for log in second.logs}
    assert starts["messages.sqlite"] == next(log.end for log in first.logs if log.log == "messages.sqlite")
    assert starts["generations/second/semantic.second.sqlite"] == 0
    with restored(world, tmp_path / "1", tmp_path / "2", tmp_path / "3").memory as copy:
        assert copy.digest() == world.digest()
        assert [info.name for info in copy.generations()] == ["second"]
        assert all(check.ok for check in copy.verify())


def test_a_group_that_was_erased_after_the_first_backup_is_in_no_restored_file(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "1")
    world.memory.erase("gone")
    world.tell("2024-02-01", object="Oslo", valid_at="2024")
    world.memory.backup(tmp_path / "2", after=tmp_path / "1")

    copy = restored(world, tmp_path / "1", tmp_path / "2")

    copy.memory.close()
    files = [path.read_bytes() for path in copy.path.rglob("*") if path.is_file()]
    assert not any(b"Zarquon" in content or b"Zxqv" in content for content in files)
    assert World(copy.path).digest() == world.digest()


def test_an_erasure_between_the_copies_of_two_logs_reaches_the_first_one_too(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asof.runtime import backup

    write, erased = backup._write_log, []

    def erase_first(writer, name, path, ends):
        if name == "messages.sqlite":
            world.memory.erase("gone")
            erased.append(name)
        return write(writer, name, path, ends)

    monkeypatch.setattr(backup, "_write_log", erase_first)
    world.memory.backup(tmp_path / "one")
    assert erased

    copy = restored(world, tmp_path / "one")

    copy.memory.close()
    files = [path.read_bytes() for path in copy.path.rglob("*") if path.is_file()]
    assert not any(b"Zarquon" in content for content in files)


def test_a_record_whose_content_was_erased_before_the_backup_keeps_its_seal(world: World, tmp_path: Path) -> None:
    world.memory.erase("gone")
    world.memory.backup(tmp_path / "one")

    with restored(world, tmp_path / "one").memory as copy:
        assert copy.digest() == world.digest()
        assert all(check.ok for check in copy.verify())
    assert b"Zarquon" not in gzip.decompress((tmp_path / "one").read_bytes())


def test_the_lines_of_a_backup_are_restored_too_and_can_be_continued(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one")
    (tmp_path / "lines.jsonl").write_bytes(gzip.decompress((tmp_path / "one").read_bytes()))
    world.tell("2024-03-01", object="Oslo", valid_at="2024")
    world.memory.backup(tmp_path / "two", after=tmp_path / "lines.jsonl")

    copy = restored(world, tmp_path / "lines.jsonl", tmp_path / "two")

    assert rows(copy.path) == rows(world.path)
    assert copy.digest() == world.digest()


def changed(content: bytes) -> list[bytes]:
    lines = gzip.decompress(content).splitlines(keepends=True)
    another = [line.replace(b"Berlin", b"Munich") for line in lines]
    return [
        b"",
        b"no backup",
        content[:-20],
        gzip.compress(b"".join(lines[:-1])),
        gzip.compress(b"".join(another)),
        gzip.compress(b"".join([*lines, b"{}\n"])),
        gzip.compress(b"[1, 2]\n"),
        b"".join(lines[:-1]),
        b"".join(another),
        b"".join([*lines, b"{}\n"]),
    ]


def test_a_backup_is_restored_from_a_pipe_too(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one")
    os.mkfifo(tmp_path / "pipe")
    content = (tmp_path / "one").read_bytes()
    with ThreadPoolExecutor() as threads:
        written = threads.submit((tmp_path / "pipe").write_bytes, content)
        copy = restored(world, tmp_path / "pipe")
        written.result()

    assert copy.digest() == world.digest()


def test_a_backup_that_was_changed_or_cut_short_is_refused_and_nothing_of_it_is_kept(
    world: World, tmp_path: Path
) -> None:
    world.memory.backup(tmp_path / "one")
    for number, content in enumerate(changed((tmp_path / "one").read_bytes())):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(DamagedFile, match="bad is no backup"):
            restored(world, tmp_path / "bad")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "data", "one"], number


@pytest.mark.parametrize("name", ["../evil.json", "/tmp/evil.json", "generations/../../evil/ontology.json"])
def test_a_backup_names_no_file_outside_of_the_directory(world: World, tmp_path: Path, name: str) -> None:
    from asof_streams.backup_file import FORMAT, VERSION, written_backup

    with written_backup(tmp_path / "evil") as writer:
        writer.write({"format": FORMAT, "version": VERSION, "release": "1", "after": None})
        writer.write({"file": name, "text": "{}"})
        writer.finish()

    with pytest.raises(DamagedFile):
        restored(world, tmp_path / "evil")

    assert not list(tmp_path.parent.rglob("evil.json"))


def test_a_restore_takes_only_what_belongs_together_and_an_empty_directory(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "1")
    world.memory.backup(tmp_path / "2", after=tmp_path / "1")
    other = World(tmp_path / "other")
    other.tell("2021-03-01", object="Porto")

    with pytest.raises(InvalidInput, match="another memory"):
        other.memory.backup(tmp_path / "3", after=tmp_path / "1")
    assert not (tmp_path / "3").exists()
    other.memory.close()
    for files in ([tmp_path / "2"], [tmp_path / "1", tmp_path / "1"], []):
        with pytest.raises(InvalidInput):
            restored(world, *files)
    with pytest.raises(InvalidInput, match="not empty"):
        asof.restore(tmp_path / "1", data=world.path)
    assert world.where("2020-06") == ["Lisbon"]


def test_a_disk_that_is_full_leaves_the_earlier_file_as_it_was(world: World, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"the earlier one")
    with files_no_larger_than(200), pytest.raises(StorageFailed, match="one cannot be written"):
        world.memory.backup(tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == b"the earlier one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "one"]


def test_the_commands_back_up_and_restore(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    file, copy = str(tmp_path / "one"), tmp_path / "copy"

    assert calls.run(app, ["backup", file, "--data", str(world.path), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert [log["log"] for log in written["logs"]] == [*reversed(LOGS)]
    assert calls.run(app, ["restore", file, "--data", str(copy)]) == 0
    assert str(copy) in capsys.readouterr().err
    assert calls.run(app, ["restore", file, "--data", str(copy)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert World(copy).digest() == world.digest()
    assert copy.stat().st_mode & 0o077 == 0
    assert Path(file).stat().st_mode & 0o077 == 0
