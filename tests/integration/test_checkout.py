"""A checkout is the directory as it was at a known moment: whole, of the first records of the old logs."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asof.cli import app, calls
from asof_streams.errors import InvalidInput, NotFound
from world import World, on

LOGS = ("messages.sqlite", "episodic.sqlite", "generations/main/semantic.main.sqlite")


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.tell("2021-03-01", object="Lisbon", valid_at="2020")
    world.tell("2021-04-01", group_id="gone", subject="Zxqv", object="Zarquon")
    world.now = on("2021-06-01")
    world.memory.add("I moved to Rome in May.", role="Ben", group_id="g", timestamp="2021-06-01")
    yield world
    world.memory.close()


def rows(directory: Path, log: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(directory / log)) as db:
        return db.execute("SELECT * FROM log ORDER BY position").fetchall()


def go_on(world: World) -> None:
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    world.tell("2023-03-01", object="Lisbon", op="retract")


def checked_out(world: World, known: str) -> World:
    directory = world.path.with_name(f"as of {known}")
    world.memory.checkout(directory, known_at=known)
    return World(directory)


def test_a_checkout_is_the_directory_as_it_was_then_bit_for_bit_and_goes_on_from_there(world: World) -> None:
    digest, logs = world.digest(), {log: rows(world.path, log) for log in LOGS}
    go_on(world)

    copy = checked_out(world, "2022-01-01")

    with copy.memory:
        assert {log: rows(copy.path, log) for log in LOGS} == logs
        assert copy.digest() == digest
        assert all(check.ok for check in copy.memory.verify())
        asked = {"group_id": "g", "any_time": True}
        assert copy.memory.facts(**asked) == world.memory.facts(**asked, known_at="2022-01-01")
        assert copy.where("2022-01-01") == world.where("2022-01-01", "2022-01-01") == ["Lisbon"]
        go_on(copy)
        assert copy.digest() == world.digest()


def test_a_checkout_answers_by_a_generation_that_was_built_later(world: World) -> None:
    go_on(world)
    world.memory.rebuild("second")
    world.memory.switch("second")

    with checked_out(world, "2022-01-01").memory as copy:
        assert copy.active() == "second"
        asked = {"group_id": "g", "any_time": True}
        assert copy.facts(**asked) == world.memory.facts(**asked, known_at="2022-01-01")
        assert all(check.ok for check in copy.verify())


def test_what_was_erased_since_is_in_no_file_of_a_checkout(world: World) -> None:
    world.now = on("2023-01-01")
    world.memory.erase("gone")

    copy = checked_out(world, "2022-01-01")

    with copy.memory:
        assert all(check.ok for check in copy.memory.verify())
        assert copy.memory.facts(group_id="gone", any_time=True) == []
    files = [path.read_bytes() for path in copy.path.rglob("*") if path.is_file()]
    assert not any(b"Zarquon" in content or b"Zxqv" in content for content in files)


def test_an_erasure_while_the_logs_are_copied_reaches_those_that_were_copied_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asof.runtime import checkout

    copy_log, erased = checkout._Checkout._copy, []

    def erase_first(self, path, *of_log):
        if path.name == "messages.sqlite":
            world.memory.erase("gone")
            erased.append(path)
        copy_log(self, path, *of_log)

    monkeypatch.setattr(checkout._Checkout, "_copy", erase_first)
    copy = checked_out(world, "2022-01-01")
    assert erased

    copy.memory.close()
    files = [path.read_bytes() for path in copy.path.rglob("*") if path.is_file()]
    assert not any(b"Zarquon" in content for content in files)


def test_a_moment_before_everything_and_a_directory_that_has_something_are_refused(world: World) -> None:
    directory = world.path.with_name("early")
    with pytest.raises(NotFound, match="nothing was recorded by then"):
        world.memory.checkout(directory, known_at="2020")
    with pytest.raises(InvalidInput, match="not empty"):
        world.memory.checkout(world.path, known_at="2022")

    assert sorted(path.name for path in world.path.parent.iterdir()) == ["data"]


def test_a_moment_that_no_beginning_of_the_log_is_of_is_refused_with_the_messages_between(world: World) -> None:
    line = {"group_id": "old", "subject": "Eve", "relation": "lives_in", "object": "Bern"}
    world.now = on("2024-01-01")
    world.memory.import_facts([{**line, "recorded_at": "2021-05-01T00:00:00Z"}], recorded=True)

    with pytest.raises(
        InvalidInput, match="message 2 was recorded after that moment, but message 3 behind it was not"
    ) as refused:
        world.memory.checkout(world.path.with_name("copy"), known_at="2021-05-15")
    assert refused.value.field == "known_at"
    with checked_out(world, "2021-06-02").memory as copy:
        assert [fact.object for fact in copy.facts(group_id="old")] == ["Bern"]


def test_a_checkout_that_is_interrupted_leaves_no_directory_and_the_next_one_is_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from asof.runtime import checkout

    beside = world.path.with_name("as of 2022.restored")
    beside.mkdir()
    (beside / "messages.sqlite").write_bytes(b"of one that was killed")

    with checked_out(world, "2022").memory as copy:
        assert copy.digest() == world.digest()
    assert not beside.exists()

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkout, "restore_rows", fails)
    with pytest.raises(KeyboardInterrupt):
        world.memory.checkout(world.path.with_name("other"), known_at="2022")
    assert not world.path.with_name("other").exists()


def test_the_command_takes_out_a_directory(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    command = ["checkout", str(tmp_path / "copy"), "--known-at", "2021-03-02", "--data", str(world.path)]

    assert calls.run(app, command) == 0
    assert capsys.readouterr().out == f"messages in {tmp_path / 'copy'}: 1\n"
    assert calls.run(app, command) == 2
    assert "not empty" in capsys.readouterr().err
