"""Builds that stop: seen, paused, resumed and cancelled from elsewhere, with the digest of one that never stopped."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import generations
from commands import Asof
from patience import wait_until

TOLD = ["I live in Rome.", "I work at Initech.", "My sister Maria works at Acme.", "I moved to Berlin in March 2024."]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(generations, "FLUSH_EVERY", 2)
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
        memory.rebuild("again", source="episodes", progress=interrupt)
    memory.add("I know Bob.", role="Ana")

    [stopped] = memory.builds()
    seen: list[tuple[int, int]] = []
    memory.resume_build("again", progress=lambda done, total: seen.append((done, total)))

    assert (stopped.name, stopped.state, stopped.source) == ("again", "stopped", "episodes")
    assert 0 < stopped.done < stopped.total
    assert seen[0][1] < stopped.total  # it did not begin anew
    assert memory.builds() == []
    memory.rebuild("whole", source="episodes")
    assert memory.digest("again") == memory.digest("whole")


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
        rebuild = pool.submit(memory.rebuild, "again", source="episodes", progress=wait)
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
    memory.rebuild("whole", source="episodes")
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
