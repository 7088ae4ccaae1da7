"""Ids that producers give: none stops a memory, and none reaches into another group or tells of it."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime.recovery import process_backlog
from asof_projections.generations import load
from asof_streams.ids import derive, episode_id
from asof_streams.messages import EntityStatement, FactStatement, IdentityStatement, Message, WithdrawalRequest
from http_server import Server, serving
from world import World, on

HISTORY = Path(__file__).resolve().parents[1] / "history"
ANA, EVE = "ana", "eve"


def next_entity(data: Path, group: str, position: int, type_: str, name: str) -> str:
    """Return the id that a group's next new entity will get: anyone can work it out."""
    catalog = load(data)
    assert catalog is not None
    return derive("entity", catalog[catalog.active].build, episode_id(group, position), type_, name)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    opened = World(tmp_path / "data")
    yield opened
    opened.memory.close()


def lives(world: World, group: str) -> list[tuple[str, str, str]]:
    """Return who lives where, by what is believed in a group."""
    world.now = on("2025-01-01")
    return [(f.subject, f.relation, f.object) for f in world.memory.facts(group_id=group, relation="lives_in")]


def says(content: str, group: str = ANA, **more: Any) -> Message:
    return Message(group_id=group, role="Ana", role_type="user", content=content, **more)


def reasons(world: World, group: str) -> list[str]:
    """Return why messages of a group were parked."""
    return [parked.reason for parked in world.memory.parked(group_id=group)]


# Entities.


@pytest.mark.parametrize("raw", [False, True], ids=["at the door", "on the log"])
def test_the_id_of_another_groups_next_entity_can_be_stated_and_changes_nothing_there(world: World, raw: bool) -> None:
    world.send(says("I live in Lisbon."), day="2024-01-01")
    taken = next_entity(world.path, ANA, 2, "Location", "Berlin")
    if raw:  # as a client of Kafka may, and as an older version did
        world.send(EntityStatement(group_id=EVE, entity_id=taken, name="Eve"))
    else:
        world.memory.state_entity(taken, "Eve", group_id=EVE)
    world.send(says("I moved to Berlin."), day="2024-02-01")
    world.restart()

    assert lives(world, ANA) == [("Ana", "lives_in", "Berlin")]
    assert [(e.uuid, e.name) for e in world.memory.entities(group_id=EVE)] == [(taken, "Eve")]
    assert world.memory.facts(about=taken, group_id=EVE, any_time=True) == []
    assert [check.found for check in world.memory.verify() if not check.ok] == []


def test_the_id_of_the_own_groups_next_entity_can_be_stated_and_is_another_entity(world: World) -> None:
    world.send(says("I live in Lisbon."), day="2024-01-01")
    world.memory.state_entity(next_entity(world.path, ANA, 2, "Location", "Berlin"), "Eve", group_id=ANA)
    world.send(says("I moved to Berlin."), day="2024-02-01")

    assert lives(world, ANA) == [("Ana", "lives_in", "Berlin")]
    assert world.memory.entity("Eve", group_id=ANA)[0].facts == ()


@pytest.mark.parametrize("raw", [False, True], ids=["at the door", "on the log"])
def test_two_groups_may_give_one_id_and_each_has_an_entity_under_it(world: World, raw: bool) -> None:
    for group, name in ((ANA, "Annie"), (EVE, "Evi")):
        stated = {"group_id": group, "entity_id": "user-1", "name": name}
        world.send(EntityStatement(**stated)) if raw else world.memory.state_entity("user-1", name, group_id=group)
        world.tell(group_id=group, subject=name, object="Rome" if group == ANA else "Oslo")
    world.memory.state_entity("user-1", "Anna", summary="a cook", group_id=ANA)
    world.restart()
    world.now = on("2025-01-01")

    for group, names, where in ((ANA, ("Annie", "Anna"), "Rome"), (EVE, ("Evi",), "Oslo")):
        [entity] = world.memory.entity("user-1", group_id=group)
        assert (entity.uuid, entity.names) == ("user-1", names)
        for found in (world.memory.facts(about="user-1", group_id=group), entity.facts):
            assert [(f.subject_uuid, f.object) for f in found] == [("user-1", where)]
        assert [(s.subject_uuid, s.object) for s in world.memory.timeline("user-1", group_id=group)] == [
            ("user-1", where)
        ]
        assert [f.object for hop in world.memory.neighbourhood("user-1", group_id=group) for f in hop.facts] == [where]
        assert [v.object for v in world.memory.history("user-1", group_id=group)] == [where]
    assert world.memory.facts(about="user-1", group_id="nobody") == []


def test_an_id_of_another_group_is_as_unknown_as_any_other(world: World) -> None:
    world.memory.state_entity("eve-1", "Eve", group_id=EVE)
    world.tell(group_id=EVE, subject="Eve", object="Oslo", ref="fact-1")
    world.tell(group_id=EVE, subject="Evi", object="Rome")
    world.send(
        IdentityStatement(group_id=EVE, op="merge", entity="Evi", into="Eve"), says("I live in Bonn.", EVE), says("Hi.")
    )
    [fact] = world.memory.facts(about="Eve", object="Oslo", group_id=EVE, any_time=True)
    [link] = world.memory.entity("Eve", group_id=EVE)[0].duplicate_of
    episode = world.memory.episodes(group_id=EVE)[-1].uuid

    for id_ in ("eve-1", fact.subject_uuid, "nothing"):
        world.send(IdentityStatement(group_id=ANA, op="alias", entity=id_, name="Me"))
    for id_ in ("fact-1", fact.uuid, link.uuid, "nothing"):
        world.send(FactStatement(group_id=ANA, op="retract", ref=id_))
    for id_ in (link.uuid, "nothing"):
        world.send(IdentityStatement(group_id=ANA, op="split", merge_id=id_))
    for id_ in (episode, "nothing"):
        world.send(
            says("Again.", uuid=id_),
            says("Later.", previous_episode_ids=[id_]),
            WithdrawalRequest(group_id=ANA, episode_id=id_),
        )

    found = reasons(world, ANA)
    for first, count in ((0, 3), (3, 4), (7, 2)):
        assert len(set(found[first : first + count])) == 1
    assert found[9:12] == found[12:15]
    assert len(found) == 15
    assert [f.object for f in world.memory.facts(about="Eve", group_id=EVE, any_time=True)] == ["Oslo", "Rome"]
    assert episode in [e.uuid for e in world.memory.episodes(group_id=EVE)]


def test_an_own_id_can_be_stated_in_the_scope_of_another_group_and_stays_in_its_own(world: World) -> None:
    world.send(EntityStatement(group_id=EVE, entity_id="ana\x1fuser-1", name="Eve"))
    world.memory.state_entity("user-1", "Ana", group_id=ANA)

    assert [e.name for e in world.memory.entity("user-1", group_id=ANA)] == ["Ana"]
    assert [e.name for e in world.memory.entities(group_id=EVE)] == ["Eve"]


def test_two_groups_may_give_one_ref_and_each_has_a_fact_under_it(world: World) -> None:
    world.tell(group_id=ANA, subject="Ana", object="Rome", ref="r")
    world.tell(group_id=EVE, subject="Eve", object="Oslo", ref="r")
    world.send(FactStatement(group_id=EVE, op="retract", ref="r"))

    assert lives(world, ANA) == [("Ana", "lives_in", "Rome")]
    assert lives(world, EVE) == []


def test_a_ref_may_be_the_id_of_another_groups_fact_and_means_its_own(world: World) -> None:
    world.tell(group_id=ANA, subject="Ana", object="Rome")
    [fact] = world.memory.facts(group_id=ANA)
    world.tell(group_id=EVE, subject="Eve", object="Oslo", ref=fact.uuid)
    world.send(FactStatement(group_id=EVE, op="retract", ref=fact.uuid))
    world.restart()

    assert lives(world, ANA) == [("Ana", "lives_in", "Rome")]
    assert lives(world, EVE) == []


def test_an_export_of_all_groups_has_a_node_for_each_of_two_equal_ids(world: World) -> None:
    for group in (ANA, EVE):
        world.memory.state_entity("user-1", group.title(), group_id=group)

    nodes = {node["id"]: node["name"] for node in exported(world, all_groups=True)["nodes"]}

    assert nodes == {"ana/user-1": "Ana", "eve/user-1": "Eve"}
    assert [node["id"] for node in exported(world, group_id=ANA)["nodes"]] == ["user-1"]


def exported(world: World, **asked: Any) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads("".join(world.memory.export(**asked)))
    return found


# What an older version left behind.


def test_a_directory_that_a_taken_id_had_stopped_opens_and_has_all_that_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with tarfile.open(HISTORY / "stolen_id.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    data = tmp_path / "stolen_id"

    with asof.open(data, embedder="none") as memory:
        assert [f.object for f in memory.facts(group_id=ANA, any_time=True)] == ["Lisbon", "Berlin"]
        [berlin] = memory.entity("Berlin", group_id=ANA)
        [eve] = memory.entities(group_id="mallory")
        assert eve.name == "Mallory"
        assert berlin.uuid == eve.uuid  # each in its own group
        assert [f.object for f in memory.facts(about=berlin.uuid, group_id=ANA, any_time=True)] == []
        assert memory.facts(about=eve.uuid, group_id="mallory", any_time=True) == []
        assert memory.facts(object=berlin.uuid, group_id=ANA, any_time=True)[0].object == "Berlin"
        memory.add("I live in Bonn.", role="Ana", group_id=ANA)
        assert [f.object for f in memory.facts(group_id=ANA)] == ["Bonn"]
        assert [check.found for check in memory.verify() if not check.ok] == []
    assert {record.getMessage() for record in caplog.records} == {
        "position 17 introduces an entity under an id that is taken"
    }


# Over HTTP.


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "data", ASOF_EMBEDDER="none") as running:
        yield running


def node(server: Server, group: str, uuid: str, name: str) -> dict[str, object]:
    answer = server.client.post("/entity-node", json={"uuid": uuid, "group_id": group, "name": name})
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return {key: value for key, value in found.items() if key != "created_at"}


def test_the_service_goes_on_after_the_id_of_another_groups_next_entity_was_stated(server: Server) -> None:
    server.say(ANA, "I live in Lisbon.")
    taken = next_entity(server.data, ANA, 2, "Location", "Berlin")

    assert node(server, EVE, taken, "Eve")["uuid"] == taken
    server.say(ANA, "I moved to Berlin.")

    found = server.client.get("/v1/facts", params={"group_id": ANA}).json()["facts"]
    assert [fact["object"] for fact in found] == ["Berlin"]
    assert server.client.get("/v1/facts", params={"group_id": EVE, "about": taken}).json()["facts"] == []


def test_an_entity_node_is_answered_alike_whether_or_not_another_group_has_the_id(server: Server) -> None:
    server.say(ANA, "I live in Lisbon.")
    [fact] = server.client.get("/v1/facts", params={"group_id": ANA}).json()["facts"]
    node(server, ANA, "theirs", "Ana")

    answers = [node(server, EVE, uuid, "Eve") for uuid in ("theirs", fact["subject_uuid"], fact["uuid"], "nobodys")]

    assert [answer.pop("uuid") for answer in answers] == ["theirs", fact["subject_uuid"], fact["uuid"], "nobodys"]
    assert all(answer == answers[0] for answer in answers)
    [ana] = server.client.get("/v1/entity", params={"group_id": ANA, "name": "theirs"}).json()["entities"]
    assert (ana["uuid"], ana["name"]) == ("theirs", "Ana")


def test_an_id_may_be_of_a_thousand_characters_and_no_more(server: Server) -> None:
    node(server, "g" * 128, "i" * 1_000, "Ana")

    refused = server.client.post("/entity-node", json={"uuid": "i" * 1_001, "group_id": "g", "name": "Ana"})

    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "uuid"]


def test_a_crash_before_the_stores_committed_changes_nothing_of_that(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.memory.state_entity("user-1", "Ana", group_id=ANA)
    world.send(EntityStatement(group_id=EVE, entity_id="user-1", name="Eve"))
    world.restart()
    for store in (tmp_path / "data").rglob("*.db"):
        store.unlink()  # they are made from the logs again

    process_backlog(world.memory._session.places, world.settings)
    world.restart()

    assert [e.name for e in world.memory.entity("user-1", group_id=EVE)] == ["Eve"]
    assert [e.name for e in world.memory.entity("user-1", group_id=ANA)] == ["Ana"]
    world.memory.close()
