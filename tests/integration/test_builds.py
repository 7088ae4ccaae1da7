"""Builds that stop: seen, paused, resumed and cancelled from elsewhere, with the digest of one that never stopped."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof.operations.generations import Rebuild, ResumeBuild, begin_build, expect_build
from asof.runtime import build_file, generation_build, generations
from asof.runtime.child_process import ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import FILE
from asof.service.build_process import run_build
from asof_projections.model.prices import ModelBudget
from asof_streams import files
from commands import Asof
from patience import wait_until

TOLD = ["I live in Rome.", "I work at Initech.", "My sister Maria works at Acme.", "I moved to Berlin in March 2024."]


@pytest.fixture(params=["row by row", "in bulk"])
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """A memory of some messages, whose builds keep what they have every two, and fill their graphs in either way."""
    monkeypatch.setattr(generations, "FLUSH_EVERY", 2)
    if request.param == "in bulk":
        monkeypatch.setattr(generation_build, "IN_BULK", 0)
    with asof.open(tmp_path, embedder="none") as opened:
        for day in range(10, 28):
            opened.add(TOLD[day % 4], role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
        yield opened


class Interrupted(Exception):
    pass


def interrupt(done: int, _total: int) -> None:
    if done:
        raise Interrupted


def test_a_build_that_ended_is_listed_and_resumed_where_it_stopped(memory: Memory) -> None:
    with pytest.raises(Interrupted):
        memory.rebuild("again", input="episodes", progress=interrupt)
    memory.add("I know Bob.", role="Ana")

    [stopped] = memory.builds()
    seen: list[tuple[int, int]] = []
    memory.resume_build("again", progress=lambda done, total: seen.append((done, total)))

    assert (stopped.name, stopped.state, stopped.input) == ("again", "stopped", "episodes")
    assert 0 < stopped.done < stopped.total
    assert seen[0][1] < stopped.total  # it did not begin anew
    assert memory.builds() == []
    memory.rebuild("whole", input="episodes")
    assert memory.digest("again") == memory.digest("whole")


def test_a_long_build_fills_its_graph_in_bulk_and_one_that_stopped_makes_it_again_from_its_log(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation_build, "IN_BULK", 20)  # records, of which there are more
    graph = memory._session.places.graph("again")
    seen: list[tuple[bool, bool]] = []

    def look(done: int, _total: int) -> None:
        seen.append((graph.exists(), graph.with_name("graph.db.building").exists()))
        if done:
            raise Interrupted

    with pytest.raises(Interrupted):
        memory.rebuild("again", progress=look)
    left = sorted(path.name for path in graph.parent.glob("graph.db*"))
    memory.rebuild("again")
    monkeypatch.setattr(generation_build, "IN_BULK", 1_000)
    memory.rebuild("whole")

    assert (set(seen), left) == ({(False, True)}, [])
    assert graph.exists()
    assert memory.digest("again") == memory.digest("whole")
    assert [check for check in memory.verify() if not check.ok] == []


def test_the_same_rebuild_asked_again_goes_on_and_another_one_of_the_name_begins_anew(memory: Memory) -> None:
    for policy in ("recency", "graded"):
        with pytest.raises(Interrupted):
            memory.rebuild("again", progress=interrupt)
        memory.rebuild("again", policy=policy)
        memory.rebuild("whole", policy=policy)

        assert memory.digest("again") == memory.digest("whole")
        memory.drop("again")
        memory.drop("whole")


def stopping(memory: Memory, stop: Callable[[Memory], object]) -> asof.BuildStopped:
    """Stop a build by another memory of the directory, while it runs; return what the rebuild raised."""
    places = memory._session.places

    def wait(done: int, _total: int) -> None:
        if done:
            wait_until(places.stop_request("again").exists)

    with ThreadPoolExecutor(1) as pool, asof.open(places.root, embedder="none") as other:
        rebuild = pool.submit(memory.rebuild, "again", input="episodes", progress=wait)
        wait_until(lambda: any(build.done for build in other.builds()))
        assert [build.state for build in other.builds()] == ["running"]
        stop(other)
        raised = rebuild.exception()
    assert isinstance(raised, asof.BuildStopped)
    return raised


def test_a_build_is_paused_from_elsewhere_and_resumed_with_the_same_digest(memory: Memory) -> None:
    raised = stopping(memory, lambda other: other.pause_build("again"))

    [paused] = memory.builds()
    assert (raised.state, paused.state, paused.seconds_left) == ("paused", "paused", None)
    assert 0 < paused.done < paused.total
    assert [info.name for info in memory.generations()] == ["main"]
    memory.add("I know Bob.", role="Ana")
    memory.resume_build("again")
    memory.rebuild("whole", input="episodes")
    assert memory.digest("again") == memory.digest("whole")


def test_a_build_that_is_cancelled_leaves_nothing(memory: Memory) -> None:
    raised = stopping(memory, lambda other: other.cancel_build("again"))

    assert raised.state == "cancelled"
    assert memory.builds() == []
    assert not memory._session.places.generation("again").exists()
    with pytest.raises(asof.NotFound, match="no build of a generation again is under way"):
        memory.resume_build("again")


def test_a_build_that_was_completed_is_none_that_can_be_stopped(memory: Memory) -> None:
    memory.rebuild("again")

    for stop in (memory.pause_build, memory.cancel_build, memory.resume_build):
        with pytest.raises(asof.NotFound):
            stop("again")
    assert [info.name for info in memory.generations()] == ["main", "again"]
    kept = {file.name for file in memory._session.places.generation("again").iterdir()}
    assert kept.isdisjoint({"unfinished", "build.lock", "stop"})


def test_the_commands_list_resume_and_cancel_builds(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        with pytest.raises(Interrupted):
            memory.rebuild(name, progress=interrupt)
    memory.close()
    command = Asof(tmp_path, capsys)

    assert [build["state"] for build in command.json("generations", "builds")] == ["stopped", "stopped"]
    assert "stopped" in command("generations", "resume", "one")
    command("generations", "pause", "two")
    assert [build["state"] for build in command.json("generations", "builds")] == ["paused"]
    command("generations", "cancel", "two")
    assert command.json("generations", "builds") == []
    assert [info["name"] for info in command.json("generations")["generations"]] == ["main", "one"]
    command("generations", "resume", "two", code=1)


def test_a_build_that_is_paused_before_its_process_begins_waits_until_it_is_resumed(memory: Memory) -> None:
    session = memory._session

    def built() -> list[str]:
        child = ChildProcess(run_build, session.settings, "again", ModelBudget())
        assert child.wait() == 0
        child.stop()
        return [f"{build.name} {build.state} {build.done}" for build in memory.builds()]

    begin_build(session, Rebuild.model_validate({"name": "again"}))
    memory.pause_build("again")
    assert built() == ["again paused 0"]
    assert expect_build(session, ResumeBuild.model_validate({"name": "again"})).state == "paused"
    memory.pause_build("again")
    assert built() == ["again paused 0"]
    expect_build(session, ResumeBuild.model_validate({"name": "again"}))
    assert built() == []


def test_a_build_that_is_removed_just_as_it_is_cancelled_is_cancelled(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        memory.rebuild("again", progress=interrupt)
    replace_file = files.replace_file

    def removed_first(path: Path, parts: Iterable[bytes]) -> None:
        shutil.rmtree(path.parent)
        replace_file(path, parts)

    monkeypatch.setattr(build_file, "replace_file", removed_first)

    assert memory.cancel_build("again") == []


@pytest.mark.parametrize("meanwhile", ["removed", "made"])
def test_a_build_whose_process_still_has_its_files_is_erased_with_the_group(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """SQLite removes files when its last user closes them, and the build writes down how far it is."""
    with pytest.raises(Interrupted):
        memory.rebuild("again", progress=interrupt)
    folder = memory._session.places.generation("again")
    remove, remove_folder, done = os.unlink, os.rmdir, list[str]()

    def unlink(path: str | Path, *, dir_fd: int | None = None) -> None:
        if meanwhile == "removed" and dir_fd is not None and not done:
            done.append(str(path))
            remove(path, dir_fd=dir_fd)
        remove(path, dir_fd=dir_fd)

    def rmdir(path: str | Path, *, dir_fd: int | None = None) -> None:
        if meanwhile == "made" and Path(path).name == "again" and not done:
            done.append(str(path))
            (folder / "unfinished.new").touch()
        remove_folder(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink)
    monkeypatch.setattr(os, "rmdir", rmdir)
    memory.erase("default")

    assert done
    assert not folder.exists()


def test_a_memory_is_opened_while_a_generation_is_removed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    places: DirectoryLayout = memory._session.places
    memory.rebuild("again")
    folder, scan = places.generation("again"), os.scandir

    def removed_first(path: Any = ".") -> Any:
        if str(path) == str(folder):
            shutil.rmtree(folder)
        return scan(path)

    monkeypatch.setattr(os, "scandir", removed_first)
    for _ in range(2):
        with asof.open(places.root, embedder="none") as other:
            assert other.active() == "main"

    assert not folder.exists()


def test_a_copy_of_topics_is_built_in_and_cancelled_on_kafka_alone(memory: Memory) -> None:
    places = memory._session.places
    memory.close()
    (places.root / FILE).write_text(json.dumps({"prefix": "topics", "partitions": 1}), "utf-8")

    with asof.open(places.root, embedder="none") as copy:
        for change in (copy.rebuild, copy.cancel_build):
            with pytest.raises(asof.InvalidInput, match="is a copy of topics"):
                change("again")
        assert [info.name for info in copy.generations()] == ["main"]
    assert not places.generation("again").exists()
