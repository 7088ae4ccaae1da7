"""A replay feeds a sink with a log from where it stopped: in order, whole messages, at least once."""

import json
import sys
from pathlib import Path

import pytest

import asof
from asof.cli import app, calls
from asof.runtime.replay import Pace
from asof_streams.errors import InvalidInput
from world import World, on


class Collected:
    """Keeps what it was given; raises at an event of a position."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.calls: list[list[asof.LogEvent]] = []
        self.fails_at = fails_at

    def apply(self, events) -> None:
        if any(event.position == self.fails_at for event in events):
            raise RuntimeError
        self.calls.append(list(events))

    @property
    def positions(self) -> list[int]:
        return [event.position for events in self.calls for event in events]


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.tell("2021-03-01", object="Lisbon", valid_at="2020")
    world.tell("2021-04-01", group_id="gone", subject="Zxqv", object="Zarquon")
    world.now = on("2021-06-01")
    world.memory.add("I moved to Rome in May.", role="Ben", group_id="g", timestamp="2021-06-01")
    yield world
    world.memory.close()


def test_a_projection_gets_each_event_once_in_order_and_goes_on_where_it_stopped(world: World) -> None:
    collected = Collected()
    first = world.memory.replay(collected)
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    second = world.memory.replay(collected)

    events = list(world.memory.events())
    assert [event for events in collected.calls for event in events] == events
    assert (first.start, first.end, second.start, second.end) == (0, first.events, first.end, len(events))
    assert world.memory.replay(collected).events == 0


def test_events_of_a_call_that_failed_come_again_and_those_of_a_message_together(world: World) -> None:
    events = list(world.memory.events())
    last = [event.position for event in events if event.cause == events[-1].cause]
    failing = Collected(fails_at=events[-1].position)
    with pytest.raises(RuntimeError):
        world.memory.replay(failing, pace=1e9)

    assert failing.positions == [event.position for event in events if event.position < last[0]]
    assert len({event.cause for event in events}) == len(failing.calls) + 1
    again = Collected()
    world.memory.replay(again)
    assert again.positions == last


def test_positions_are_kept_by_name_and_log_and_a_start_that_is_said_goes_first(world: World) -> None:
    world.memory.replay(Collected())
    others = [Collected(), Collected(), Collected()]
    world.memory.replay(others[0], name="other")
    world.memory.replay(others[1], log="episodic")
    world.memory.replay(others[2], start=2, stop=4)

    assert others[0].positions == [event.position for event in world.memory.events()]
    assert others[1].positions == [event.position for event in world.memory.events("episodic")]
    assert others[2].positions == [2, 3]
    with pytest.raises(InvalidInput) as refused:
        world.memory.replay(Collected(), name="../other")
    assert refused.value.field == "name"


def test_a_log_that_was_built_anew_under_the_same_name_is_not_gone_on_with(world: World) -> None:
    world.memory.rebuild("second")
    world.memory.replay(Collected(), generation="second")
    world.memory.drop("second")
    world.memory.rebuild("second")

    with pytest.raises(InvalidInput, match="begin anew with 0"):
        world.memory.replay(Collected(), generation="second")
    assert world.memory.replay(Collected(), generation="second", start=0).events


def test_a_directory_that_messages_are_replayed_into_gives_the_same_digest_and_goes_on(world: World) -> None:
    target = world.path.with_name("target")
    world.memory.replay(str(target), log="messages", stop=2)
    world.memory.replay(str(target), log="messages")
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    done = world.memory.replay(str(target), log="messages")

    assert (done.start, done.end, done.events) == (3, 4, 1)
    copy = World(target)
    with copy.memory:
        assert copy.digest() == world.digest()
        assert copy.where("2022-01-01", "2021-05-01") == ["Lisbon"]
        copy.tell("2023-01-01", object="Bern")
    with pytest.raises(InvalidInput, match="not the first"):
        world.memory.replay(str(target), log="messages")


def test_ids_stay_in_a_directory_where_a_group_was_erased_between(world: World) -> None:
    said = world.memory.episodes(group_id="g")[-1]
    world.now = on("2022-01-01")
    world.memory.erase("gone")
    world.memory.withdraw(said.uuid, group_id="g")
    target = world.path.with_name("target")

    world.memory.replay(str(target), log="messages")

    copy = World(target)
    with copy.memory:
        assert copy.memory.facts(group_id="g", any_time=True) == world.memory.facts(group_id="g", any_time=True)
        assert copy.memory.stats()["parked"] == 0
        assert all(check.ok for check in copy.memory.verify())
    assert not any(b"Zarquon" in path.read_bytes() for path in target.rglob("*") if path.is_file())


def test_what_no_target_can_take_is_refused(world: World) -> None:
    for target, fields in {
        "./else": {},
        "nowhere_at_all:Nothing": {},
        "os:getcwd": {},
        "kafka://topic": {},
        object(): {},
    }.items():
        with pytest.raises(InvalidInput):
            world.memory.replay(target, **fields)
    world.memory.add("I like tea.", role="Eve", group_id="g", suppress_content=True)
    with pytest.raises(InvalidInput, match="asof checkout"):
        world.memory.replay("./else", log="messages")


def test_the_command_loads_a_class_of_the_working_directory_or_prints_lines(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "kept_lines", raising=False)
    Path("kept_lines.py").write_text(
        "class Lines:\n"
        "    def apply(self, events):\n"
        "        with open('lines', 'a') as file:\n"
        "            file.writelines(f'{event.position}\\n' for event in events)\n"
    )
    path = list(sys.path)
    data = ["--data", str(world.path)]

    assert calls.run(app, ["replay", "kept_lines:Lines", "--log", "episodic", *data]) == 0
    assert calls.run(app, ["replay", "kept_lines:Lines", "--log", "episodic", "--json", *data]) == 0
    told, again = capsys.readouterr().out.splitlines()
    assert "events of episodic, from 0 to" in told
    assert json.loads(again)["events"] == 0
    assert Path("lines").read_text().split() == [str(event.position) for event in world.memory.events("episodic")]
    assert sys.path == path
    assert calls.run(app, ["replay", "-", "--log", "messages", *data]) == 0
    assert [json.loads(line)["position"] for line in capsys.readouterr().out.splitlines()] == [0, 1, 2]
    assert calls.run(app, ["replay", "no_such_module:Lines", *data]) == 2


def test_records_come_in_the_rhythm_of_their_recorded_times() -> None:
    now, slept = [100.0], []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))
        now[0] += seconds

    pace = Pace(60, sleep, lambda: now[0])
    for second in (0, 60, 90, 30, 210):
        pace.wait(on("2024-01-01") + second * 1_000_000)

    assert slept == [1.0, 0.5, 2.0]


def test_what_replays_keep_is_for_the_owner_alone(world: World) -> None:
    world.memory.replay(Collected())

    for path in [world.path / "replays", *(world.path / "replays").iterdir()]:
        assert path.stat().st_mode & 0o077 == 0
