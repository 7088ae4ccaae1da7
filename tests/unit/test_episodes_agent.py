"""The episodes agent: what a message becomes (docs/conformance.md, episode 9 to 12), through the public API."""

import json

import pytest

from asking import records
from asof_agents.extraction.registry import Ontologies
from asof_agents.handlers.episodes import record
from asof_ontologies.registry import load
from asof_streams import events
from asof_streams.episodic import ConsolidationRecorded, MessageParked
from asof_streams.errors import DecodeError
from asof_streams.events import upcaster
from asof_streams.instants import render
from asof_streams.messages import ConsolidationRequest, FactStatement, RecordRefused
from histories import History
from world import World, on


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def exported(world, **of):
    return json.loads(
        "".join(world.memory.export(episodic=True, **(of if "group_id" in of else {"all_groups": True, **of})))
    )


def recorded(world):
    return [r for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]


@pytest.mark.parametrize(
    ("role", "role_type", "body"),
    [
        ("Ana", "user", "Ana(user): Hello."),
        ("", "assistant", "(assistant): Hello."),
        ("x", "system", "x(system): Hello."),
    ],
)
def test_the_body_of_a_message_names_who_speaks(world, role, role_type, body):
    world.memory.add("Hello.", role=role, role_type=role_type, group_id="g")

    [episode] = recorded(world)
    assert (episode.event.body, episode.event.content, episode.event.source) == (body, "Hello.", "message")
    assert (episode.event.role, episode.event.role_type) == (role, role_type)


@pytest.mark.parametrize("source", ["text", "json"])
def test_the_body_of_a_document_is_its_content(world, source):
    world.memory.add('{"a": 1}', source=source, group_id="g")

    [episode] = recorded(world)
    assert (episode.event.body, episode.event.source) == ('{"a": 1}', source)


def test_an_episode_was_said_at_its_timestamp_and_recorded_when_it_came(world):
    world.memory.add("Hello.", group_id="g", timestamp="2023-05-01T10:00:00Z")
    world.memory.add("And again.", group_id="g")

    stamped, other = exported(world)["episodes"]
    assert (stamped["validAt"], stamped["createdAt"]) == ("2023-05-01T10:00:00Z", render(world.now))
    assert other["validAt"] == other["createdAt"]


def test_an_export_of_episodes_takes_what_was_said_and_what_was_recorded_by_a_moment(world):
    world.memory.add("Hello.", group_id="g", timestamp="2023-05-01T10:00:00Z")
    world.now = on("2024-02-01")
    world.memory.add("And again.", group_id="g", timestamp="2022-05-01T10:00:00Z")

    def contents(**at):
        return [episode["content"] for episode in exported(world, **at)["episodes"]]

    assert contents() == ["Hello.", "And again."]
    assert contents(valid_at="2023") == ["And again."]
    assert contents(known_at="2024-01-31") == ["Hello."]
    assert contents(valid_at="2023", known_at="2024-01-31") == []


def test_an_episode_belongs_to_the_group_of_its_message(world):
    world.memory.add("Hello.", group_id="one")
    world.memory.add("Good bye.", group_id="two")

    assert [r.group for r in recorded(world)] == ["one", "two"]
    assert len(exported(world, group_id="one")["episodes"]) == 1


def test_a_uuid_of_an_episode_that_exists_makes_no_other(world):
    first = world.memory.add("Ana lives in Berlin.", group_id="g")
    before = world.digest()

    again = world.memory.add("Ana lives in Munich.", group_id="g", uuid=first.episode_id)

    assert again.position == first.position + 1
    assert (len(recorded(world)), world.digest(), world.parked()) == (1, before, 0)


@pytest.mark.parametrize("group", ["g", "other"])
def test_a_uuid_of_no_episode_of_the_group_is_parked_with_the_reason(world, group):
    known = world.memory.add("Hello.", group_id="g").episode_id

    world.memory.add("Hello.", group_id=group, uuid="nobody" if group == "g" else known)

    [parked] = [r.event for r in records(world.memory, "episodic") if r.event.type == "message.parked"]
    assert "uuid" in parked.reason
    assert (len(recorded(world)), world.parked()) == (1, 1)


def test_a_structured_fact_keeps_all_it_said_so_that_the_episodic_log_is_enough(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020", said_at="2021", ref="r", confidence=0.5)

    [episode] = recorded(world)
    assert (episode.event.source, episode.event.name, episode.event.valid_at) == ("fact", "r", on("2021"))
    assert json.loads(episode.event.body)["confidence"] == 0.5


NOW, NEXT = FactStatement.version, FactStatement.version + 1


@pytest.fixture
def next_version(monkeypatch):
    """Yield what makes fact.stated one of a next version, in which the sentence of an older one has to be made."""

    def begin():
        monkeypatch.setattr(events, "_UPCASTERS", dict(events._UPCASTERS))
        upcaster(FactStatement.type, NOW)(lambda state: {"fact": f"From version {NOW}: {state['object']}.", **state})
        monkeypatch.setattr(FactStatement, "version", NEXT)
        monkeypatch.setattr(FactStatement, "since", NEXT)

    yield begin
    events.event_class.cache_clear()  # it remembers that there is a next version


def test_a_structured_fact_is_read_in_the_version_in_which_it_was_recorded(world, next_version):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    next_version()
    world.tell("2024-01-02", object="Rome", valid_at="2022")

    world.memory.rebuild("anew")
    world.memory.switch("anew")

    sentences = [fact.fact for fact in world.memory.facts(group_id="g", any_time=True)]
    assert sentences == [f"From version {NOW}: Berlin.", "Ana lives in Rome"]


def test_an_episode_says_in_which_version_its_fact_is_stated(world, next_version):
    world.tell("2024-01-01", object="Berlin")
    next_version()
    world.tell("2024-01-02", object="Rome")

    first, second = (json.loads(r.event.encode()) for r in recorded(world))
    assert (first.get("statement_version"), second.get("statement_version")) == (NOW, NEXT)


def test_a_structured_fact_of_a_newer_version_stops_the_reader(world):
    world.tell("2024-01-01", object="Berlin")
    [episode] = recorded(world)

    newer = episode.event.model_copy(update={"statement_version": NEXT})

    with pytest.raises(DecodeError, match=rf"fact\.stated version {NEXT} is newer than {NOW}: upgrade asof"):
        _ = newer.statement


def test_the_content_of_an_episode_is_not_shown_by_its_repr(world):
    world.memory.add("My password is canary.", role="canary", group_id="g")

    assert "canary" not in repr(recorded(world))


@pytest.mark.parametrize(
    ("message", "event"),
    [
        (ConsolidationRequest(group_id="g", undo=True), ConsolidationRecorded(undo=True)),
        (ConsolidationRequest(group_id="g"), ConsolidationRecorded(undo=False)),
        (RecordRefused(group_id="g", reason="it is no JSON"), MessageParked(reason="it is no JSON")),
    ],
)
def test_requests_and_refused_records_become_events_that_say_what_was_asked_or_why(tmp_path, message, event):
    history = History(tmp_path)
    [position] = history.messages.accept([message], clock=on("2024-01-01"))
    [given] = history.messages.read(position)

    assert record(given, history.episodes, Ontologies(load("default"))) == (event,)
    with pytest.raises(DecodeError, match=r"message\.parked is not a message"):
        record(given._replace(event=MessageParked(reason="")), history.episodes, Ontologies(load("default")))
    history.close()
