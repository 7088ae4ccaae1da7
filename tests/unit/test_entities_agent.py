"""Entities that producers state under ids of their own."""

import pytest

from asof_streams.messages import EntityStatement
from world import World


@pytest.fixture
def world(tmp_path):
    opened = World(tmp_path / "data")
    yield opened
    opened.memory.close()


def test_an_entity_stated_under_a_known_name_is_linked_with_the_one_that_has_it(world):
    world.tell("2024-01-02", subject="Ana", object="Rome")
    world.now += 1
    world.memory.state_entity("ana-1", "Ana", group_id="g")

    assert [f.object for f in world.memory.facts(about="ana-1", group_id="g", any_time=True)] == ["Rome"]
    [profile] = world.memory.entity("ana-1", group_id="g")
    assert [(link.duplicate, link.reason) for link in profile.duplicate_of] == [("ana-1", "same name")]

    world.memory.split("ana-1", "Ana", group_id="g")
    assert world.memory.facts(about="ana-1", group_id="g", any_time=True) == []


def test_an_entity_stated_under_a_name_that_two_have_is_linked_with_neither(world):
    for type_ in ("Person", "Place"):
        world.tell("2024-01-02", subject="Jo", subject_type=type_, relation="likes", object="Tea")
    world.memory.state_entity("jo-1", "Jo", group_id="g")

    assert world.memory.facts(about="jo-1", group_id="g", any_time=True) == []


def test_an_id_of_an_older_version_is_linked_with_nothing(world):
    world.tell("2024-01-02", subject="Ana", object="Rome")
    world.send(EntityStatement(group_id="g", entity_id="ana-1", name="Ana"))

    assert world.memory.facts(about="ana-1", group_id="g", any_time=True) == []


def test_an_entity_stated_again_has_its_first_name_the_new_one_and_the_last_summary(world):
    for name, summary in (("Ana", "A cook."), ("Annie", "A baker."), ("Annie", "")):
        world.now += 1
        world.memory.state_entity("ana-1", name, summary=summary, group_id="g")

    [profile] = world.memory.entity("ana-1", group_id="g")
    assert (profile.uuid, profile.names) == ("ana-1", ("Ana", "Annie"))
    [summary] = profile.attributes
    assert (summary.name, summary.value, summary.confidence) == ("summary", "A baker.", 1.0)
    [before] = world.memory.entity("ana-1", group_id="g", known_at=world.now - 2)
    assert [summary.value for summary in before.attributes] == ["A cook."]
