"""The time zone of a group's speakers: by whose days "yesterday" is read, and from which message on."""

import json
import sys
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from asof.operations.errors import InvalidInput
from asof_agents.extraction.llm.extractor import LLMExtractor
from asof_agents.extraction.ports import Turn
from asof_ontologies.prompts import prompt
from asof_ontologies.registry import load
from asof_streams.instants import parse, render
from asof_streams.messages import Message, RetryRequest, TimezoneStatement
from asof_streams.timezones import on_wall, zone_of
from world import World

NIGHT = parse("2024-05-15T22:30:00Z")  # half past midnight in Berlin, on the sixteenth
BY_UTC, BY_BERLIN = "2024-05-14T00:00:00Z", "2024-05-14T22:00:00Z"
BY_BERLIN_NEXT = "2024-05-15T22:00:00Z"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "data")


def said(role: str, text: str = "I moved to Rome yesterday.", group: str = "g") -> Message:
    return Message(group_id=group, role_type="user", role=role, content=text, timestamp=NIGHT)


def since(world: World, about: str, group: str = "g", known_at: int | None = None) -> list[str | None]:
    facts = world.memory.facts(group_id=group, about=about, relation="lives_in", valid_at="2024-06", known_at=known_at)
    return [str(fact.to_json()["valid_at"]) for fact in facts]


def test_yesterday_is_read_by_the_days_of_the_group_from_its_statement_on(world: World) -> None:
    world.send(said("Ana"))
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.send(said("Ben"), said("Cleo", group="other"))

    assert (since(world, "Ana"), since(world, "Ben"), since(world, "Cleo", "other")) == (
        [BY_UTC],
        [BY_BERLIN],
        [BY_UTC],
    )


def test_another_statement_takes_its_place(world: World) -> None:
    for zone in ("Europe/Berlin", "UTC"):
        world.memory.state_timezone(zone, group_id="g")
    world.send(said("Ana"))

    assert since(world, "Ana") == [BY_UTC]


def test_a_rebuild_and_a_fresh_graph_read_each_message_by_the_zone_at_its_position(world: World) -> None:
    world.send(said("Ana"))
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.send(said("Ben"))
    world.memory.state_timezone("Asia/Tokyo", group_id="g")
    digest = world.digest()

    rebuilt = world.memory.rebuild(name="again", input="episodes")
    world.memory.close()
    for graph in world.path.rglob("*.db"):
        graph.unlink()
    world.restart()

    assert rebuilt
    assert world.digest() == digest
    world.memory.switch("again")
    assert (since(world, "Ana"), since(world, "Ben")) == ([BY_UTC], [BY_BERLIN])


def test_a_retry_reads_a_message_by_the_zone_at_its_own_position(world: World) -> None:
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.send(Message(**said("Ana").model_dump() | {"previous_episode_ids": ["none"]}))
    world.memory.state_timezone("Asia/Tokyo", group_id="g")
    world.send(RetryRequest(group_id="g", position=1))

    assert world.memory._session.writer().engine.store.timezone("g", 1) == "Europe/Berlin"
    assert world.memory._session.writer().engine.store.timezone("g", 9) == "Asia/Tokyo"


def test_an_erased_group_begins_with_no_zone(world: World) -> None:
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.memory.erase("g")
    world.send(said("Ana"))

    assert since(world, "Ana") == [BY_UTC]
    world.memory.close()
    assert [path.name for path in world.path.iterdir() if path.is_file() and b"Berlin" in path.read_bytes()] == []


@pytest.mark.parametrize("zone", ["Europe/Berlim", "localtime", "../etc/passwd", "", "Europe/Berlin\n"])
def test_a_zone_that_nobody_knows_is_refused_with_its_field(world: World, zone: str) -> None:
    with pytest.raises(InvalidInput) as error:
        world.memory.state_timezone(zone, group_id="g")

    assert error.value.field == "timezone"
    assert not world.path.exists()


def test_a_zone_that_nobody_knows_is_parked_where_it_comes_over_a_topic(world: World) -> None:
    world.send(TimezoneStatement(group_id="g", timezone="Europe/Berlim"), said("Ana"))

    [parked] = world.memory.parked(group_id="g")
    assert parked.reason == "timezone: no time zone of this name is known here; did you mean Europe/Berlin?"
    assert since(world, "Ana") == [BY_UTC]


def test_a_model_is_told_the_speakers_time_and_its_dates_are_days_there() -> None:
    text = "I moved to Rome yesterday."
    turn = Turn("e", "Ana", "user", text, NIGHT, timezone="Europe/Berlin")
    model = LLMExtractor(load("default"), prompt("extract"), "model")
    times = {"valid_from": "2024-05-15", "valid_to": None, "time_words": "yesterday"}
    ends = {"subject": 0, "relation": "lives_in", "object": 1, "stance": "holds", "quote": text, "confidence": 1.0}
    answer = {
        "entities": [{"id": 1, "text": "Rome", "type": "Location"}],
        "facts": [{**ends, **times}],
        "attributes": [],
    }

    request = model.request(turn, ())
    [stated] = model.extract(turn, (), lambda _: {}, json.dumps(answer)).relationships

    assert "2024-05-16T00:30:00+02:00" in request.user
    assert render(stated.valid_from or 0) == BY_BERLIN


@pytest.fixture
def without_database() -> Iterator[None]:
    """Take away the machine's own database of zones, as a small image or Windows has none."""
    zoneinfo.reset_tzpath(to=())
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()
    zoneinfo.ZoneInfo.clear_cache()


@pytest.mark.usefixtures("without_database")
def test_where_the_machine_has_no_database_of_zones_the_packages_is_read(world: World) -> None:
    assert datetime(2024, 7, 1, tzinfo=UTC).astimezone(zone_of("Europe/Berlin")).hour == 2

    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.send(said("Ana"))

    assert since(world, "Ana") == [BY_BERLIN]


@pytest.mark.usefixtures("without_database")
def test_where_there_is_no_database_at_all_a_zone_is_refused_with_the_remedy_and_utc_is_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "tzdata"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "tzdata", None)

    with pytest.raises(InvalidInput, match="no database of time zones: install the package tzdata") as refused:
        world.memory.state_timezone("Europe/Berlin", group_id="g")

    assert refused.value.field == "timezone"
    assert zone_of("UTC") is UTC


def visited(world: World, group: str = "g") -> list[tuple[str | None, str | None]]:
    facts = [fact.to_json() for fact in world.memory.facts(group_id=group, relation="visited", any_time=True)]
    return [(fact["valid_at"], fact["invalid_at"]) for fact in facts]


def test_what_happened_by_a_structured_fact_is_dated_by_the_day_of_the_group_from_its_statement_on(
    world: World,
) -> None:
    visit = {"subject": "Ana", "relation": "visited", "valid_at": "2024-05-15T22:30:00Z"}
    world.memory.state_fact(group_id="g", object="Rome", **visit)
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    world.memory.state_fact(group_id="g", object="Oslo", **visit)
    world.memory.state_fact(group_id="g", object="Lima", **visit, grain="month")
    world.memory.state_fact(group_id="other", object="Oslo", **visit)
    by_utc, by_berlin = ("2024-05-15T00:00:00Z", "2024-05-16T00:00:00Z"), (BY_BERLIN_NEXT, "2024-05-16T22:00:00Z")

    assert visited(world) == [("2024-04-30T22:00:00Z", "2024-05-31T22:00:00Z"), by_utc, by_berlin]
    assert visited(world, "other") == [by_utc]

    digest = world.digest()
    world.memory.rebuild(name="again")
    world.memory.switch("again")
    assert visited(world) == [("2024-04-30T22:00:00Z", "2024-05-31T22:00:00Z"), by_utc, by_berlin]
    assert digest


def test_a_dry_run_dates_what_happened_as_an_import_would(world: World) -> None:
    world.memory.state_timezone("Europe/Berlin", group_id="g")
    visit = {"subject": "Ana", "relation": "visited", "object": "Oslo", "valid_at": "2024-05-15T22:30:00Z"}

    [told] = world.memory.what_if([visit], group_id="g").after
    world.memory.state_fact(group_id="g", **visit)

    assert [(told.to_json()["valid_at"], told.to_json()["invalid_at"])] == visited(world)


def test_the_second_time_that_a_wall_clock_shows_an_hour_is_written_as_the_first() -> None:
    second = datetime(2024, 10, 27, 1, 30, tzinfo=UTC)

    assert on_wall(second, zone_of("Europe/Berlin")) == datetime(2024, 10, 27, 2, 30, tzinfo=UTC)
    assert on_wall(second, zone_of("Europe/Berlin")).fold == 0
