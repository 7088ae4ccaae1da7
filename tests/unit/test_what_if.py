"""What if: each kind of statement tried on one small history, through the public API."""

import json

import pytest

from arango_server import Server, listening
from asking import time
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.messages import FactStatement
from world import World, on


@pytest.fixture
def moved(tmp_path):
    """Berlin since 2015, a stay in Paris in 2019 told later, Munich from March 2024."""
    world = World(tmp_path / "data")
    tell_of_moves(world)
    yield world
    world.memory.close()


def tell_of_moves(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", said_at="2024", ref="b")
    world.tell("2024-02-01", object="Paris", valid_at="2019", invalid_at="2020", ref="p")
    world.tell("2024-03-01", object="Munich", valid_at="2024-03-01")
    world.now = on("2024-08-01")


def line(**fields):
    """Return a structured fact about Ana, with the days of its times written out."""
    times = {
        name: f"{(fields.pop(name) + '-01-01')[:10]}T00:00:00Z" for name in ("valid_at", "invalid_at") if name in fields
    }
    return {"subject": "Ana", **fields, **times}


def periods(segments):
    return [(s.object, s.valid_at, s.invalid_at) for s in segments]


WHAT_IFS = {
    "a new place": [{"relation": "lives_in", "object": "Oslo", "valid_at": "2022"}],
    "a place not heard of in the past": [{"relation": "lives_in", "object": "Rome", "valid_at": "2016"}],
    "the same again": [{"relation": "lives_in", "object": "Munich", "valid_at": "2024-06"}],
    "an end": [{"op": "end", "relation": "lives_in", "invalid_at": "2023"}],
    "an end by ref": [{"op": "end", "ref": "p", "subject": None, "invalid_at": "2019-06"}],
    "a retraction": [{"op": "retract", "relation": "lives_in", "object": "Munich"}],
    "a retraction by ref": [{"op": "retract", "ref": "p", "subject": None}],
    "a correction": [{"op": "correct", "relation": "lives_in", "object": "Bonn", "valid_at": "2015"}],
    "a correction by ref": [
        {"op": "correct", "ref": "p", "relation": "lives_in", "object": "Lyon", "valid_at": "2018"}
    ],
    "a correction of what is believed now": [{"op": "correct", "relation": "lives_in", "object": "Bonn"}],
    "a correction of a while ago": [
        {"op": "correct", "relation": "lives_in", "object": "Bonn", "valid_at": "2019-03", "invalid_at": "2019-06"}
    ],
    "a correction of a correction": [
        {"op": "correct", "relation": "lives_in", "object": "Bonn", "valid_at": "2019-03"},
        {"op": "correct", "relation": "lives_in", "object": "Oslo", "valid_at": "2022"},
    ],
    "one after the other": [
        {"relation": "lives_in", "object": "Oslo", "valid_at": "2022"},
        {"op": "retract", "ref": "b", "subject": None},
    ],
}


BEFORE = [
    ("Berlin", time(on("2015")), time(on("2019"))),
    ("Paris", time(on("2019")), time(on("2020"))),
    ("Berlin", time(on("2020")), time(on("2024-03-01"))),
    ("Munich", time(on("2024-03-01")), None),
]


@pytest.mark.parametrize("lines", WHAT_IFS.values(), ids=WHAT_IFS)
def test_what_if_foretells_what_the_same_statements_bring_about_and_writes_nothing(moved, lines):
    digest = moved.digest()
    foretold = moved.memory.what_if([line(**fields) for fields in lines], group_id="g")
    assert moved.digest() == digest

    for fields in lines:
        moved.tell(None, **line(**fields))

    assert foretold.after == tuple(moved.memory.timeline("Ana", group_id="g", relation="lives_in"))
    assert periods(foretold.before) == BEFORE


REFUSED = {
    "a retraction of what has no such id": (NotFound, {"op": "retract", "ref": "nobody"}),
    "a retraction of what is not held": (NotFound, {"op": "retract", "relation": "lives_in", "object": "Ana"}),
    "an end of an unknown name": (NotFound, {"op": "end", "subject": "Nobody", "relation": "lives_in"}),
    "a correction of one of many": (InvalidInput, {"op": "correct", "relation": "visits", "object": "Rome"}),
    "an id of another fact": (InvalidInput, {"ref": "p", "relation": "lives_in", "object": "Rome"}),
}


@pytest.mark.parametrize(("error", "fields"), REFUSED.values(), ids=REFUSED)
def test_what_if_refuses_what_could_not_stand_for_the_reason_for_which_an_import_is_parked(moved, error, fields):
    with pytest.raises(error) as refused:
        moved.memory.what_if([line(**fields)], group_id="g")

    moved.tell(None, **line(**fields))
    [parked] = moved.memory.stats()["parked_messages"]
    assert parked["reason"] == str(refused.value)


def test_what_if_is_asked_of_one_group_and_a_statement_of_another_is_refused(moved):
    with pytest.raises(InvalidInput, match="group_id"):
        moved.memory.what_if([line(group_id="h", relation="lives_in", object="Rome")], group_id="g")

    assert moved.memory.what_if([line(relation="lives_in", object="Rome")], group_id="h").before == ()


def test_a_dry_run_over_two_groups_keeps_apart_what_both_call_by_one_ref_or_name(moved):
    """The doors refuse a second group. The dry run itself answers as the log would, of as many as there are."""
    facts = [
        FactStatement(group_id=group, subject="Ada", relation="lives_in", object=place, ref="r", valid_at=on("2020"))
        for group, place in (("g", "Bonn"), ("h", "Rome"))
    ]
    ends = [
        FactStatement(op="end", group_id=group, ref="r", invalid_at=on(year))
        for group, year in (("g", "2021"), ("h", "2022"))
    ]

    foretold = moved.memory._session.of("g").what_if([*facts, *ends], on("2024-08-01"))

    held = [segment for segment in foretold.after if segment.object]
    assert len({segment.subject_uuid for segment in held}) == 2
    assert sorted(periods(held)) == [
        ("Bonn", time(on("2020")), time(on("2021"))),
        ("Rome", time(on("2020")), time(on("2022"))),
    ]


def test_what_if_touches_nothing_where_nothing_is_said(moved):
    assert moved.memory.what_if([], group_id="g").to_json() == {"before": [], "after": []}


def test_what_if_keeps_to_the_generation_that_answers(moved):
    """Under the graded policy a surer fact takes another of the same year back; else it only ends it."""
    surer = [line(relation="lives_in", object="Rome", valid_at="2024-05-01", confidence=1.0)]
    moved.tell("2024-07-01", object="Oslo", valid_at="2024-04-01", confidence=0.5)
    moved.memory.rebuild("graded", policy="graded")

    def foretold():
        return [s.object for s in moved.memory.what_if(surer, group_id="g").after]

    assert "Oslo" in foretold()
    moved.memory.switch("graded")
    assert "Oslo" not in foretold()


@pytest.mark.parametrize("ontology", ["default", "agent_memory_v1"])
def test_what_if_needs_the_ontology_of_the_generation_also_where_a_copy_of_topics_has_not_kept_it(moved, ontology):
    tried = [line(relation="lives_in", object="Rome")]
    foretold = moved.memory.what_if(tried, group_id="g")
    for kept in moved.path.rglob("ontology.json"):
        kept.unlink()
    moved.settings = moved.settings.model_copy(update={"ontology": ontology})
    moved.restart()

    if ontology == "default":
        assert moved.memory.what_if(tried, group_id="g") == foretold
    else:
        with pytest.raises(InvalidInput, match="ASOF_ONTOLOGY"):
            moved.memory.what_if(tried, group_id="g")


def test_what_if_foretells_the_same_where_the_graph_is_in_arangodb(tmp_path):
    tried = [line(op="correct", relation="lives_in", object="Bonn", valid_at="2015")]
    with listening(Server()) as url:
        world = World(tmp_path / "data", graph_url=f"{url}tried")
        tell_of_moves(world)

        foretold = world.memory.what_if(tried, group_id="g")
        world.memory.import_facts(json.dumps({"group_id": "g", **fields}) for fields in tried)

        assert foretold.after == tuple(world.memory.timeline("Ana", group_id="g", relation="lives_in"))
        assert periods(foretold.before) == BEFORE
        world.memory.close()
