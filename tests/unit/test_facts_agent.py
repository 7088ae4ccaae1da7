"""The facts agent by worked example: what statements make of each other, told through the public API."""

import json

import pytest

from asking import records
from asof_agents.handlers.facts import derive_semantic_events
from asof_agents.handlers.statement_writer import Build
from asof_ontologies.registry import load
from asof_streams.errors import DamagedLog
from world import World, on


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def owned(world, day):
    """What Ana owns, whatever she is called, as known on a day."""
    [portrait] = world.memory.entity("Ana", group_id="g", known_at=on(day))
    return sorted({f.object for f in portrait.facts if f.relation == "owns"})


def test_an_ending_of_every_value_also_ends_a_value_first_heard_of_later(world):
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2019")
    world.tell("2024-01-02", relation="rents", op="end", invalid_at="2023")
    world.tell("2024-01-03", relation="rents", object="Garage", valid_at="2020")

    assert world.where("2022", relation="rents") == ["Flat", "Garage"]
    assert world.where("2024", relation="rents") == []


def test_an_ending_of_every_value_ends_them_in_the_order_in_which_they_were_said(world):
    for place in "ABCDEFGH":
        world.tell("2024-01-01", relation="rents", object=place, valid_at="2019")
    said = [r.event.fact_id for r in records(world.memory) if r.event.type == "fact.asserted"]
    world.tell("2024-01-02", relation="rents", op="end", invalid_at="2023")

    assert [r.event.fact_id for r in records(world.memory) if r.event.type == "fact.invalidated"] == said


def test_a_ref_that_names_the_fact_of_another_subject_is_parked(world):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", ref="r", subject="Ben", object="Berlin", valid_at="2020")

    assert world.parked() == 1
    assert world.where("2021", about="Ben") == []


def test_a_ref_stated_again_with_another_end_is_parked_since_it_would_be_two_facts(world):
    world.tell("2024-01-01", ref="r", relation="rents", object="Flat", valid_at="2020")
    world.tell("2024-01-02", ref="r", relation="rents", object="Flat", valid_at="2020", invalid_at="2022")
    assert world.parked() == 1

    world.tell("2024-01-03", ref="r", relation="rents", object="Flat", op="correct", valid_at="2020", invalid_at="2022")
    assert (world.where("2021", relation="rents"), world.where("2023", relation="rents")) == (["Flat"], [])


def test_a_merge_that_was_retracted_by_mistake_is_made_again_with_the_retraction_of_that(world):
    world.tell("2024-01-01", relation="owns", object="Boat")
    world.tell("2024-01-01", relation="owns", subject="Annie", object="Car")
    world.tell("2024-01-02", relation="also_known_as", object="Annie", ref="same")
    world.tell("2024-01-03", op="retract", ref="same")
    mistake = next(r.event.retraction_id for r in records(world.memory) if r.event.type == "fact.retracted")
    world.tell("2024-01-04", op="retract", ref=mistake)
    again = [r.event.retraction_id for r in records(world.memory) if r.event.type == "fact.retracted"][-1]
    world.tell("2024-01-05", op="retract", ref=again)

    assert [owned(world, day) for day in ("2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05")] == [
        ["Boat"],
        ["Boat", "Car"],
        ["Boat"],
        ["Boat", "Car"],
        ["Boat"],
    ]


def say(world, *contents, role="Ana"):
    """Say each at noon of its own day, from the first of May 2023 on."""
    for day, content in enumerate(contents, 1):
        fields = {"group_id": "g", "role": role, "role_type": "user", "timestamp": f"2023-05-{day:02}T12:00:00Z"}
        assert world.memory.produce([json.dumps(fields | {"content": content})]).refused == ()


def stated(world, kind):
    return [r for r in records(world.memory) if r.event.type == kind]


def test_what_it_was_and_what_not_is_a_retraction_and_an_assertion_in_one_batch(world):
    say(world, "I have lived in Berlin since 2019.", "It was Munich, not Berlin.")

    old, new = stated(world, "fact.asserted")
    [wrong] = stated(world, "fact.retracted")
    assert (wrong.event.target, wrong.event.reason) == (old.event.fact_id, "corrected")
    assert new.event.corrects == old.event.fact_id
    assert (wrong.cause, wrong.size) == (new.cause, new.size)
    assert (new.event.valid_from, new.event.valid_to) == (old.event.valid_from, old.event.valid_to)
    assert world.where("2020") == ["Munich"]


def test_a_structured_correction_without_a_period_keeps_that_of_what_was_wrong(world):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2019", invalid_at="2022")
    world.tell("2024-01-02", ref="r", op="correct", object="Munich")

    assert [world.where(year) for year in ("2018", "2020", "2023")] == [[], ["Munich"], []]


def test_of_two_inverse_relations_facts_keep_the_one_named_first(world):
    say(world, "My mother Carla lives in Rome.", "My son Ben works at SAP.")

    family = {(f.subject, f.relation, f.object) for f in world.memory.facts(group_id="g", relation="parent_of")}
    assert family == {("Carla", "parent_of", "Ana"), ("Ana", "parent_of", "Ben")}
    assert world.memory.facts(group_id="g", relation="child_of") == []


def test_a_symmetric_relation_said_the_other_way_round_is_said_again(world):
    world.tell("2024-01-01", relation="friend_of", object="Ben", valid_at="2020")
    world.tell("2024-01-02", relation="friend_of", subject="Ben", object="Ana", valid_at="2021")

    assert len(stated(world, "fact.asserted")) == 1
    assert len(stated(world, "fact.reinforced")) == 1


@pytest.mark.parametrize("subject", ["Ana", "Ben"])
@pytest.mark.parametrize("op", ["end", "retract"])
def test_a_symmetric_relation_is_ended_or_retracted_either_way_round(world, subject, op):
    world.tell("2024-01-01", relation="friend_of", object="Ben", valid_at="2020")
    other = "Ben" if subject == "Ana" else "Ana"
    world.tell("2024-01-02", relation="friend_of", op=op, subject=subject, object=other)

    assert world.parked() == 0
    assert world.where("2024-06", relation="friend_of") == []


def test_what_is_no_longer_so_ends_when_it_was_said_unless_the_words_say_when(world):
    say(world, "I work at Acme.", "I left Acme last month.")

    [ended] = stated(world, "fact.ended")
    assert ended.event.at == on("2023-04-01")


def test_a_plan_holds_from_then_on_and_not_before(world):
    say(world, "I will move to Oslo in July.")

    assert [world.where(day) for day in ("2023-06-01", "2023-08-01")] == [[], ["Oslo"]]


def test_names_that_structured_facts_do_not_know_are_not_made_by_endings_and_retractions(world):
    world.tell("2024-01-01", object="Berlin")
    world.tell("2024-01-02", op="end", subject="Nobody")
    world.tell("2024-01-03", op="retract", object="Nowhere")

    assert world.parked() == 2
    assert sorted(e.name for e in world.memory.entities(all_groups=True)) == ["Ana", "Berlin"]


def test_a_fact_said_again_after_a_stay_elsewhere_outlives_that_stay(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", said_at="2016")
    world.tell("2024-01-02", object="Paris", valid_at="2019", invalid_at="2020")
    assert world.where("2021") == []

    world.tell("2024-01-03", object="Berlin", valid_at="2015", said_at="2022")

    assert len(stated(world, "fact.reinforced")) == 1
    assert [world.where(year) for year in ("2018", "2019-06", "2021")] == [["Berlin"], ["Paris"], ["Berlin"]]
    assert world.where("2021", "2024-01-02") == []


def test_a_message_leads_to_facts_accepted_and_to_facts_invalidated_with_the_reason(world):
    say(world, "I live in Rome.", "Hm.", "I live in Oslo and work at Acme.", "I never lived in Oslo.")

    def of(day):
        batch = [r.event for r in records(world.memory) if r.cause == day - 1]
        accepted = [e.relation for e in batch if e.type == "fact.asserted"]
        return sorted(accepted), [(e.kind, e.holds != ()) for e in batch if e.type == "fact.invalidated"]

    assert of(1) == (["lives_in"], [])
    assert of(2) == ([], [])
    assert of(3) == (["lives_in", "works_at"], [("superseded", True)])
    assert of(4) == ([], [("corrected", False)])


def test_each_mention_of_an_episode_is_linked_to_the_entity_that_it_means(world):
    say(world, "I live in Berlin. My sister Eva works at SAP.")

    [episode] = [r.event for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    mentioned = {
        r.event.mention_id: r.event.text
        for r in records(world.memory, "episodic")
        if r.event.type == "mention.observed"
    }
    links = [r.event for r in stated(world, "mention.resolved")]
    names = {entity.uuid: entity.name for entity in world.memory.entities(group_id="g")}
    assert {link.episode_id for link in links} == {episode.episode_id}
    assert len(links) == len(mentioned)
    assert {(mentioned[link.mention_id], names[link.entity_id]) for link in links} == {
        ("I", "Ana"),
        ("Berlin", "Berlin"),
        ("Eva", "Eva"),
        ("SAP", "SAP"),
    }


class Damaged:
    """What is known, where nothing of it can be read."""

    def __getattr__(self, name):
        def fail(*_, **__):
            raise DamagedLog("graph.db is damaged")

        return fail


@pytest.mark.parametrize("content", [None, "I live in Berlin."])
def test_what_cannot_be_read_stops_whoever_takes_a_message_and_parks_none(world, content):
    if content is None:
        world.tell(object="Berlin")
    else:
        world.memory.add(content, group_id="g", role="Ana")
    batch = [record for record in records(world.memory, "episodic") if record.cause == 0]

    with pytest.raises(DamagedLog):
        derive_semantic_events(batch, Build("build", load("default"), "recency"), Damaged())


def test_why_a_statement_is_parked_is_said_by_the_ref_alone(world):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", ref="r", subject="Ben", object="Berlin", valid_at="2020")

    [parked] = world.memory.stats()["parked_messages"]
    assert parked["reason"].startswith("ref: ")
    assert "Ben" not in parked["reason"]
