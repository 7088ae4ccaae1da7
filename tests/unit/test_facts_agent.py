"""The facts agent by worked example: what statements make of each other, told through the public API."""

import json

import pytest

from asking import records
from asof_agents.extraction.registry import Ontologies
from asof_agents.handlers.facts import derive_semantic_events
from asof_agents.handlers.statement_writer import Build
from asof_ontologies import registry
from asof_ontologies.registry import load
from asof_streams.errors import DamagedLog, InvalidInput
from asof_streams.ids import derive, episode_id
from asof_streams.messages import IdentityStatement
from asof_streams.semantic import FactAsserted, FactEnded
from histories import History
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


def reasons(world):
    return [each["reason"] for each in world.memory.stats()["parked_messages"]]


NO_SUCH_FACT = "ref: no fact of this group has it"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"op": "correct", "ref": "unheard"}, NO_SUCH_FACT),
        ({"op": "end", "ref": "unheard"}, NO_SUCH_FACT),
        ({"op": "retract", "ref": "unheard", "subject": None}, f"{NO_SUCH_FACT}, nor any merge that is believed"),
        ({"op": "correct", "relation": "rents"}, "ref: a relation with many values needs it"),
        ({"op": "retract", "object": "Ana"}, "no such fact is held: nothing to retract"),
        ({"op": "end", "object": "Nowhere"}, "subject or object: no entity of this group has that name"),
        (
            {"invalid_at": "2024-01-02"},
            "invalid_at: it must be after valid_at (or, without one, after the time it was said)",
        ),
        ({"relation": "visited", "invalid_at": "2024-01-02"}, "invalid_at: it must be after valid_at"),
    ],
)
def test_a_structured_fact_that_cannot_stand_is_parked_with_the_reason(world, line, reason):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    before = [str(fact) for fact in world.memory.facts(group_id="g", any_time=True)]
    world.tell("2024-01-02", **{"object": "Berlin", **line})

    [said] = reasons(world)
    assert said.startswith(reason)
    assert [str(fact) for fact in world.memory.facts(group_id="g", any_time=True)] == before


@pytest.mark.parametrize("op", ["correct", "end"])
def test_only_facts_are_corrected_or_ended_by_a_ref_and_no_retraction(world, op):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", op="retract", ref="r")
    [retraction] = stated(world, "fact.retracted")

    world.tell("2024-01-03", op=op, ref=retraction.event.retraction_id, object="Berlin")

    assert reasons(world) == [NO_SUCH_FACT]


@pytest.mark.parametrize(("object_", "literal"), [("Flat", False), (7, True)])
def test_an_end_by_a_ref_ends_that_fact_and_no_other_of_its_value(world, object_, literal):
    world.tell("2024-01-01", ref="first", relation="rents", object=object_, valid_at="2019", invalid_at="2020")
    world.tell("2024-01-01", ref="second", relation="rents", object=object_, valid_at="2019")
    world.tell("2024-01-02", ref="second", op="end", invalid_at="2019-06-01", object=None)

    [ended] = stated(world, "fact.ended")
    first, second = (record.event for record in stated(world, "fact.asserted"))
    assert (ended.event.fact_id, ended.event.value is not None) == (second.fact_id, literal)
    assert (first.object, first.value) == (ended.event.object, ended.event.value)
    assert world.where("2019-07-01", relation="rents") == [str(object_)]
    assert world.where("2021", relation="rents") == []


def test_what_happened_cannot_end_and_the_ref_is_what_is_wrong(world):
    world.tell("2024-01-01", ref="r", relation="visited", object="Rome", valid_at="2020")
    world.tell("2024-01-02", ref="r", op="end", object=None)

    assert reasons(world) == ["ref: it names what happened, which cannot end: use op retract or correct"]


@pytest.mark.parametrize(
    ("again", "facts", "parked"),
    [
        ({}, 1, []),
        ({"valid_at": "2020-05-01", "grain": "month"}, 1, []),
        ({"object": "Oslo"}, 1, ["ref"]),
        ({"valid_at": "2021"}, 1, ["ref"]),
    ],
)
def test_a_ref_of_what_happened_may_be_told_again_within_its_granule_and_of_nothing_else(world, again, facts, parked):
    told = {"ref": "r", "relation": "visited", "object": "Rome", "valid_at": "2020", "grain": "year"}
    world.tell("2024-01-01", **told)
    world.tell("2024-01-02", **told | again)

    assert len(stated(world, "fact.asserted")) == facts
    assert [reason.split(":")[0] for reason in reasons(world)] == parked


def test_a_ref_of_what_was_planned_is_told_again_when_it_is_done(world):
    told = {"ref": "r", "relation": "visited", "object": "Rome", "valid_at": "2025", "grain": "year"}
    world.tell("2024-01-01", **told)
    world.tell("2024-01-02", **told)
    assert [fact.planned for fact in world.memory.facts(group_id="g", any_time=True)] == [True]
    world.tell("2026-01-01", **told)

    assert [fact.planned for fact in world.memory.facts(group_id="g", any_time=True)] == [False]
    assert (len(stated(world, "fact.reinforced")), world.parked()) == (2, 0)


def test_what_is_planned_stays_so_while_it_is_told_as_that(world):
    for day in ("2024-01-01", "2024-01-02"):
        world.tell(day, relation="founded", object="Acme", valid_at="2025")
    assert [fact.planned for fact in world.memory.facts(group_id="g", any_time=True)] == [True]

    world.tell("2026-01-01", relation="founded", object="Acme", valid_at="2025")
    assert [fact.planned for fact in world.memory.facts(group_id="g", any_time=True)] == [False]


@pytest.mark.parametrize(
    ("period", "corrected"),
    [
        ({}, ["Oslo"]),  # what held when it was said
        ({"valid_at": "2020"}, ["Berlin", "Oslo"]),
        ({"valid_at": "2020", "invalid_at": "2021"}, ["Berlin"]),
        ({"valid_at": "2021"}, ["Oslo"]),
        ({"valid_at": "2019", "invalid_at": "2020"}, []),
        ({"valid_at": "2020-06-01", "invalid_at": "2021-06-01"}, ["Berlin", "Oslo"]),
    ],
)
def test_a_correction_without_a_ref_is_of_what_is_believed_over_its_period(world, period, corrected):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.tell("2024-01-01", object="Oslo", valid_at="2021")
    world.tell("2024-01-02", op="correct", object="Rome", **period)

    names = {record.event.fact_id: record.event.sentence.split()[-1] for record in stated(world, "fact.asserted")}
    assert [names[record.event.target] for record in stated(world, "fact.retracted")] == corrected
    rome = stated(world, "fact.asserted")[-1].event
    assert names.get(rome.corrects) == (corrected or [None])[0]


def test_a_merge_that_was_undone_or_is_of_another_group_is_none_to_retract(world):
    for group in ("g", "h"):
        for name in ("Ana", "Annie"):
            world.tell("2024-01-01", group_id=group, subject=name, relation="owns", object="Boat")
        same = {"group_id": group, "entity": "Annie", "into": "Ana", "op": "merge"}
        world.send(IdentityStatement.model_validate(same), day="2024-01-02")
    first, second = (record.event.merge_id for record in stated(world, "entity.merged"))

    world.tell("2024-01-03", op="retract", ref=second, subject=None, relation=None)
    world.tell("2024-01-03", op="retract", ref=first, subject=None, relation=None)
    world.tell("2024-01-04", op="retract", ref=first, subject=None, relation=None)

    assert reasons(world) == [f"{NO_SUCH_FACT}, nor any merge that is believed"] * 2
    assert [record.event.merge_id for record in stated(world, "entity.unmerged")] == [first]


def test_without_the_graded_policy_the_newer_statement_wins_however_unsure_it_is(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", confidence=0.9)
    world.tell("2024-01-02", object="Oslo", valid_at="2020-06-01", confidence=0.1)

    assert [world.where(day) for day in ("2020-03-01", "2020-07-01")] == [["Berlin"], ["Oslo"]]
    assert stated(world, "fact.retracted") == []


def test_another_name_makes_one_of_two_also_where_the_ontology_knows_no_other_names(tmp_path):
    file = tmp_path / "ours.yaml"
    text = (registry._DATA / "agent_memory_v1.yaml").read_text("utf-8")
    file.write_text(text.replace("also_known_as", "goes_by"), "utf-8")
    world = World(tmp_path / "data", ontology=str(file))
    world.tell("2024-01-01", relation="owns", subject="Annie", object="Car")
    world.tell("2024-01-02", relation="also_known_as", object="Annie")

    assert owned(world, "2024-01-03") == ["Car"]
    world.memory.close()


@pytest.mark.parametrize(
    ("again", "facts"),
    [
        ({"valid_at": "2020", "invalid_at": "2022"}, 1),  # the same period
        ({"valid_at": "2021"}, 1),  # within it
        ({"valid_at": "2020", "invalid_at": "2021"}, 2),  # another end
        ({"valid_at": "2022"}, 2),  # from its end on
        ({"valid_at": "2023"}, 2),
        ({"valid_at": "2019"}, 2),
    ],
)
def test_a_fact_is_said_again_by_a_start_within_its_period_and_an_end_that_is_its_own_or_open(world, again, facts):
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2020", invalid_at="2022")
    world.tell("2024-01-02", relation="rents", object="Flat", **again)

    assert (len(stated(world, "fact.asserted")), len(stated(world, "fact.reinforced"))) == (facts, 2 - facts)


def test_of_several_facts_of_one_granule_the_earliest_is_told_again(world):
    told = {"relation": "visited", "valid_at": "2020", "grain": "year"}
    places = [f"P{number}" for number in range(6)]
    for place in places:
        for ref in ("first", "second"):
            world.tell("2024-01-01", ref=f"{place} {ref}", object=place, **told)
        world.tell("2024-01-02", object=place, **told)

    firsts = [r.event.fact_id for r in stated(world, "fact.asserted")[::2]]
    assert [r.event.fact_id for r in stated(world, "fact.reinforced")] == firsts


def test_an_ending_names_the_words_that_say_it(world):
    say(world, "I work at Acme.", "I left Acme last month.")

    [ended] = stated(world, "fact.ended")
    said = [r.event for r in records(world.memory, "episodic") if r.event.type == "relationship.stated"]
    assert [each.stance for each in said if each.relationship_id == ended.event.relationship_id] == ["ended"]


def test_a_value_that_is_said_is_a_literal_and_no_entity_and_nothing_relates_to_itself(tmp_path):
    history = History(tmp_path)
    for day, content in enumerate(("Ana -has_age-> 42", "Ana -knows-> Ben", "Ana -knows-> Ana"), 1):
        history.say(f"2024-01-0{day}", content)
    facts = [r.event for r in history.semantic.read() if isinstance(r.event, FactAsserted)]
    history.close()

    assert [(fact.relation, fact.value, fact.object is None) for fact in facts] == [
        ("has_age", "42", True),
        ("knows", None, False),
    ]


@pytest.mark.parametrize(("relation", "parted"), [("also_known_as", 1), ("knows", 0)])
def test_what_is_retracted_parts_two_only_if_it_had_made_them_one(world, relation, parted):
    world.tell("2024-01-01", ref="r", relation=relation, object="Annie")
    world.tell("2024-01-02", op="retract", ref="r")

    assert len(stated(world, "entity.unmerged")) == parted


def test_without_the_graded_policy_a_correction_that_is_unsure_stands_too(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", confidence=0.9)
    world.tell("2024-01-02", object="Rome", ref="r", valid_at="2020-06-01", confidence=0.9)
    world.tell("2024-01-03", object="Oslo", ref="r", op="correct", confidence=0.1)

    assert world.where("2020-07-01") == ["Oslo"]


def test_what_happens_within_a_granule_that_goes_on_is_told_again(world):
    told = {"ref": "r", "relation": "visited", "object": "Rome", "valid_at": "2024", "grain": "year"}
    world.tell("2024-03-01", **told)
    world.tell("2024-04-01", **told)

    assert (len(stated(world, "fact.asserted")), len(stated(world, "fact.reinforced")), world.parked()) == (1, 1, 0)


@pytest.mark.parametrize(
    ("line", "kind", "cause"),
    [
        ({"op": "end", "invalid_at": "2022"}, "ended", ("fact.ended", "ending_id")),
        ({"object": "Oslo", "valid_at": "2022"}, "superseded", ("fact.asserted", "fact_id")),
    ],
)
def test_why_a_fact_holds_less_long_is_the_ending_or_the_fact_that_came_instead(world, line, kind, cause):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", **{"object": "Berlin", **line})

    [changed] = stated(world, "fact.invalidated")
    type_, name = cause
    assert changed.event.cause == getattr(stated(world, type_)[-1].event, name)
    assert (changed.event.kind, changed.event.holds) == (kind, ((on("2020"), on("2022")),))


def test_the_ids_of_statements_are_those_of_their_episode_and_place_whatever_derives_them(tmp_path):
    history = History(tmp_path)
    history.tell("2024-01-01", relation="rents", object="Flat")
    history.tell("2024-01-02", relation="rents", object="Flat", op="end")
    [ended] = [r.event for r in history.semantic.read() if isinstance(r.event, FactEnded)]
    history.close()

    assert ended.ending_id == derive("ending", "test", episode_id("g", 1), "0")


@pytest.mark.parametrize(("ontology", "communities"), [(None, False), ("gone", False), ("gone", True)])
def test_of_an_episode_that_states_nothing_nothing_is_read_unless_its_ontology_is_gone(world, ontology, communities):
    world.memory.add("Hm.", group_id="g", role="Ana")
    [said] = [r for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    episode = said.event.model_copy(update={"ontology": ontology, "update_communities": communities})
    own = load("default")
    build = Build("build", own, "recency", Ontologies(own))

    if ontology is None:
        assert derive_semantic_events([said._replace(event=episode)], build, Damaged()) == []
    else:
        with pytest.raises(InvalidInput, match="there is no such ontology"):
            derive_semantic_events([said._replace(event=episode)], build, Damaged())


def test_a_fact_whose_stay_elsewhere_is_retracted_is_restored(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", said_at="2016")
    world.tell("2024-01-02", object="Paris", ref="stay", valid_at="2019", invalid_at="2020")
    world.tell("2024-01-03", object="Berlin", valid_at="2015", said_at="2022")
    world.tell("2024-01-04", op="retract", ref="stay")

    berlin = stated(world, "fact.asserted")[0].event.fact_id
    [restored] = [r for r in stated(world, "fact.restored") if r.cause == 3]
    assert (restored.event.fact_id, restored.event.holds) == (berlin, ((on("2015"), None),))
