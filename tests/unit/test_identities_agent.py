"""Who is whom, by statement: merged, split, given another name, each undone, and refused with a reason that helps."""

import pytest

from asking import records
from asof_streams.ids import episode_id
from asof_streams.messages import EntityStatement, IdentityStatement, Message, WithdrawalRequest
from asof_streams.semantic import EntityDescribed, EntityMerged, EntityUndescribed, EntityUnmerged, FactRetracted
from world import World, on


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    world.tell("2024-01-01", subject="Bob", relation="likes", object="Tea", valid_at="2020")
    world.tell("2024-01-02", subject="Robert", relation="likes", object="Jazz", valid_at="2020")
    yield world
    world.memory.close()


def state(world, day, op, entity=None, group="g", **fields):
    return world.send(IdentityStatement(group_id=group, op=op, entity=entity, **fields), day=day)


def store(world, generation="main"):
    return world.memory._session.writer().generations[generation].store


def id_of(world, name, group="g"):
    [entity] = store(world).called(group, name, None)
    return entity.uuid


def liked(world, name, known=None):
    return world.where("2024-06-01", known, "likes", about=name)


def said(world, kind, generation=None):
    return [r.event for r in records(world.memory, generation=generation) if isinstance(r.event, kind)]


def reasons(world):
    return [parked.reason for parked in store(world).parked("g", limit=100)]


def test_two_entities_that_are_merged_are_one_from_then_on_and_their_facts_stay_theirs(world):
    before = {fact.uuid: fact.subject for fact in world.memory.facts(group_id="g", any_time=True)}
    state(world, "2024-02-01", "merge", "Bob", into="Robert")

    assert liked(world, "Bob") == liked(world, "Robert") == ["Jazz", "Tea"]
    assert liked(world, "Bob", "2024-01-31") == ["Tea"]
    assert {fact.uuid: fact.subject for fact in world.memory.facts(group_id="g", any_time=True)} == before
    [merged] = said(world, EntityMerged)
    assert (merged.duplicate, merged.into) == (id_of(world, "Bob"), id_of(world, "Robert"))
    assert merged.reason == "stated"


@pytest.mark.parametrize("how", ["pair", "turned", "merge_id"])
def test_a_split_restores_both_and_what_was_known_between_stays_known(world, how):
    state(world, "2024-02-01", "merge", "Bob", into="Robert")
    [merged] = said(world, EntityMerged)
    names = {"pair": ("Bob", "Robert"), "turned": ("Robert", "Bob")}
    fields = (
        {"merge_id": merged.merge_id} if how == "merge_id" else dict(zip(("entity", "into"), names[how], strict=True))
    )
    state(world, "2024-03-01", "split", **fields)

    assert liked(world, "Bob") == ["Tea"]
    assert liked(world, "Bob", "2024-02-15") == ["Jazz", "Tea"]
    assert said(world, EntityUnmerged) == [EntityUnmerged(merge_id=merged.merge_id)]
    assert world.parked() == 0


def test_what_was_split_can_be_merged_again(world):
    for day, op in (("2024-02-01", "merge"), ("2024-02-02", "split"), ("2024-02-03", "merge")):
        state(world, day, op, "Bob", into="Robert")

    assert [len(liked(world, "Bob", day)) for day in ("2024-02-01", "2024-02-02", "2024-02-03")] == [2, 1, 2]
    assert len({merged.merge_id for merged in said(world, EntityMerged)}) == 2


def test_a_merge_stated_again_either_way_round_says_nothing_new(world):
    for pair in (("Bob", "Robert"), ("Bob", "Robert"), ("Robert", "Bob")):
        state(world, "2024-02-01", "merge", pair[0], into=pair[1])

    assert len(said(world, EntityMerged)) == 1
    assert world.parked() == 0


def test_a_merge_that_is_stated_stays_where_the_fact_that_said_the_same_is_retracted(world):
    world.tell("2024-02-01", subject="Robert", relation="also_known_as", object="Bob", ref="aka")
    state(world, "2024-02-02", "merge", "Bob", into="Robert")
    world.tell("2024-02-03", op="retract", ref="aka")

    assert liked(world, "Bob") == ["Jazz", "Tea"]


def test_a_split_takes_every_merge_of_the_two_back_and_the_fact_that_one_rests_on(world):
    world.tell("2024-02-01", subject="Robert", relation="also_known_as", object="Bob")
    state(world, "2024-02-02", "merge", "Bob", into="Robert")
    state(world, "2024-02-03", "split", "Bob", into="Robert")

    assert liked(world, "Bob") == ["Tea"]
    assert world.where("2024-06-01", None, "also_known_as", about="Robert") == []
    assert len(said(world, FactRetracted)) == 1
    assert len(said(world, EntityUnmerged)) == 2


def test_retracting_the_retraction_of_a_split_joins_them_again(world):
    world.tell("2024-02-01", subject="Robert", relation="also_known_as", object="Bob")
    state(world, "2024-02-02", "split", "Bob", into="Robert")
    [retracted] = said(world, FactRetracted)
    world.tell("2024-02-03", op="retract", ref=retracted.retraction_id)

    assert liked(world, "Bob") == ["Jazz", "Tea"]


def test_text_does_not_join_again_what_was_split(world):
    for name in ("Acme", "ACME"):
        world.tell(subject=name, subject_type="Organization", relation="likes", object="Tea")
    acme, shouted = (store(world).entities_named("g", name)[0].uuid for name in ("Acme", "ACME"))
    world.send(Message(group_id="g", role="Ana", role_type="user", content="I work at Acme."), day="2024-02-02")
    assert store(world).identity([acme], None) == {acme, shouted}

    state(world, "2024-02-03", "split", acme, into=shouted)
    world.send(Message(group_id="g", role="Ana", role_type="user", content="I work at Acme."), day="2024-02-04")

    assert store(world).identity([acme], None) == {acme}


def test_an_alias_calls_the_entity_from_then_on_until_it_is_taken_back(world):
    state(world, "2024-02-01", "alias", "Robert", name="Rob")
    assert liked(world, "Rob") == ["Jazz"]
    world.tell("2024-02-02", subject="Rob", relation="likes", object="Rain", valid_at="2020")
    state(world, "2024-03-01", "unalias", "Robert", name="Rob")

    assert liked(world, "Rob") == []
    assert liked(world, "Rob", "2024-02-15") == liked(world, "Robert") == ["Jazz", "Rain"]
    assert store(world).aliases(id_of(world, "Robert"), None) == ["Robert"]
    assert len(said(world, EntityUndescribed)) == 1


def test_an_alias_taken_back_can_be_stated_again(world):
    for op in ("alias", "alias", "unalias", "alias"):
        state(world, "2024-02-01", op, "Robert", name="Rob")

    assert store(world).aliases(id_of(world, "Robert"), None) == ["Robert", "Rob"]
    assert world.parked() == 0


def test_an_alias_that_the_entity_has_already_says_nothing_new(world):
    for name in ("Rob", "Rob", "Robert"):
        state(world, "2024-02-01", "alias", "Robert", name=name)

    assert len(said(world, EntityDescribed)) == 1
    assert world.parked() == 0


def test_an_entity_may_be_named_by_the_alias_and_by_the_id(world):
    state(world, "2024-02-01", "alias", "Robert", name="Rob")
    state(world, "2024-02-02", "merge", id_of(world, "Bob"), into="Rob")

    assert liked(world, "Bob") == ["Jazz", "Tea"]


def test_an_entity_called_so_itself_goes_before_one_that_has_the_name_as_an_alias(world):
    state(world, "2024-02-01", "alias", "Bob", name="Robert")
    state(world, "2024-02-02", "merge", "Bob", into="Robert")

    assert liked(world, "Bob") == ["Jazz", "Tea"]


def test_what_a_producer_or_a_text_calls_an_entity_is_not_taken_back_with_the_alias(world):
    for name in ("Ana Lee", "Annie"):
        world.send(EntityStatement(group_id="g", entity_id="node-1", name=name, summary="a cook"), day="2024-02-01")
    state(world, "2024-02-02", "unalias", "Ana Lee", name="Annie")
    assert reasons(world) == ["name: no alias that was stated of this entity; withdraw the episode that says it"]
    state(world, "2024-02-03", "alias", "Ana Lee", name="Annie")
    state(world, "2024-02-04", "unalias", "Ana Lee", name="Annie")

    assert [entity.uuid for entity in store(world).called("g", "Annie", None)] == ["node-1"]
    assert [attribute.value for attribute in store(world).attributes(["node-1"], None)] == ["a cook"]


def test_an_alias_outlives_the_episode_that_gave_the_name_too(world):
    full, short = "Eva Sole works at SAP.", "My sister Eva lives in Oslo."
    for content in (short, full):
        world.send(Message(group_id="g", role="Ana", role_type="user", content=content), day="2024-02-01")
    [eva] = {entity.uuid for entity in store(world).called("g", "Eva Sole", None)}
    state(world, "2024-02-02", "alias", eva, name="Eva Sole")
    world.send(WithdrawalRequest(group_id="g", episode_id=episode_id("g", 3)), day="2024-02-03")

    assert [entity.uuid for entity in store(world).called("g", "Eva Sole", None)] == [eva]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"op": "merge", "entity": "Bob", "into": "Nobody"}, "into: no entity of this group has that name or id"),
        ({"op": "merge", "entity": "Nobody", "into": "Bob"}, "entity: no entity of this group has that name or id"),
        ({"op": "merge", "entity": "Bob", "into": "Bob"}, "into: it is the same entity"),
        ({"op": "merge", "entity": "Bob", "into": "{other}"}, "into: no entity of this group has that name or id"),
        (
            {"op": "merge", "entity": "Bob", "into": "Jo"},
            "into: several entities of this group have that name; give the",
        ),
        (
            {"op": "split", "entity": "Bob", "into": "Robert"},
            "into: no merge that is believed joins these two directly",
        ),
        ({"op": "split", "merge_id": "nobody"}, "merge_id: no merge of this group that is believed has it"),
        ({"op": "split", "merge_id": "{elsewhere}"}, "merge_id: no merge of this group that is believed has it"),
        ({"op": "alias", "entity": "Nobody", "name": "No"}, "entity: no entity of this group has that name or id"),
        ({"op": "unalias", "entity": "Bob", "name": "Bob"}, "name: no alias that was stated of this entity"),
    ],
)
def test_what_cannot_stand_is_parked_with_the_reason_and_changes_nothing(world, fields, reason):
    for type_ in ("Person", "Place"):
        world.tell("2024-01-03", subject="Jo", subject_type=type_, relation="likes", object="Tea")
    for name in ("Zoe", "Zo"):
        world.tell("2024-01-03", group_id="other", subject=name, relation="likes", object="Tea")
    state(world, "2024-01-04", "merge", "Zo", into="Zoe", group="other")
    [merged] = said(world, EntityMerged)
    known = {"other": id_of(world, "Zoe", "other"), "elsewhere": merged.merge_id}
    before = world.memory._session.writer().generations["main"].layer.log.end()
    state(world, "2024-02-01", **{name: value.format(**known) for name, value in fields.items()})

    assert [given.startswith(reason) for given in reasons(world)] == [True]
    assert world.memory._session.writer().generations["main"].layer.log.end() == before + 1


def test_several_of_one_name_that_are_one_already_may_be_named(world):
    for type_ in ("Person", "Place"):
        world.tell("2024-01-03", subject="Jo", subject_type=type_, relation="likes", object="Tea")
    person, place = (entity.uuid for entity in store(world).entities_named("g", "Jo"))
    state(world, "2024-02-01", "merge", place, into=person)
    state(world, "2024-02-02", "merge", "Bob", into="Jo")

    assert store(world).identity([place], None) == {place, person, id_of(world, "Bob")}


def test_a_split_by_merge_id_means_the_same_in_a_generation_with_other_ids(world):
    state(world, "2024-02-01", "merge", "Bob", into="Robert")
    world.memory.rebuild("graded", policy="graded")
    [merged] = said(world, EntityMerged, "graded")
    state(world, "2024-03-01", "split", merge_id=merged.merge_id)

    assert store(world, "graded").counts()["merges"] == store(world).counts()["merges"] == 0
    assert world.parked() == 0
    assert world.memory.verify()


def test_nothing_of_a_statement_of_identity_is_left_of_an_erased_group(world):
    state(world, "2024-02-01", "merge", "Bob", into="Robert")
    state(world, "2024-02-01", "alias", "Robert", name="Zxqv")
    state(world, "2024-02-01", "unalias", "Robert", name="Zxqv")
    world.memory.erase("g")
    world.memory.close()

    left = [file for file in world.path.rglob("*") if file.is_file() and b"Zxqv" in file.read_bytes()]
    assert left == []


def test_the_withdrawal_of_an_episode_leaves_alone_what_was_stated_of_its_entities(world):
    world.send(Message(group_id="g", role="Ana", role_type="user", content="I like Rob."), day="2024-02-01")
    state(world, "2024-02-02", "merge", "Bob", into="Robert")
    gone = episode_id("g", 0)  # that of Bob's own fact
    world.send(WithdrawalRequest(group_id="g", episode_id=gone), day="2024-02-03")

    assert liked(world, "Bob") == liked(world, "Robert") == ["Jazz"]
    assert liked(world, "Bob", on("2024-02-02")) == ["Jazz", "Tea"]
