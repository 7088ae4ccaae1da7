"""Generations that are built, switched to and dropped while another memory writes the directory: both go on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import build_file, control_log, generation_build, generations
from asof_projections.generations import load, save
from asof_streams.sqlite_log import SqliteLog
from model_server import serving
from model_world import opened

OFTEN = 30  # the times that a build tells how far it is for which another message comes
TOLD = ["I live in Rome.", "I work at Initech.", "My sister Maria works at Acme.", "I moved to Berlin in March 2024."]


def say(memory: Memory, count: int = 4, group: str = "team") -> None:
    for text in (TOLD * count)[:count]:
        memory.add(text, role="Ana", group_id=group)


@pytest.fixture
def writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory that holds the directory."""
    monkeypatch.setattr(generations, "FLUSH_EVERY", 2)
    monkeypatch.setattr(control_log, "_PATIENCE", 0.5)
    with asof.open(tmp_path / "data", embedder="none") as opened:
        say(opened, 12)
        yield opened


@pytest.fixture
def other(writer: Memory) -> Iterator[Memory]:
    """A memory of the same directory, which does not write there."""
    with asof.open(writer._session.places.root, embedder="none") as opened:
        yield opened


def names(memory: Memory) -> list[str]:
    return [info.name for info in memory.generations()]


def relations(memory: Memory) -> set[str]:
    return {fact.relation for fact in memory.facts(all_groups=True)}


def expect_whole(memory: Memory) -> None:
    checks = memory.verify()
    assert [check for check in checks if not check.ok] == []
    assert any(check.what == "log control" for check in checks)


def test_a_generation_is_built_while_another_memory_writes_and_follows_from_then_on(
    writer: Memory, other: Memory
) -> None:
    with pytest.raises(asof.WriterBusy):
        other.add("I know Bob.", role="Ana")
    seen: list[int] = []

    def write(done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) < OFTEN:  # it is told of each message that it follows, too: it would never catch up
            say(writer, 1)

    other.rebuild("work", input="episodes", progress=write)

    assert len(seen) > OFTEN
    assert names(writer) == names(other) == ["main", "work"]
    say(writer)
    writer.rebuild("whole", input="episodes")
    assert writer.digest("work") == writer.digest("whole")
    expect_whole(other)


def test_a_message_that_comes_when_the_build_is_about_to_hand_over_is_left_out_by_nobody(
    writer: Memory, other: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def amid(module: Any, name: str) -> None:
        """Let messages come before and after a function."""
        work = getattr(module, name)

        def between(*args: Any) -> Any:
            say(writer, 1)
            done = work(*args)
            say(writer, 2)
            return done

        monkeypatch.setattr(module, name, between)

    amid(generation_build, "decide")
    amid(build_file.BuildFile, "remove")
    other.rebuild("work", input="episodes")

    assert writer.digest("work") == other.digest("work")
    other.switch("work")
    facts = {fact.uuid for fact in other.facts(all_groups=True, limit=None)}
    say(writer, 1)
    writer.rebuild("whole", input="episodes")
    assert writer.digest("work") == writer.digest("whole")
    assert facts


def test_a_switch_beside_a_writer_is_seen_by_all_at_their_next_question(writer: Memory, other: Memory) -> None:
    other.rebuild("work", input="episodes", ontology="agent_memory_v1")
    writer.add("I own the billing service.", role="Ana", group_id="team")
    assert relations(writer) == relations(other) >= {"lives_in", "works_at"}
    other.switch("work")

    assert writer.active() == other.active() == "work"
    assert relations(writer) == relations(other) == {"owns"}
    writer.add("The billing service is written in Go.", role="Ana", group_id="team")
    assert relations(writer) == relations(other) == {"owns", "written_in"}
    other.switch("main")
    assert relations(writer) == relations(other) >= {"lives_in", "works_at"}


def test_what_is_dropped_beside_a_writer_is_gone_with_its_next_message_and_the_name_is_free(
    writer: Memory, other: Memory
) -> None:
    places = writer._session.places
    other.rebuild("work")
    say(writer, 1)  # it writes the generation, too
    other.drop("work")
    with pytest.raises(asof.NotFound):
        other.switch("work")
    other.rebuild("work", input="episodes", ontology="agent_memory_v1")
    say(writer, 1)
    writer.rebuild("whole", input="episodes", ontology="agent_memory_v1")
    assert writer.digest("work") == writer.digest("whole")
    other.drop("work")
    say(writer, 1)

    assert not places.generation("work").exists()
    assert names(other) == ["main", "whole"]
    expect_whole(other)


@pytest.mark.parametrize("few", [0, 5_000])  # records, above which a build fills its graph in bulk
def test_an_erasure_removes_a_build_that_is_under_way_beside_it(
    writer: Memory, other: Memory, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(generation_build, "IN_BULK", few)
    say(writer, group="secret")

    def erase(done: int, _total: int) -> None:
        if done:
            writer.erase("secret")

    with pytest.raises(asof.BuildStopped) as raised:
        other.rebuild("work", input="episodes", progress=erase)

    assert raised.value.state == "cancelled"
    assert not writer._session.places.generation("work").exists()
    assert other.builds() == []
    other.rebuild("work", input="episodes")
    say(writer, 1)
    writer.rebuild("whole", input="episodes")
    assert writer.digest("work") == writer.digest("whole")


def test_two_processes_do_not_build_one_generation(writer: Memory, other: Memory) -> None:
    def again(_done: int, _total: int) -> None:
        with pytest.raises(asof.WriterBusy):
            writer.rebuild("work")

    other.rebuild("work", progress=again)

    assert names(writer) == ["main", "work"]
    with pytest.raises(asof.InvalidInput, match="is there already"):
        writer.rebuild("work")


class Killed(BaseException):
    pass


@pytest.mark.parametrize("written", [False, True])
def test_what_was_decided_before_the_catalogue_had_it_is_made_good(
    writer: Memory, other: Memory, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """A process dies between the two writes of a decision, and the next that looks finishes it."""

    def die(*_: object) -> None:
        raise Killed

    def interrupted(decision: object, *names: str) -> None:
        monkeypatch.setattr(control_log, "save", die)
        with pytest.raises(Killed):
            decision(*names)  # type: ignore[operator]
        monkeypatch.setattr(control_log, "save", save)
        if written:
            say(writer, 1)

    interrupted(other.rebuild, "work")
    if not written:  # another decision comes first
        other.rebuild("more")
    assert "work" in names(other)
    say(writer, 1)  # whoever writes takes over what nobody builds any more
    interrupted(other.switch, "work")
    other.rebuild("third")
    assert other.active() == "work"
    interrupted(other.drop, "main")
    other.rebuild("fourth")
    assert "main" not in names(other)
    writer.close()
    assert other.digest("third") == other.digest("fourth") == other.digest("work")
    expect_whole(other)


def test_a_directory_from_before_the_control_log_begins_from_its_catalogue(writer: Memory, other: Memory) -> None:
    places = writer._session.places
    writer.rebuild("work")
    writer.switch("work")
    writer.close()
    places.control.unlink()
    catalog = load(places.root)
    assert catalog is not None
    save(places.root, type(catalog)(catalog.active, catalog.generations))  # as an earlier version wrote it

    assert other.active() == "work"
    other.switch("main")
    assert (other.active(), names(other)) == ("main", ["main", "work"])
    with SqliteLog(places.control) as log:
        assert [record.event.type for record in log.read()] == ["generation.switched"]


def test_a_control_log_that_was_lost_is_missed_by_the_next_decision_and_no_message(writer: Memory) -> None:
    places = writer._session.places
    writer.rebuild("work")
    writer.close()
    places.control.unlink()

    with asof.open(places.root, embedder="none") as memory:
        say(memory, 1)
        assert [check.what for check in memory.verify() if not check.ok] == ["log control"]
        with pytest.raises(asof.DamagedLog, match="restore it"):
            memory.switch("work")


def test_a_writer_goes_on_without_a_generation_that_its_settings_cannot_follow_for(
    writer: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    with serving() as server:
        other = opened(writer._session.places.root, server).memory
        other.rebuild("model", input="episodes")
        say(writer, 2)

        assert "left behind" in caplog.text
        assert writer.facts(all_groups=True, limit=1)
        with pytest.raises(asof.InvalidInput, match="episodic events behind"):
            other.switch("model")
        other.drop("model")
        say(writer, 1)
        assert not writer._session.places.generation("model").exists()
        other.close()


def test_a_damaged_control_log_begins_anew_from_the_catalogue(writer: Memory, other: Memory) -> None:
    writer.rebuild("work")
    writer.switch("work")
    writer.close()
    other._session.places.control.write_bytes(b"damaged")

    [repaired] = other.repair()
    assert (repaired.what, repaired.ok) == ("log control", True)
    assert other.active() == "work"
    other.switch("main")
    expect_whole(other)


def test_backups_and_checkouts_have_what_was_decided(writer: Memory, tmp_path: Path) -> None:
    writer.rebuild("work")
    writer.switch("work")
    writer.drop("main")
    writer.backup(tmp_path / "backup")
    copies = [tmp_path / "restored", tmp_path / "checked-out"]
    asof.restore(tmp_path / "backup", data=copies[0], embedder="none")
    writer.checkout(copies[1], known_at="now")

    for copy in copies:
        with asof.open(copy, embedder="none") as memory:
            assert (memory.active(), names(memory)) == ("work", ["work"])
            assert memory.digest() == writer.digest()
            memory.rebuild("more")
            expect_whole(memory)
