"""Clocks that are wrong, and times that no clock shows."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from asof.api.memory import Memory
from asof.runtime import clock
from asof.service.intake import Intake
from asof.settings import Settings
from asof_streams.errors import InvalidInput, UnavailableError
from asof_streams.instants import DAY, LAST, NEG, parse_moment, render
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog

YEAR = 366 * DAY


class Clocked:
    """A memory whose clock the test holds."""

    def __init__(self, data: Path, now: str = "2026-06-01", **settings: Any) -> None:
        self.now = parse_moment(now)
        self.memory = Memory(Settings(data=data, embedder="none", **settings), now=lambda: self.now)

    def say(self, text: str, group: str = "g") -> None:
        self.memory.add(text, role="Ana", group_id=group)

    def recorded(self) -> list[tuple[str, str | None]]:
        return [(event.group_id, render_of(event.recorded_at)) for event in self.memory.events("messages")]


def render_of(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d")


def line(recorded: str, group: str = "g", **fields: object) -> str:
    fields = {"group_id": group, "subject": "Ana", "relation": "lives_in", "object": "Oslo", **fields}
    return json.dumps({**fields, "recorded_at": recorded})


@pytest.fixture
def clocked(tmp_path: Path) -> Clocked:
    return Clocked(tmp_path / "data")


@pytest.mark.parametrize(
    "recorded", ["9999-12-31T23:59:59.999999Z", "9999", "2026-06-01T00:00:00.000001Z", "2060-01-01"]
)
def test_a_history_of_the_future_is_refused_line_by_line(clocked: Clocked, recorded: str) -> None:
    produced = clocked.memory.import_facts([line("2020-01-01"), line(recorded)], recorded=True)

    assert (produced.accepted, [refused.field for refused in produced.refused]) == (1, ["recorded_at"])
    assert "future" in produced.refused[0].reason
    assert len(clocked.memory.facts(group_id="g")) == 1
    clocked.say("I moved to Rome.")
    assert [fact.object for fact in clocked.memory.facts(group_id="g")] == ["Rome"]


@pytest.mark.parametrize("recorded", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z"])
def test_a_history_from_the_first_years_can_be_asked(clocked: Clocked, recorded: str) -> None:
    assert clocked.memory.import_facts([line(recorded)], recorded=True).accepted == 1

    assert len(clocked.memory.facts(group_id="g")) == 1
    assert clocked.memory.stats()


def test_a_history_is_not_moved_in_before_what_its_group_has(clocked: Clocked) -> None:
    """It is refused, not dated later: a line says when it was known, and another time would be a wrong answer."""
    clocked.memory.import_facts([line("2020-01-01")], recorded=True)

    with pytest.raises(Exception, match="recorded before the one that it follows"):
        clocked.memory.import_facts([line("2019-01-01", object="Rome")], recorded=True)

    assert [fact.object for fact in clocked.memory.facts(group_id="g")] == ["Oslo"]


def test_a_clock_that_went_back_changes_no_past_answer(clocked: Clocked) -> None:
    clocked.say("I live in Oslo.", "a")
    asked = datetime(2026, 6, 1, tzinfo=UTC)
    before = clocked.memory.facts(known_at=asked, all_groups=True, any_time=True)

    clocked.now = parse_moment("2026-01-01")
    clocked.say("I live in Rome.", "b")
    clocked.say("I live in Bonn.", "c")

    assert [when for _, when in clocked.recorded()] == ["2026-06-01"] * 3
    times = [event.recorded_at for event in clocked.memory.events("messages")]
    assert times == sorted(times)
    assert clocked.memory.facts(known_at=asked, group_id="a", any_time=True) == before


def test_a_history_of_another_group_keeps_its_times_and_holds_nothing_back(clocked: Clocked) -> None:
    clocked.say("I live in Oslo.", "a")
    clocked.memory.import_facts([line("2001-01-01", "b")], recorded=True)
    clocked.now = parse_moment("2026-06-02")
    clocked.say("I live in Rome.", "b")

    assert clocked.recorded() == [("a", "2026-06-01"), ("b", "2001-01-01"), ("b", "2026-06-02")]


@pytest.mark.parametrize("now", ["2037-01-01", "2106-02-07", "9999-12-31T23:59:59.999999Z"])
def test_a_clock_that_is_ahead_by_decades_writes_nothing(clocked: Clocked, now: str) -> None:
    clocked.say("I live in Oslo.")
    clocked.now = parse_moment(now)

    with pytest.raises(UnavailableError, match="ASOF_CLOCK_YEARS") as refused:
        clocked.say("I live in Rome.")
    assert str(render(clocked.now)) in str(refused.value)

    clocked.now = parse_moment("2026-06-02")
    clocked.say("I live in Bonn.")
    assert [when for _, when in clocked.recorded()] == ["2026-06-01", "2026-06-02"]


def test_a_new_memory_believes_no_clock_that_is_ahead_by_decades(tmp_path: Path) -> None:
    clocked = Clocked(tmp_path / "data", now="2060-01-01")

    with pytest.raises(UnavailableError, match="ASOF_CLOCK_YEARS"):
        clocked.say("I live in Oslo.")
    with pytest.raises(UnavailableError, match="ASOF_CLOCK_YEARS"):
        clocked.memory.import_facts([json.dumps({"group_id": "g", "subject": "Ana", "relation": "r", "object": "o"})])


def test_a_directory_that_was_idle_for_years_works(tmp_path: Path) -> None:
    first = Clocked(tmp_path / "data", now="1999-01-01")
    first.say("I live in Oslo.")
    first.memory.close()

    again = Clocked(tmp_path / "data", now="2030-01-01")
    again.say("I live in Rome.")
    assert [when for _, when in again.recorded()] == ["1999-01-01", "2030-01-01"]
    again.memory.close()

    later = Clocked(tmp_path / "data", now="2050-01-01", clock_years=30)
    later.say("I live in Bonn.")
    assert [when for _, when in later.recorded()][-1] == "2050-01-01"


def test_a_service_whose_clock_is_ahead_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Message(group_id="g", content="x", role_type="user")
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as log:
        intake = Intake(lambda: SqliteLog(log.path, writable=True, term=log.term), lambda: None, 10.0)
        monkeypatch.setattr(clock, "system", lambda: parse_moment("2060"))
        with pytest.raises(UnavailableError, match="ASOF_CLOCK_YEARS"):
            intake.put([said]).result()
        monkeypatch.setattr(clock, "system", lambda: parse_moment("2026-06-01"))
        intake.put([said]).result()
        monkeypatch.setattr(clock, "system", lambda: parse_moment("2026-01-01"))
        intake.put([said.model_copy(update={"group_id": "h"})]).result()
        intake.close()

        assert [record.recorded_at for record in log.read()] == [parse_moment("2026-06-01")] * 2


def test_the_latest_time_is_that_of_the_file_whoever_wrote_it(tmp_path: Path) -> None:
    said = Message(group_id="g", content="x", role_type="user")
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as log:
        assert log.latest() == NEG
        log.accept([said], clock=50)
        assert log.latest() == 50
        with SqliteLog(log.path, writable=True, term=log.term) as beside:
            beside.accept([said.model_copy(update={"group_id": "h"})], clock=90)
        assert log.latest() == 90
        log.accept([said], clock=999, recorded=[70])
        assert log.latest() == 90
        with pytest.raises(sqlite3.ProgrammingError):
            log.accept([said.model_copy(update={"group_id": object()})], clock=100)
        assert log.latest() == 90


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z"])
def test_the_ends_of_the_calendar_are_no_trap(clocked: Clocked, time: str) -> None:
    memory = clocked.memory
    for fields in ({"valid_at": time}, {"invalid_at": time}, {"said_at": time}):
        try:
            memory.import_facts(
                [json.dumps({"group_id": "g", "subject": "A", "relation": "r", "object": "o", **fields})]
            )
        except InvalidInput:
            pytest.fail("a line is refused by itself")
    text = "Yesterday I moved to Rome, next week I move to Bonn, and ten years ago I lived in Oslo."
    memory.add(text, role="Ana", timestamp=parse_time(time), group_id="g")

    at = parse_time(time)
    for question in (
        lambda: memory.facts(group_id="g", any_time=True),
        lambda: memory.facts(group_id="g", valid_at=at),
        lambda: memory.facts(group_id="g", known_at=at),
        lambda: memory.timeline("Ana", group_id="g"),
        lambda: memory.changes(group_id="g"),
        lambda: memory.episodes(group_id="g"),
        lambda: memory.search("Rome", group_id="g", valid_at=at),
        memory.export,
        memory.stats,
        memory.verify,
    ):
        question()
    clocked.now += DAY
    memory.add("I live in Paris.", role="Ben", group_id="g")
    assert [fact.object for fact in memory.facts(group_id="g", about="Ben")] == ["Paris"]


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_the_last_moment_can_be_rendered() -> None:
    assert str(render(LAST)).startswith("9999-12-31")
