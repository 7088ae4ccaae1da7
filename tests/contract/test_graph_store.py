"""What every graph store promises to who follows a log with it, and to who asks as of a moment; one, to the handlers.

`store` is each kind of store in turn. `known` is the one that handlers ask too: it shows them at once what is applied.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracle
from asking import facts_at, facts_during, filter_of
from asof_agents.ports import BeliefView, EpisodeView
from asof_projections.graph.ports import EntityDetails, GraphStore
from asof_projections.graph.sqlite_store import schema
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import FactSearchQuery, ask
from asof_projections.model.rows import FactRow, Moment, Slot, Window
from asof_projections.ports import BeliefStore
from asof_projections.queries.consistent_read import consistent_read
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    ExtractionAnswered,
    ExtractionFailed,
    FeedbackReceived,
    FeedbackWithdrawn,
    GoalDeclared,
    GoalWithdrawn,
    GroupErased,
    MentionObserved,
    MessageParked,
    RelationshipStated,
)
from asof_streams.errors import ContractError, DamagedLog, NotFound, PositionConflict
from asof_streams.events import Event
from asof_streams.instants import INF
from asof_streams.semantic import (
    CommunityFormed,
    CommunityJoined,
    ContradictionFlagged,
    ContradictionSettled,
    EntityAttributed,
    EntityDescribed,
    EntityIntroduced,
    EntityMerged,
    EntityUndescribed,
    EntityUnmerged,
    FactAttested,
    FactReinforced,
    FactRestored,
    MentionResolved,
    ObjectiveRaised,
    ObjectiveWithdrawn,
    RelationDeclared,
)
from effort import tries
from graph_stores import LOG, ArangoStores, SqliteStores, Stores
from semantic_story import SECOND, START, Story, ended, entity, fact, retracted, unasserted


@pytest.fixture(params=["sqlite", "arango"])
def stores(request, tmp_path: Path) -> Stores:
    return SqliteStores(tmp_path) if request.param == "sqlite" else ArangoStores()


@pytest.fixture
def store(stores: Stores) -> Iterator[BeliefStore]:
    with stores.writing() as opened:
        yield opened


@pytest.fixture
def known(tmp_path: Path) -> Iterator[SqliteGraph]:
    with SqliteGraph(tmp_path / "graph.db", LOG, writable=True) as opened:
        yield opened


@pytest.fixture
def story() -> Story:
    told = Story()
    told.tell(entity("Ana", "Person"), entity("Rome"), entity("Oslo"), entity("Bob"))
    return told


def commit(store: GraphStore, story: Story) -> None:
    store.apply(story.records)
    store.commit(len(story.records), b"head %d" % len(story.records))


def ids(facts) -> list[str]:
    return [fact.uuid for fact in facts]


def numbered(store: GraphStore, numbers: list[int], moment: Moment) -> list[str]:
    return [fact.uuid for facts in store.facts_numbered(numbers, moment).values() for fact in facts]


def at(valid: int | None = None, known: int | None = None) -> Moment:
    return Moment(valid, known)


def test_a_sqlite_graph_is_a_graph_store_that_handlers_can_ask(known: SqliteGraph) -> None:
    as_store: GraphStore = known
    as_episodes: EpisodeView = known
    as_belief: BeliefView = known

    assert as_store is as_episodes is as_belief


# Following a log.


def test_a_new_store_stands_at_the_start_of_its_log(store) -> None:
    assert store.position() == 0
    assert len(store.head()) == 32


def test_rows_and_position_become_visible_together(store, story, stores) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    with stores.reading() as other:
        store.apply(story.records)

        assert facts_at(other, "g", at(1)) == []
        assert other.position() == 0

        store.commit(len(story.records), b"x")
        assert ids(facts_at(other, "g", at(1))) == ids(facts_at(store, "g", at(1))) == ["f"]
        assert (other.position(), other.head()) == (len(story.records), b"x")


def test_what_is_applied_is_known_to_the_handlers_at_once(known, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    known.apply(story.records)

    assert known.live("g", at(1)).tolist() == [4]
    assert ids(facts_at(known, "g", at(1))) == ["f"]
    known.rollback()
    assert known.live("g", at(1)).tolist() == []


def test_what_was_applied_before_is_skipped(store, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    commit(store, story)
    before = store.digest()

    commit(store, story)
    store.apply(story.records[2:])
    store.apply(story.records)
    store.commit(len(story.records), b"x")

    assert store.digest() == before


def test_a_position_before_what_was_applied_is_refused_and_changes_nothing(store, story) -> None:
    store.apply(story.records)

    with pytest.raises(PositionConflict):
        store.commit(1, b"x")

    store.rollback()
    assert store.position() == 0


def test_what_is_rolled_back_was_never_there(store, story) -> None:
    empty = store.digest()
    store.apply(story.records)
    store.rollback()

    assert store.digest() == empty
    assert store.entity("id-Ana") is None
    commit(store, story)
    assert store.entity("id-Ana").name == "Ana"


def test_positions_of_erased_records_may_be_missing(store, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"))
    store.apply(story.records[:1])
    store.apply([r for r in story.records[1:] if r.event.type == "entity.introduced"])
    store.commit(len(story.records), b"x")

    assert store.counts()["facts"] == 0


def test_an_event_that_names_what_was_never_said_stops_the_store_and_names_the_position(store) -> None:
    story = Story()
    story.tell(fact("f", "Ana", "lives_in", "Rome"))

    with pytest.raises(DamagedLog, match="position 0"):
        store.apply(story.records)


def test_a_second_introduction_of_an_entity_changes_nothing_and_the_log_says_where(store, caplog) -> None:
    story = Story()
    story.tell(entity("Ana"), entity("Rome"), fact("f", "Ana", "lives_in", "Rome"))
    commit(store, story)
    before = store.digest()
    story.tell(EntityIntroduced(entity_id="id-Ana", name="Eve", episode_id="said-Eve"))
    commit(store, story)

    assert store.digest() == before
    assert [record.getMessage() for record in caplog.records] == [
        "position 3 introduces an entity under an id that is taken"
    ]


def test_an_id_that_two_groups_give_names_an_entity_of_each_and_each_has_its_own_facts(store, caplog) -> None:
    story = Story()
    for group in ("g", "h"):
        story.tell(entity("Ana"), entity("Rome"), group=group)
        story.tell(fact(f"f-{group}", "Ana", "lives_in", "Rome"), group=group)
        story.tell(
            EntityMerged(merge_id=f"m-{group}", duplicate="id-Ana", into="id-Rome", reason="stated"), group=group
        )
        attributed = {"name": "role", "value": group, "confidence": 1.0, "support": 1.0, "attested": 0, "holds": True}
        story.tell(
            EntityAttributed(
                entity_id="id-Ana", said_at=0, episode_id=f"e-{group}", attribute_id=f"a-{group}", **attributed
            ),
            CommunityFormed(community_id=f"c-{group}", name=group, members=("id-Ana",), episode_id=f"e-{group}"),
            group=group,
        )
        story.tell(ended(f"end-{group}", "Ana", "lives_in", "Rome", 5), group=group)
    commit(store, story)

    for group in ("g", "h"):
        found = store.meant(group, "Ana", None)
        assert {row.group_id for row in map(store.entity, found)} == {group}
        assert ids(facts_at(store, group, at(), subjects=found)) == [f"f-{group}"]
        assert [a.value for a in store.attributes(found, None)] == [group]
        assert [c.uuid for c in store.communities(None, None, of=found)] == [f"c-{group}"]
        assert {link.uuid for link in store.links(found, None)} == {f"m-{group}"}
        assert sorted(store.reach(group, "id-Ana", at(), None).entity_ids) == found
    assert not store.reach("another", "id-Ana", at(), None).entity_ids
    assert len(caplog.records) == 2


def test_a_store_that_is_not_there_cannot_be_read(stores) -> None:
    with pytest.raises(NotFound):
        stores.reading()


def test_a_store_of_another_log_or_schema_is_refused(store, stores) -> None:
    store.close()
    with pytest.raises(ContractError, match=r"follows the log|no graph of semantic\.other"):
        stores.reading(log="semantic.other")
    stores.age()
    with pytest.raises(ContractError, match="rebuild"):
        stores.reading()


# Facts as of a moment.


@st.composite
def histories(draw) -> tuple[Story, list[tuple[str, int, int, int, int]]]:
    """A story of some facts revised at random, and the rectangles (fact, vf, vt, kf, kt) that it means."""
    story, rectangles = Story(), []
    story.tell(entity("Ana"), entity("Bob"))
    period = st.tuples(st.integers(0, 6), st.integers(1, 4) | st.none())
    for step in range(draw(st.integers(1, 8))):
        start, length = draw(period)
        holds = () if draw(st.integers(0, 4)) == 0 else ((start, None if length is None else start + length),)
        known = sorted({r[0] for r in rectangles})
        if not known or draw(st.booleans()):
            id_ = f"f{step}"
            story.tell(fact(id_, draw(st.sampled_from(["Ana", "Bob"])), "knows", "Bob", (start, None), holds=holds))
        else:
            id_ = draw(st.sampled_from(known))
            story.tell(unasserted(id_, *holds))
        rectangles = [(*r[:4], story.now) if r[0] == id_ and r[4] == INF else r for r in rectangles]
        rectangles += [(id_, vf, INF if vt is None else vt, story.now, INF) for vf, vt in holds]
    return story, rectangles


@settings(  # each history has a store of its own
    max_examples=tries(20, nightly=2_000), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(histories())
def test_every_question_gives_the_rectangles_that_it_meets(stores, history) -> None:
    story, rectangles = history
    with stores.writing(stores.fresh()) as store:
        commit(store, story)
        knowns = sorted({story.now + 1, *(t for r in rectangles for t in (r[3], r[3] - 1))})
        asked = 0
        for known in knowns:
            for valid in range(-1, 12):
                expected = {r[0] for r in rectangles if r[1] <= valid < r[2] and r[3] <= known < r[4]}
                assert {*ids(facts_at(store, "g", at(valid, known)))} == expected
                both = facts_at(store, "g", at(valid, known), subjects=["id-Ana"])
                both += facts_at(store, None, at(valid, known), subjects=["id-Bob"], relation="knows")
                assert {*ids(both)} == expected
                assert {*numbered(store, store.live("g", at(valid, known)).tolist(), at(valid, known))} == (expected)
                asked += 1
            meeting = [r[0] for r in rectangles if r[1] < 5 and r[2] > 3 and r[3] <= known < r[4]]
            assert sorted(ids(facts_during(store, "g", 3, 5, known, objects=["id-Bob"]))) == sorted(meeting)
        assert asked >= 13
        assert sorted(
            (f.uuid, f.valid_at, f.invalid_at, f.known_from, f.known_to) for f in facts_at(store, "g", at())
        ) == sorted(rectangles)


def test_an_answer_as_of_a_known_moment_shows_nothing_recorded_later(store, story) -> None:
    first = story.tell(fact("f", "Ana", "lives_in", "Rome"))
    commit(store, story)
    before = facts_at(store, "g", at(5, first))
    story.tell(unasserted("f", (0, 9)), FactReinforced(fact_id="f", said_at=3, episode_id="again"))
    commit(store, story)

    assert facts_at(store, "g", at(5, first)) == before
    [now] = facts_at(store, "g", at(5, story.now))
    assert (now.invalid_at, now.expired_at, now.episodes) == (9, story.now, ("said-f", "again"))


def test_what_would_have_been_known_for_no_time_leaves_no_version(store, story) -> None:
    moment = story.tell(fact("f", "Ana", "lives_in", "Rome"), unasserted("f", (0, 9)))
    commit(store, story)

    assert [(f.valid_at, f.invalid_at, f.known_from, f.known_to) for f in store.versions("f")] == [(0, 9, moment, INF)]


def test_a_restored_fact_has_a_version_for_each_belief(store, story) -> None:
    a = story.tell(fact("f", "Ana", "lives_in", "Rome", (0, 3), (5, None)))
    b = story.tell(unasserted("f", kind="retracted"))
    c = story.tell(FactRestored(fact_id="f", cause="r", holds=((0, None),)))
    commit(store, story)

    found = [(f.valid_at, f.invalid_at, f.known_from, f.known_to) for f in store.versions("f")]
    assert found == [(0, 3, a, b), (5, INF, a, b), (0, INF, c, INF)]
    assert store.fact("f").expired_at == b
    assert store.fact("f").created_at == a


def test_facts_come_by_their_start_then_as_said_and_no_more_than_asked_for(store, story) -> None:
    story.tell(
        fact("late", "Ana", "met", "Bob", (5, None)),
        fact("second", "Ana", "met", "Rome", (1, None)),
        fact("third", "Bob", "met", "Oslo", (1, None)),
    )
    commit(store, story)

    assert ids(facts_at(store, "g", at(9))) == ["second", "third", "late"]
    assert ids(facts_at(store, "g", at(9), limit=2)) == ["second", "third"]
    assert [ids(facts_at(store, "g", at(9), limit=limit)) for limit in (0, 1)] == [[], ["second"]]
    assert ids(facts_at(store, None, at(9), relation="met", limit=1)) == ["second"]


def test_facts_are_chosen_by_each_part_and_by_all_together(store, story) -> None:
    story.tell(
        fact("a", "Ana", "lives_in", "Rome"),
        fact("b", "Ana", "likes", "Rome"),
        fact("c", "Bob", "lives_in", "Oslo"),
        fact("d", "Bob", "age", value="42"),
    )
    story.tell(entity("Other"), fact("e", "Other", "lives_in", "Other"), group="h")
    commit(store, story)
    now = at(1, story.now)

    assert ids(facts_at(store, "g", now, subjects=["id-Ana"])) == ["a", "b"]
    assert ids(facts_at(store, "g", now, subjects=["id-Ana", "id-Bob"], relation="lives_in")) == ["a", "c"]
    assert ids(facts_at(store, "g", now, objects=["id-Rome", "id-Oslo"])) == ["a", "b", "c"]
    assert ids(facts_at(store, "g", now, subjects=["id-Ana"], objects=["id-Rome"], relation="likes")) == ["b"]
    assert ids(facts_at(store, "g", now, relation="lives_in")) == ["a", "c"]
    assert ids(facts_at(store, None, now, relation="lives_in")) == ["a", "c", "e"]
    assert ids(facts_at(store, "g", now, value="42")) == ["d"]
    assert ids(facts_at(store, "g", now, objects=["id-Oslo"], value="42")) == ["c", "d"]
    assert ids(facts_at(store, "h", now, subjects=["id-Ana"])) == []
    assert ids(facts_at(store, "nobody", now)) == ids(facts_at(store, "g", now, relation="nothing")) == []
    assert ids(facts_at(store, "g", now, subjects=[])) == ids(facts_at(store, "g", now, subjects=["id-None"])) == []


def test_facts_are_found_by_the_type_of_their_object(store, story) -> None:
    story.tell(
        entity("Acme", "Company"), fact("works", "Ana", "works_at", "Acme"), fact("lives", "Ana", "lives_in", "Rome")
    )
    commit(store, story)

    def of_type(name: str | None) -> list[str]:
        query = filter_of("g", object_type=name)
        return ids(store.facts(query, Window.at(at(1))))

    assert of_type("Company") == ["works"]
    assert of_type("Person") == []
    assert sorted(of_type(None)) == ["lives", "works"]


def test_a_literal_is_never_taken_for_an_entity(store) -> None:
    story = Story()
    story.tell(entity("Ana"), entity("Rome"))
    story.tell(*(fact(f"f{n}", "Ana", "number", value=str(n)) for n in range(6)))
    commit(store, story)

    found = facts_at(store, "g", at(1))
    assert [f.object for f in found] == list("012345")
    assert {f.object_uuid for f in found} == {None}
    assert (
        facts_at(store, "g", at(1), objects=["id-Ana"])
        == facts_at(store, "g", at(1), objects=["id-Rome", "id-Ana"])
        == []
    )
    assert ids(facts_at(store, "g", at(1), objects=["id-Rome"], value="0")) == ["f0"]
    if isinstance(store, SqliteGraph):  # which handlers ask
        values = {a.value for a in store.slot("g", "id-Ana", "number", None).assertions}
        assert values == {f"v:{n}" for n in range(6)}


def test_numbers_and_qualifiers_are_those_of_the_statements_that_were_known_and_count(store, story) -> None:
    story.tell(fact("x", "Ana", "age", value="42", qualifiers={"by": "Ana", "page": 1}))
    first = story.now
    again = story.tell(FactReinforced(fact_id="x", said_at=2, episode_id="b", number=True, qualifiers={"by": "Ben"}))
    plain = story.tell(FactReinforced(fact_id="x", said_at=3, episode_id="c"))
    gone = story.tell(EpisodeWithdrawn(episode_id="b"))
    commit(store, story)

    def shown(known):
        for found in (
            store.latest(["id-Ana"], at(2, known), 9),
            facts_during(store, "g", 2, 3, known),
            store.reach("g", "Ana", at(2, known), None).outward,
        ):
            assert [(f.value, f.qualifiers) for f in found] == [
                (f.value, f.qualifiers) for f in facts_at(store, "g", at(2, known))
            ]
        [found] = facts_at(store, "g", at(2, known))
        if known not in (None, gone):  # whatever was known: a withdrawal counts as of its moment alone
            [version], asserted = store.versions("x", known), store.fact("x", known)
            assert (version.value, version.qualifiers) == (found.value, found.qualifiers)
            assert (asserted.value, asserted.qualifiers) == (found.value, found.qualifiers)
        return found.value, dict(found.qualifiers)

    assert not store.versions("x", first - 1)
    assert shown(first) == (None, {"by": "Ana", "page": 1})
    assert shown(again) == shown(plain) == (42, {"by": "Ben", "page": 1})
    assert shown(gone) == (None, {"by": "Ana", "page": 1})
    assert shown(None) == (42, {"by": "Ben", "page": 1})
    assert [s.qualifiers for s in store.provenance("x").sources] == ['{"by": "Ana", "page": 1}', '{"by": "Ben"}', "{}"]


# What handlers ask.


def is_empty(slot: Slot) -> bool:
    return not (slot.assertions or slot.endings or slot.held)


def test_a_slot_has_its_live_statements_and_what_is_held(known, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome", (0, 4)))
    story.tell(fact("b", "Ana", "lives_in", "Oslo", (4, None), holds=((4, 6), (8, None)), said_at=7))
    story.tell(ended("any", "Ana", "lives_in", None, 20), ended("rome", "Ana", "lives_in", "Rome", 4))
    story.tell(FactReinforced(fact_id="b", said_at=9, episode_id="again"))
    commit(known, story)

    slot = known.slot("g", "id-Ana", "lives_in", None)
    assert [(a.fact_id, a.value, a.start, a.end, a.attested) for a in slot.assertions] == [
        ("a", "e:id-Rome", 0, 4, 0),
        ("b", "e:id-Oslo", 4, INF, 9),
    ]
    orders = [assertion.order for assertion in slot.assertions]
    assert orders == sorted(set(orders))
    assert [(e.ending_id, e.value, e.at) for e in slot.endings] == [("any", None, 20), ("rome", "e:id-Rome", 4)]
    assert slot.held == {"a": ((0, 4),), "b": ((4, 6), (8, INF))}
    one = known.slot("g", "id-Ana", "lives_in", "e:id-Oslo")
    assert [a.fact_id for a in one.assertions] == ["b"]
    assert [e.ending_id for e in one.endings] == ["any"]
    assert is_empty(known.slot("g", "id-Ana", "nothing", None))
    assert is_empty(known.slot("h", "id-Nobody", "lives_in", "v:x"))


def test_an_ending_is_in_its_slot_from_its_event_on(known, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome"), ended("e", "Ana", "lives_in", "Rome", 4))
    known.apply(story.records)

    for value in (None, "e:id-Rome"):
        assert [e.ending_id for e in known.read_slot("g", "id-Ana", "lives_in", value).endings] == ["e"]


def test_a_fact_read_in_its_slot_keeps_its_object_when_revised(known, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome"), fact("v", "Ana", "age", value="4"))
    known.apply(story.records)
    for relation in ("lives_in", "age"):
        known.read_slot("g", "id-Ana", relation, None)
    story.tell(unasserted("a", (1, 5)), unasserted("v", (1, 5)))
    commit(known, story)

    now = at(2, story.now)
    assert ids(facts_at(known, "g", now, subjects=["id-Ana"], objects=["id-Rome"], value="4")) == ["a", "v"]


def test_what_happened_has_the_granules_that_live_episodes_tell_else_that_of_its_assertion(known, story) -> None:
    about = ("Ana", "visited", "Rome", (2, 8))
    story.tell(fact("first", *about, occurrence=True), fact("v", *about, occurrence=True, planned=True))
    story.tell(FactReinforced(fact_id="v", said_at=3, episode_id="again", granule=(2, 4)))

    def told() -> tuple[object, ...]:
        known.apply(story.records)
        slot = known.read_slot("g", "id-Ana", "visited", None)
        assert known.read_slot("g", "id-Ana", "visited", "e:id-Rome") == slot
        first, visit = slot.assertions
        assert known.statement("v").assertion == visit
        assert (first.granules, first.done) == (((2, 8),), True)
        return visit.granules, visit.done

    assert told() == (((2, 8), (2, 4)), True)
    story.tell(EpisodeWithdrawn(episode_id="again"))
    assert told() == (((2, 8),), False)
    story.tell(EpisodeWithdrawn(episode_id="said-v"))
    assert told() == (((2, 8),), False)


def test_answers_and_failures_of_a_model_are_listed_by_group_each_request_once(known, story) -> None:
    about = {"episode_id": "e", "prompt": "p", "prompt_version": 1, "model": "m", "prompt_tokens": 1}
    about |= {"completion_tokens": 1, "calls": 1}
    failed = ExtractionFailed(**about, request="r", reason="timeout")

    def answered(request: str, answer: str) -> ExtractionAnswered:
        return ExtractionAnswered(**about, request=request, answer=answer, latency_ms=1)

    story.tell(answered("r", "one"), answered("r", "again"), answered("s", "two"))
    story.tell(answered("r", "other"), failed, group="h")
    story.tell(failed)
    commit(known, story)

    assert [(group, e.answer) for group, e in known.answers("g")] == [("g", "one"), ("g", "two")]
    assert [(group, e.answer) for group, e in known.answers(None)] == [("g", "one"), ("g", "two"), ("h", "other")]
    assert [(group, cause) for group, cause, _ in known.failures("h")] == [("h", 2)]
    assert [(group, cause) for group, cause, _ in known.failures(None)] == [("h", 2), ("g", 3)]
    assert (known.answer("h", "r").answer, known.answer("h", "s")) == ("other", None)
    assert (known.failure("g", "r", 3), known.failure("g", "r", 2)) == (failed, None)


def test_a_fact_is_attested_by_what_still_counts_once_an_episode_is_withdrawn(known, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Oslo", said_at=7))
    story.tell(FactReinforced(fact_id="f", said_at=9, episode_id="again"))
    story.tell(FactAttested(fact_id="f", attested=7))
    commit(known, story)

    [assertion] = known.slot("g", "id-Ana", "lives_in", None).assertions
    assert assertion.attested == known.statement("f").assertion.attested == 7


def test_what_is_retracted_is_dead_until_its_retraction_is_retracted(known, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"), ended("e", "Ana", "lives_in", "Rome", 9))
    story.tell(retracted("r1", "f"), retracted("r2", "e"))
    commit(known, story)

    assert is_empty(known.slot("g", "id-Ana", "lives_in", None))
    assert [known.statement(id_).dead for id_ in ("f", "e", "r1")] == [True, True, False]
    story.tell(retracted("r3", "r1", "r1", live=("f",)))
    commit(known, story)
    assert [a.fact_id for a in known.slot("g", "id-Ana", "lives_in", None).assertions] == ["f"]
    assert [known.statement(id_).dead for id_ in ("f", "e", "r1", "r3")] == [False, True, True, False]


def test_a_statement_says_what_reviving_it_needs(known, story) -> None:
    story.tell(fact("f", "Ana", "age", None, (1, 5), value="42", ref="p-1", confidence=0.5, said_at=3))
    story.tell(ended("e", "Ana", "age", None, 9, value="42", fact_id="f"), retracted("r", "e"))
    commit(known, story)

    found, ending, retraction = (known.statement(id_) for id_ in ("f", "e", "r"))
    assert (found.group_id, found.subject, found.relation) == ("g", "id-Ana", "age")
    assert (found.ref, found.confidence, found.said_at) == ("p-1", 0.5, 3)
    a = found.assertion
    assert (a.fact_id, a.value, a.start, a.end, a.attested) == ("f", "v:42", 1, 5, 3)
    assert (ending.subject, ending.relation, ending.ending.value, ending.ending.fact_id) == (
        *("id-Ana", "age"),
        *("v:42", "f"),
    )
    assert (retraction.target, retraction.assertion, retraction.ending) == ("e", None, None)
    assert known.statement("unknown") is None


def test_a_ref_means_the_latest_assertion_made_under_it_in_its_group(known, story) -> None:
    story.tell(fact("first", "Ana", "age", value="1", ref="p"), fact("second", "Ana", "age", value="2", ref="p"))
    story.tell(entity("Cy"), fact("foreign", "Cy", "age", value="3", ref="p"), group="h")
    commit(known, story)

    assert known.fact_with_ref("g", "p").uuid == "second"
    assert known.fact_with_ref("g", "q") is None


def test_contradictions_are_open_until_they_are_settled(known, story) -> None:
    story.tell(fact("a", "Ana", "age", value="1"), fact("b", "Ana", "age", value="2"))
    story.tell(ContradictionFlagged(contradiction_id="c", earlier="a", later="b"))
    commit(known, story)

    assert known.open_contradictions(["a"]) == known.open_contradictions(["b", "a"]) == [("c", "a", "b")]
    story.tell(ContradictionSettled(contradiction_id="c", kept="a", dropped="b"))
    commit(known, story)
    assert known.open_contradictions(["a", "b"]) == []


def test_handlers_see_what_gave_an_entity_a_name_as_far_as_it_counts(known, story) -> None:
    for name, alias, episode_id in (("Ana", "An", "x"), ("Ana", "An", "y"), ("Ana", "an", "z"), ("Bob", "An", "z")):
        story.tell(EntityDescribed(entity_id=f"id-{name}", alias=alias, episode_id=episode_id))
    known.apply(story.records)
    ana = known.entity("id-Ana")

    assert known.namings(ana, "An") == ["x", "y"]
    assert known.namings(ana, "Ana") == []  # its own name
    story.tell(EntityUndescribed(entity_id="id-Ana", alias="An", episode_id="x"))
    known.apply(story.records)
    assert known.namings(ana, "An") == ["y"]


def test_contradictions_are_those_of_a_group_that_were_open_at_a_moment_flagged_first_first(store, story) -> None:
    story.tell(entity("Eva"), fact("x", "Eva", "age", value="1"), group="h")
    story.tell(*(fact(id_, "Ana", "age", value=id_) for id_ in "abc"))
    before = story.now
    first = story.tell(ContradictionFlagged(contradiction_id="q", earlier="a", later="b"))
    story.tell(ContradictionFlagged(contradiction_id="o", earlier="x", later="x"), group="h")
    second = story.tell(ContradictionFlagged(contradiction_id="p", earlier="b", later="c"))
    settled = story.tell(ContradictionSettled(contradiction_id="q", kept="a", dropped="b"))
    commit(store, story)
    q, p = ("q", "g", "a", "b", first, INF, None, None), ("p", "g", "b", "c", second, INF, None, None)
    over = (*q[:5], settled, "a", "b")

    assert store.contradictions("g", before) == []
    assert store.contradictions("g", first) == store.contradictions("g", first, settled=True) == [q]
    assert store.contradictions("g", settled - 1) == store.contradictions("g", settled - 1, settled=True) == [q, p]
    assert store.contradictions("g", settled) == store.contradictions("g", None) == [p]
    assert store.contradictions("g", None, settled=True) == [over, p]
    assert [c.uuid for c in store.contradictions(None, None, settled=True)] == ["q", "o", "p"]
    assert [c.uuid for c in store.contradictions(None, None, limit=1)] == ["o"]
    assert store.contradictions("g", None, settled=True, limit=1) == [over]
    assert store.contradictions("nobody", None) == store.contradictions("g", None, limit=0) == []


def objective(uuid: str, goal: str, saliency: float, stated: float | None) -> ObjectiveRaised:
    told = {"description": uuid, "status": "pending", "said_at": 3, "goal_id": goal}
    return ObjectiveRaised(objective_id=uuid, saliency=saliency, stated=stated, **told)


def test_objectives_are_those_that_were_believed_at_a_moment_the_most_salient_first(store, story) -> None:
    first = story.tell(objective("run", "a", 0.8, 0.8))
    story.tell(objective("swim", "b", 0.9, 0.9))
    story.tell(objective("rest", "c", 1.0, 1.0), group="h")
    raised = story.tell(objective("run", "d", 1.0, 1.0))
    lowered = story.tell(GoalWithdrawn(goal_id="d"), objective("run", "a", 0.8, None))
    gone = story.tell(GoalWithdrawn(goal_id="a"), ObjectiveWithdrawn(objective_id="run", goal_id="a"))
    commit(store, story)

    def believed(known, **options):
        return [(o.uuid, o.saliency, o.goals, o.known_to) for o in store.objectives("g", known, **options)]

    assert believed(first) == [("run", 0.8, ("a",), raised)]
    assert believed(raised) == [("run", 1.0, ("a", "d"), lowered), ("swim", 0.9, ("b",), INF)]
    assert believed(lowered) == [("swim", 0.9, ("b",), INF), ("run", 0.8, ("a",), gone)]
    assert believed(gone) == believed(None) == [("swim", 0.9, ("b",), INF)]
    assert store.objectives("g", raised)[0].goals_recorded == (first, raised)
    assert believed(lowered, limit=1) == [("swim", 0.9, ("b",), INF)]
    assert [o.uuid for o in store.objectives(None, None)] == ["rest", "swim"]
    assert store.objectives("nobody", None) == []
    at_once = ObjectiveWithdrawn(objective_id="run", goal_id="e")
    story.tell(objective("run", "e", 0.5, 0.5), GoalWithdrawn(goal_id="e"), at_once, objective("run", "f", 0.4, 0.4))
    commit(store, story)
    assert believed(None)[1:] == [("run", 0.4, ("f",), INF)]


def test_the_flags_of_a_post_are_booleans(known, story) -> None:
    told = {"role": "Ana", "role_type": "user", "valid_at": 5}
    story.tell(
        FeedbackReceived(feedback_id="a", external_id="1", content="Too long.", **told),
        FeedbackReceived(feedback_id="b", external_id="2", content="Fine.", suppressed=True, **told),
    )
    unasked = {"external_id": "3", "is_proactive": True}
    story.tell(FeedbackWithdrawn(feedback_id="a"), episode("c", 5).model_copy(update=unasked))
    known.apply(story.records)

    posts = [known.post("g", external_id) for external_id in "123"]
    assert str([post.is_proactive for post in posts]) == "[False, False, True]"
    assert str([post.suppressed for post in posts]) == "[False, True, False]"
    assert str([post.withdrawn for post in posts]) == "[True, False, False]"
    assert [row.uuid for row in known.feedback("g", None)] == ["b"]
    assert [row.uuid for row in known.feedback("g", None, withdrawn=True)] == ["a", "b"]
    assert known.post("g", "1").content == "Too long."
    assert known.post("h", "1") is None


def test_every_store_has_the_same_digest_of_what_a_chat_told(stores, known, story) -> None:
    told = {"role_type": "user", "valid_at": 5}
    goal = {**told, "content": "My goal is to run", "description": "run", "saliency": 1.0}
    story.tell(
        FeedbackReceived(feedback_id="a", external_id="1", reply_to="0", content="Too long.", **told),
        FeedbackReceived(feedback_id="b", content="Fine.", suppressed=True, **told),
        GoalDeclared(goal_id="c", author_id="7", edited_at=6, corrects="a", **goal),
    )
    story.tell(FeedbackWithdrawn(feedback_id="a"), GoalWithdrawn(goal_id="c"), GoalWithdrawn(goal_id="unknown"))
    story.tell(objective("run", "c", 1.0, 1.0))
    story.tell(GoalWithdrawn(goal_id="c"), ObjectiveWithdrawn(objective_id="run", goal_id="c"))
    commit(known, story)
    with stores.writing("other") as store:
        empty = store.digest()
        commit(store, story)

        assert empty != store.digest() == known.digest()


def test_every_store_has_the_same_digest_of_what_was_said_again_retracted_and_revised(stores, known, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"), fact("g", "Ana", "lives_in", "Oslo", qualifiers={"by": "Zoë"}))
    story.tell(FactReinforced(fact_id="f", said_at=3, episode_id="again", qualifiers={"by": "Zoë"}))
    story.tell(ended("e", "Ana", "lives_in", "Rome", 9), unasserted("f", (0, 9), kind="ended", cause="e"))
    story.tell(retracted("r", "f", "f", "e"), unasserted("f", kind="retracted", cause="r"))
    story.tell(retracted("s", "r", "r", live=("f", "e")), FactRestored(fact_id="f", cause="s", holds=((0, 9),)))
    story.tell(retracted("t", "g"), FactAttested(fact_id="f", attested=0))
    commit(known, story)
    with stores.writing("other") as store:
        commit(store, story)

        assert store.digest() == known.digest()


def test_parked_messages_are_those_of_a_group_behind_a_position_in_the_order_of_the_log(store, story) -> None:
    at_ = [story.tell(MessageParked(reason=why), group=group) for why, group in (("1", "g"), ("2", "h"), ("3", "g"))]
    commit(store, story)
    one, two, three = ((1 + n, "ghg"[n], at_[n], str(n + 1), "parked") for n in range(3))

    assert store.parked("g", limit=9) == [one, three]
    assert store.parked(None, limit=9) == [one, two, three]
    assert store.parked(None, limit=2) == [one, two]
    assert store.parked("g", after=1, limit=9) == [three]
    assert store.parked(None, after=1, limit=1) == [two]
    assert store.parked("g", after=3, limit=9) == store.parked("nobody", limit=9) == store.parked("g", limit=0) == []
    assert store.parked_count() == 3


def test_cardinality_is_what_was_last_declared(known, story) -> None:
    story.tell(RelationDeclared(relation="lives_in", cardinality="one"))
    commit(known, story)
    assert (known.single("g", "lives_in"), known.single("g", "knows")) == (True, False)
    story.tell(RelationDeclared(relation="lives_in", cardinality="many"))
    commit(known, story)
    assert not known.single("g", "lives_in")


def test_cardinality_declared_in_one_group_is_none_of_anothers_and_goes_with_it(known, story) -> None:
    single = RelationDeclared(relation="lives_in", cardinality="one")
    story.tell(single, group="g")
    story.tell(single, group="other")
    story.tell(RelationDeclared(relation="knows", cardinality="one"), group="")
    commit(known, story)
    story.tell(GroupErased(), group="other")
    commit(known, story)

    declared = [[known.single(group, name) for name in ("lives_in", "knows")] for group in ("g", "other", "third")]
    assert declared == [[True, True], [False, True], [False, True]]


def test_entities_are_found_by_name_alias_and_key(store, story) -> None:
    story.tell(entity("The Ana Smith"), EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="x"))
    commit(store, story)

    def names(found):
        return [e.name for e in found]

    if isinstance(store, SqliteGraph):  # which handlers ask
        assert names(store.entities_named("g", "Annie")) == ["Ana"]
        assert store.entities_named("g", "annie") == []
    assert names(store.called("g", "ANNIE", None)) == names(store.called(None, "Annie", None)) == ["Ana"]
    assert names(store.called("g", "Ana Smith", None)) == ["The Ana Smith"]
    assert store.called("h", "Annie", None) == store.called("g", "Annie", story.records[0].recorded_at) == []
    assert names(store.entities("g", None, prefix="an")) == ["Ana", "The Ana Smith"]
    assert names(store.entities(None, None, limit=2)) == ["Ana", "Rome"]
    assert store.entities("g", story.records[0].recorded_at - 1) == []
    assert store.aliases("id-Ana", None) == ["Ana", "Annie"]
    assert store.aliases("id-Ana", story.records[0].recorded_at) == ["Ana"]


GONE = {
    "withdrawn": lambda episode: EpisodeWithdrawn(episode_id=episode),
    "taken back": lambda episode: EntityUndescribed(entity_id="id-Ana", alias="Annie", episode_id=episode),
}


@pytest.mark.parametrize("how", GONE)
def test_a_name_that_only_withdrawn_episodes_gave_calls_nobody_but_as_of_before(store, story, how) -> None:
    story.tell(fact("f", "Ana", "likes", "Rome"))
    story.tell(EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="x"))
    both = story.tell(
        EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="y"),
        EntityDescribed(entity_id="id-Ana", alias="Nan", episode_id="y"),
    )
    one = story.tell(EpisodeWithdrawn(episode_id="y"), EpisodeWithdrawn(episode_id="said-Ana"))
    last = story.tell(GONE[how]("x"))
    commit(store, story)

    def shown(known):
        aliases = store.aliases("id-Ana", known)
        assert {n for n in ("Ana", "Annie", "Nan") if store.called("g", n, known)} == {*aliases}
        for name in ("Annie", "Nan"):
            found = ["id-Ana"] if name in aliases else []
            ways = [store.called("g", name, known), store.called(None, name.upper(), known)]
            ways += [store.entities(group, known, prefix=name) for group in ("g", None)]
            assert [[e.uuid for e in way] for way in ways] == [found] * 4
            assert (
                store.meant("g", name, known) == sorted(store.reach("g", name, at(1, known), None).entity_ids) == found
            )
        names = {n: name for n, _, name in store.names()}
        assert [names[n] for n in store.names_known("g", known) if names[n] not in ("Rome", "Oslo", "Bob")] == aliases
        return aliases

    assert shown(both) == ["Ana", "Annie", "Annie", "Nan"]
    assert shown(one) == ["Ana", "Annie"]
    assert shown(last) == shown(None) == ["Ana"]
    if isinstance(store, SqliteGraph):  # which handlers ask
        assert store.entities_named("g", "Annie") == store.entities_named("g", "Nan") == []


alias_or_withdrawn = st.tuples(st.sampled_from("ab"), st.sampled_from(["Ana", "Bob"]), st.sampled_from(["Bo", "An"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each history has a store of its own
@given(st.lists(alias_or_withdrawn | st.sampled_from("ab"), min_size=1, max_size=6))
def test_whom_a_name_calls_is_what_the_plainest_way_to_work_it_out_says(stores, told) -> None:
    story, expected = Story(), {}
    story.tell(entity("Ana"), entity("Bob"))
    for place, what in enumerate(told):
        if isinstance(what, str):
            event: Event = EpisodeWithdrawn(episode_id=what)
        else:
            event = EntityDescribed(entity_id=f"id-{what[1]}", alias=what[2], episode_id=what[0])
        expected[story.tell(event)] = oracle.named(told[: place + 1])
    with stores.writing(stores.fresh()) as store:
        commit(store, story)
        for known, named in expected.items():
            for alias in ("Bo", "An"):
                assert {e.name for e in store.called("g", alias, known)} == named.get(alias, set())
        for alias in ("Bo", "An"):
            if isinstance(store, SqliteGraph):  # which handlers ask
                assert {e.name for e in store.entities_named("g", alias)} == named.get(alias, set())


def test_handlers_find_nobody_by_a_name_from_its_withdrawal_on(known, story) -> None:
    story.tell(EntityDescribed(entity_id="id-Ana", alias="Annie Lee", episode_id="x"))
    story.tell(EntityDescribed(entity_id="id-Bob", alias="Bob Lee", episode_id="y"))
    known.apply(story.records)

    def found():
        by_word = [e.name for word in ("annie", "lee", "bob") for e in known.entities_with_word("g", word)]
        named, keyed = known.entities_named("g", "Annie Lee"), known.entities_keyed("g", "annie lee")
        return by_word, [e.name for e in named], [e.name for e in keyed], known.aliases("id-Ana", None)

    assert found() == (["Ana", "Ana", "Bob", "Bob"], ["Ana"], ["Ana"], ["Ana", "Annie Lee"])
    story.tell(EntityUndescribed(entity_id="id-Ana", alias="Annie Lee", episode_id="x"))
    known.apply(story.records)
    assert found() == (["Bob", "Bob"], [], [], ["Ana"])
    story.tell(EpisodeWithdrawn(episode_id="y"), EpisodeWithdrawn(episode_id="said-Bob"))
    known.apply(story.records)
    assert found() == (["Bob"], [], [], ["Ana"])
    story.tell(EntityDescribed(entity_id="id-Ana", alias="Annie Lee", episode_id="z"))
    known.apply(story.records)
    assert found() == (["Ana", "Ana", "Bob"], ["Ana"], ["Ana"], ["Ana", "Annie Lee"])


def test_a_name_finds_entities_in_its_exact_case_else_in_any_case(store, story) -> None:
    story.tell(entity("ANA"))
    commit(store, story)

    for name, called in (("Ana", ["id-Ana"]), ("ANA", ["id-ANA"]), ("ana", ["id-Ana", "id-ANA"]), ("bob", ["id-Bob"])):
        assert [entity.uuid for entity in store.called("g", name, None)] == called
        assert store.meant("g", name, None) == sorted(called)


def test_entities_and_links_of_one_group_or_of_all_come_in_log_order(store, story) -> None:
    story.tell(EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same"))
    before = story.now
    twice = EntityMerged(merge_id="n", duplicate="id-Cyd", into="id-Cy", reason="same")
    story.tell(entity("Cy"), entity("Cyd"), twice, group="h")
    commit(store, story)

    def each(group, known):
        return [e.uuid for e in store.each_entity(group, known)], [link.uuid for link in store.each_link(group, known)]

    of_g = ["id-Ana", "id-Rome", "id-Oslo", "id-Bob"]
    assert each("g", story.now) == (of_g, ["m"])
    assert each("h", story.now) == (["id-Cy", "id-Cyd"], ["n"])
    assert each(None, story.now) == ([*of_g, "id-Cy", "id-Cyd"], ["m", "n"])
    assert each(None, before) == (of_g, ["m"])
    assert each("nobody", story.now) == ([], [])


def test_identity_is_that_of_the_moment_asked_about(store, story) -> None:
    first = story.tell(EntityMerged(merge_id="m1", duplicate="id-Bob", into="id-Ana", reason="same"))
    second = story.tell(EntityMerged(merge_id="m2", duplicate="id-Oslo", into="id-Bob", reason="same"))
    third = story.tell(EntityUnmerged(merge_id="m1"))
    commit(store, story)

    assert store.identity(["id-Ana"], first - 1) == {"id-Ana"}
    assert store.identity(["id-Ana"], first) == {"id-Ana", "id-Bob"}
    assert store.identity(["id-Oslo"], second) == {"id-Ana", "id-Bob", "id-Oslo"}
    assert store.identity(["id-Oslo"], third) == store.identity(["id-Oslo"], None) == {"id-Bob", "id-Oslo"}


def test_handlers_find_links_splits_and_other_mentions_of_an_entity(known, story) -> None:
    story.tell(EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same"))
    story.tell(EntityMerged(merge_id="n", duplicate="id-Oslo", into="id-Rome", reason="same"))
    parted_at = story.tell(EntityUnmerged(merge_id="m"))
    for mention_id, episode_id in (("one", "a"), ("two", "b")):
        why = {"entity_id": "id-Ana", "reason": "name", "score": 1.0}
        story.tell(MentionResolved(mention_id=mention_id, episode_id=episode_id, **why))
    known.apply(story.records)

    link = known.link("m")
    assert (link.uuid, link.duplicate, link.into, link.known_to) == ("m", "id-Bob", "id-Ana", parted_at)
    assert known.link("unknown") is None
    assert (known.parted("id-Ana"), known.parted("id-Bob"), known.parted("id-Rome")) == ({"id-Bob"}, {"id-Ana"}, set())
    assert known.meaning("id-Ana", ["one", "two"], "a") == "b"
    assert known.meaning("id-Ana", ["one"], "a") is None
    assert known.meaning("id-Bob", ["one", "two"], "a") is None


def test_the_groups_and_the_keys_of_names_in_one_come_in_order_from_any_of_them_on(known, story) -> None:
    story.tell(entity("Cy"), group="h")
    story.tell(EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="e"), entity("ANA"))
    known.apply(story.records)

    assert [list(known.group_names(start)) for start in ("", "h", "i")] == [["g", "h"], ["h"], []]
    assert list(known.subject_keys("g", "")) == ["ana", "bob", "oslo", "rome"]
    assert list(known.subject_keys("g", "bob")) == ["bob", "oslo", "rome"]
    assert list(known.subject_keys("h", "")) == ["cy"]
    assert known.introduced("g", "ana") == ["id-Ana", "id-ANA"]
    assert known.introduced("h", "ana") == known.introduced("g", "annie") == []


def test_handlers_find_the_entities_of_a_name_oldest_first_and_each_once_whoever_had_it_first(known, story) -> None:
    story.tell(entity("Yan"), entity("Zed"))
    for alias, episode_id in (("Yan", "a"), ("Zed", "a"), ("Zed", "b")):
        story.tell(EntityDescribed(entity_id="id-Ana", alias=alias, episode_id=episode_id))
    known.apply(story.records)

    for name in ("Yan", "Zed"):
        for entities in (known.entities_named("g", name), known.entities_keyed("g", name.lower())):
            assert [entity.uuid for entity in entities] == ["id-Ana", f"id-{name}"]


def test_handlers_find_entities_by_key_and_word_and_what_mentions_mean(known, story) -> None:
    story.tell(entity("The Ana Smith"), EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="x"))
    story.tell(
        episode("e", 5),
        mention("m1", "e", "I", speaker=True),
        mention("m2", "e", "Rome", "City"),
        MentionResolved(mention_id="m1", episode_id="e", entity_id="id-Ana", reason="speaker", score=1.0),
    )
    commit(known, story)

    assert [e.name for e in known.entities_keyed("g", "annie")] == ["Ana"]
    assert [e.name for e in known.entities_with_word("g", "ana")] == ["Ana", "The Ana Smith"]
    assert known.entities_with_word("h", "ana") == []
    assert [m.uuid for m in known.mentions_of(["e"])] == ["m1", "m2"]
    assert known.types_of_names("g", ["rome", "ROME", "Paris"]) == {"rome": "City", "ROME": "City"}
    assert (known.resolved("m1"), known.resolved("m2")) == ("id-Ana", None)


def test_handlers_see_who_retracts_a_statement_and_who_is_of_a_community(known, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome"), retracted("r1", "f"), retracted("r3", "r1", "r1", live=("f",)))
    story.tell(formed("c", "Ana"))
    commit(known, story)

    assert [(r.uuid, r.dead) for r in known.retractions_of("f")] == [("r1", True)]
    assert known.communities_of(["id-Ana", "id-None"]) == {"id-Ana": "c"}


# The episodic layer.


def episode(id_: str, said: int, source: str = "message") -> EpisodeRecorded:
    words = {"name": "", "source_description": "", "role": "Ana", "role_type": "user"}
    return EpisodeRecorded(
        episode_id=id_, source=source, body=f"Ana(user): {id_}", content_length=len(id_), valid_at=said, **words
    )


def mention(id_: str, episode_id: str, text: str, type_: str = "Person", **more) -> MentionObserved:
    return MentionObserved(mention_id=id_, episode_id=episode_id, entity_type=type_, text=text, start=0, **more)


def test_recent_episodes_are_the_latest_said_of_a_source_oldest_first(known, story) -> None:
    for id_, said in (("a", 5), ("b", 9), ("c", 5), ("d", 1)):
        story.tell(episode(id_, said))
    story.tell(episode("t", 5, "text"))
    commit(known, story)

    assert [e.uuid for e in known.recent("g", "message", 8, 99, 2)] == ["a", "c"]
    assert [e.uuid for e in known.recent("g", "message", 9, 99, 10)] == ["d", "a", "c", "b"]
    assert [e.uuid for e in known.recent("g", "message", 9, 3, 10)] == ["a", "b"]  # what came before position 3
    assert known.recent("h", "message", 9, 99, 10) == []
    assert (known.episode("b").content, known.episode("b").position) == ("b", 2)
    assert known.episode("x") is None


def test_episodes_of_a_window_are_those_of_a_group_or_of_all_that_counted_then_in_the_order_of_the_log(
    known, story
) -> None:
    story.tell(episode("a", 5))
    story.tell(episode("b", 9), group="h")
    story.tell(episode("c", 9))
    before = story.tell(episode("d", 6))
    after = story.tell(EpisodeWithdrawn(episode_id="c"))
    story.tell(episode("e", 7))
    commit(known, story)

    def shown(group, start, stop, moment, **of):
        found = known.episodes_between(group, Window.during(start, stop, moment), **of)
        return [(episode.group_id, episode.uuid) for episode in found]

    assert shown("g", 0, 99, before) == [("g", "a"), ("g", "c"), ("g", "d")]
    assert shown("g", 0, 99, after) == [("g", "a"), ("g", "d")]
    assert shown(None, 6, 10, None) == [("h", "b"), ("g", "d"), ("g", "e")]
    assert shown("h", 0, 9, before) == shown("nobody", 0, 99, before) == []
    assert [shown("g", 0, 99, before, limit=limit) for limit in (0, 1)] == [[], [("g", "a")]]
    assert shown("g", 0, 99, before, after="a", limit=1) == [("g", "c")]


def test_the_last_texts_are_those_with_words_that_were_said_in_a_group_or_in_all_latest_first(known, story) -> None:
    story.tell(episode("a", 5), episode("b", 1), episode("c", 9, "fact"))
    story.tell(episode("d", 2), group="h")
    story.tell(episode("e", 3).model_copy(update={"body": "", "content_length": 0}))
    commit(known, story)

    assert known.last_texts("g", 9) == [5, 4]
    assert known.last_texts(None, 2) == [7, 5]
    assert known.last_texts("nobody", 9) == known.last_texts("g", 0) == []


def test_groups_are_counted_by_name_with_a_prefix_and_after_another_one(known, story) -> None:
    story.tell(episode("a", 5), group="team-b")
    first = story.tell(episode("b", 5), group="team-a")
    story.tell(entity("Rome"), group="team-c")
    last = story.tell(episode("c", 1), group="team-b")
    other = story.tell(episode("d", 1), group="tea")
    commit(known, story)

    both = [("team-a", 1, first), ("team-b", 2, last)]
    assert known.group_counts("", "", None) == [("tea", 1, other), *both]
    assert known.group_counts("team-", "", None) == both
    assert known.group_counts("team-", "team-a", None) == both[1:]
    assert [known.group_counts("team-", "", limit) for limit in (0, 1)] == [[], both[:1]]


def test_an_episode_says_where_it_comes_from_in_its_producers_words(store, story) -> None:
    story.tell(episode("a", 5, "fact").model_copy(update={"source_description": "payroll export"}), episode("b", 5))
    commit(store, story)

    assert [store.episode(id_).source_description for id_ in ("a", "b")] == ["payroll export", ""]
    assert store.episode("a").source == "fact"


def test_mentions_and_relationships_carry_the_time_of_their_turn(store, story) -> None:
    story.tell(
        episode("e", 5),
        mention("m1", "e", "I", speaker=True),
        mention("m2", "e", "Rome", "City", repeats="m0"),
        RelationshipStated(
            relationship_id="r",
            episode_id="e",
            relation="lives_in",
            source="m1",
            target="m2",
            stance="holds",
            confidence=0.9,
            start=0,
            end=4,
        ),
        MentionResolved(mention_id="m1", episode_id="e", entity_id="id-Ana", reason="speaker", score=1.0),
    )
    commit(store, story)

    assert [(m.uuid, m.speaker, m.repeats, m.valid_at) for m in store.mentions(None)] == [
        ("m1", True, None, 5),
        ("m2", False, "m0", 5),
    ]
    assert [m.speaker is True for m in store.mentions(None)] == [True, False]
    assert [r.valid_at for r in store.relationships("g")] == [store.relationship("r").valid_at] == [5]
    assert list(store.mentions("g")) == [store.mention("m1"), store.mention("m2")]
    assert [e.uuid for e in store.episodes(None)] == ["e"]
    assert list(store.episodes("h")) == []
    assert (store.appearances(["id-Ana"], None), store.appearances(["id-Rome"], None)) == (1, 0)


def test_what_is_known_of_an_entity_is_what_each_question_about_it_answers(store, story) -> None:
    start = story.now
    story.tell(
        fact("a", "Ana", "lives_in", "Rome"),
        fact("b", "Ana", "knows", "Ana", said_at=7),
        fact("c", "Bob", "knows", "Ana", said_at=5),
        fact("d", "Ana", "visited", "Oslo", (9, 12), occurrence=True, said_at=9),
    )
    moments = [start, story.now]
    events = (
        EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="x"),
        EntityDescribed(entity_id="id-Oslo", alias="Kristiania", episode_id="x"),
        attributed("Oslo", "role", "city"),
        formed("c", "Rome", "Oslo"),
        MentionResolved(mention_id="m1", episode_id="e", entity_id="id-Ana", reason="speaker", score=1.0),
        MentionResolved(mention_id="m2", episode_id="e", entity_id="id-Rome", reason="spelling", score=1.0),
        EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same"),
        attributed("Bob", "role", "cook"),
        formed("d", "Bob"),
        EntityIntroduced(entity_id="id-other", name="Ana", episode_id="said-other"),
    )
    moments += [story.tell(event) for event in events]
    commit(store, story)

    def put_together(name: str, known: int | None) -> list[EntityDetails]:
        entities = store.called("g", name, known) or [e for e in [store.entity(name)] if e]
        details = []
        for one in entities:
            alike = sorted(store.identity([one.uuid], known))
            if not any(one.uuid in other.ids for other in details):
                names = [n for uuid in (one.uuid, *alike) for n in store.aliases(uuid, known)]
                kept = (store.appearances(alike, known), store.attributes(alike, known))
                links, communities = store.links(alike, known), store.communities(None, known, of=alike)
                details.append(EntityDetails(one, alike, [*dict.fromkeys(names)], links, *kept, communities))
        return details

    for known in (*moments, None):
        for name in ("Ana", "Annie", "Bob", "Rome", "Oslo", "id-Ana", "id-Rome", "id-other", "nobody"):
            found = store.details("g", name, known)
            assert found == put_together(name, known)
            for one, moment in product(found, (at(3, known), at(10, known), Moment(3, known, deeds=True))):
                around = store.surroundings(one.ids, moment, None, 2)
                assert around.facts == store.reach("g", one.ids, moment, None).facts()
                assert around.latest == store.latest(one.ids, moment, 2)
                bounded = store.surroundings(one.ids, moment, 1, 9)
                assert bounded.facts == store.reach("g", one.ids, moment, 1).facts()
                assert bounded.latest == store.latest(one.ids, moment, 9)
    assert store.details("h", "Ana", None) == store.details("h", "id-Ana", None) == []
    assert [len(one.names) for one in store.details(None, "Ana", None)] == [3, 1]
    assert ids(store.surroundings(["id-Ana"], at(10, moments[1]), None, 9).facts) == ["a", "b", "d", "c"]


def test_names_have_numbers_that_never_change_and_are_found_again_by_them(store, story) -> None:
    told = story.tell(EntityDescribed(entity_id="id-Ana", alias="Annie", episode_id="said"), formed("c", "Ana", "Rome"))
    later = story.tell(entity("Late"))
    story.tell(entity("Other"), group="h")
    commit(store, story)
    names = {name: number for number, _, name in store.names()}

    assert list(names) == ["Ana", "Rome", "Oslo", "Bob", "Annie", "Ana, Rome", "Late", "Other"]
    assert list(names.values()) == sorted(names.values())
    assert list(store.names(names["Ana, Rome"])) == [(names["Late"], "g", "Late"), (names["Other"], "h", "Other")]
    assert store.name_count() == 8
    known = store.names_known("g", told).tolist()
    assert known == [names[name] for name in ("Ana", "Rome", "Oslo", "Bob", "Annie")]
    assert store.names_known("g", later).tolist() == [*known, names["Late"]]
    assert store.names_known(None, None).tolist() == [*known, names["Late"], names["Other"]]
    assert store.names_known("nobody", None).tolist() == []
    found = store.named([names["Annie"], names["Bob"], names["Ana"], 999])
    assert [e.name for e in found] == ["Ana", "Bob"]


# What entities are like, and which are taken together.


def attributed(whom: str, name: str, value: str, support: float = 0.5, at: int = 5, *, holds: bool = True):
    return EntityAttributed(
        entity_id=f"id-{whom}",
        name=name,
        value=value,
        confidence=0.5,
        support=support,
        attested=at,
        holds=holds,
        said_at=at,
        episode_id=f"said-{value}",
        attribute_id=f"stated-{value}",
    )


def test_attributes_are_as_believed_at_a_known_moment_most_recently_attested_first(store, story) -> None:
    a = story.tell(attributed("Ana", "role", "cook"), attributed("Ana", "diet", "vegan", at=3))
    b = story.tell(attributed("Ana", "role", "waiter", holds=False), attributed("Bob", "role", "pilot", at=9))
    c = story.tell(attributed("Ana", "role", "baker", 0.9, at=7))
    commit(store, story)

    def shown(known, *whom):
        return [(x.entity_uuid, x.name, x.value) for x in store.attributes([f"id-{name}" for name in whom], known)]

    assert shown(a - 1, "Ana") == []
    assert shown(a, "Ana") == [("id-Ana", "role", "cook"), ("id-Ana", "diet", "vegan")]
    assert shown(b, "Ana") == shown(a, "Ana")
    assert shown(c, "Bob", "Ana") == shown(None, "Ana", "Bob")
    assert shown(None, "Ana", "Bob") == [
        ("id-Bob", "role", "pilot"),
        ("id-Ana", "role", "baker"),
        ("id-Ana", "diet", "vegan"),
    ]
    [role, _] = store.attributes(["id-Ana"], None)
    assert (role.support, role.attested, role.episode_id) == (0.9, 7, "said-baker")
    story.tell(attributed("Ana", "role", "baker", 0.0))
    commit(store, story)
    assert shown(None, "Ana") == [("id-Ana", "diet", "vegan")]
    assert shown(c, "Ana") == [("id-Ana", "role", "baker"), ("id-Ana", "diet", "vegan")]


def test_handlers_see_what_is_believed_of_an_attribute_and_what_was_last_said_of_a_value(known, story) -> None:
    assert known.attribute("id-Ana", "role") is known.attribute("id-Nobody", "role", "cook") is None
    story.tell(attributed("Ana", "role", "cook", 0.9), attributed("Ana", "role", "Head waiter", 0.3, holds=False))
    known.apply(story.records)

    assert known.attribute("id-Ana", "role").value == "cook"
    assert known.attribute("id-Ana", "role", "head  WAITER").support == 0.3
    assert known.attribute("id-Ana", "role", "pilot") is known.attribute("id-Bob", "role") is None
    story.tell(attributed("Ana", "role", "head waiter", 0.95))
    known.apply(story.records)
    assert known.attribute("id-Ana", "role").support == known.attribute("id-Ana", "role", "Head waiter").support == 0.95


def formed(id_: str, *members: str) -> CommunityFormed:
    names = tuple(f"id-{name}" for name in members)
    return CommunityFormed(community_id=id_, name=", ".join(members), members=names, episode_id=f"said-{id_}")


def joined(id_: str, member: str) -> CommunityJoined:
    return CommunityJoined(community_id=id_, entity_id=f"id-{member}", episode_id="said-joined")


def test_communities_are_as_known_at_a_moment_with_their_members(store, story) -> None:
    a = story.tell(formed("c", "Bob", "Ana"))
    b = story.tell(formed("d", "Rome", "Oslo"), joined("d", "Ana"))
    c = story.tell(joined("d", "Bob"))
    story.tell(entity("Other"), formed("e", "Other"), group="h")
    commit(store, story)

    def shown(group, known, **which):
        found = store.communities(group, known, **which)
        return {community.uuid: [member.name for member in community.members] for community in found}

    assert shown("g", a - 1) == shown("nobody", None) == {}
    assert shown("g", a) == {"c": ["Ana", "Bob"]}
    assert shown("g", b) == {"c": ["Bob"], "d": ["Ana", "Rome", "Oslo"]}
    assert shown("g", c) == {"d": ["Ana", "Rome", "Oslo", "Bob"]}
    assert [*shown(None, None)] == ["d", "e"]
    assert [*shown(None, None, limit=1)] == ["d"]
    assert [*shown("g", b, of=["id-Bob"])] == ["c"]
    assert shown("g", None, of=["id-Ana", "id-Bob"]) == shown("g", None)
    assert shown("g", a, of=["id-Rome"]) == shown("g", None, of=[]) == {}
    [d] = store.communities("g", None)
    assert (d.group_id, d.name, d.known_from, d.members[0].name) == ("g", "Rome, Oslo", b, "Ana")
    assert store.counts()["communities"] == 2


def test_who_moves_twice_in_one_message_was_never_in_between(store, story) -> None:
    moment = story.tell(formed("c", "Ana", "Bob"), formed("d", "Rome"), joined("d", "Bob"), joined("c", "Bob"))
    commit(store, story)

    found = {c.uuid: [m.name for m in c.members] for c in store.communities("g", moment)}
    assert found == {"c": ["Ana", "Bob"], "d": ["Rome"]}


def test_neighbours_are_those_of_facts_that_are_believed_and_hold(known, story) -> None:
    story.tell(
        fact("a", "Ana", "lives_in", "Rome"),
        fact("b", "Bob", "knows", "Ana"),
        fact("c", "Ana", "age", value="1"),
        fact("d", "Ana", "visited", "Oslo", (0, 5)),
        fact("e", "Ana", "likes", "Oslo"),
    )
    story.tell(unasserted("e"))
    known.apply(story.records)

    assert known.neighbours("id-Ana", 9, 10) == [("a", "id-Rome"), ("b", "id-Bob")]
    assert known.neighbours("id-Ana", 4, 10) == [("a", "id-Rome"), ("d", "id-Oslo"), ("b", "id-Bob")]
    assert known.neighbours("id-Ana", 4, 1) == [("a", "id-Rome"), ("b", "id-Bob")]
    assert known.neighbours("id-Nobody", 4, 10) == []


def test_a_group_has_changed_beyond_a_budget_from_the_version_on_that_exceeds_it(known, story) -> None:
    first, second, third = (story.tell(fact(id_, "Ana", "likes", value=id_)) for id_ in "abc")
    story.tell(entity("Cy"), fact("d", "Cy", "likes", "Cy"), group="h")
    commit(known, story)

    assert [known.change_beyond("g", first, third, budget) for budget in (0, 1, 2)] == [first, second, None]
    assert known.change_beyond("g", second, INF, 1) == third
    assert known.change_beyond("g", second, INF, 2) is known.change_beyond("nobody", 0, INF, 0) is None


def test_handlers_see_the_facts_around_entities_those_of_each_side_by_their_start(known, story) -> None:
    with known.bulk():
        story.tell(
            fact("a", "Ana", "lives_in", "Rome", (3, None)),
            fact("b", "Bob", "knows", "Ana"),
            fact("c", "Ana", "age", value="1"),
            fact("d", "Ana", "visited", "Oslo", (0, 5)),
            fact("e", "Oslo", "near", "Rome"),
            fact("f", "Ana", "met", "Bob", (7, None)),
        )
        known.apply(story.records)
        known.answer_handlers()

        assert ids(known.facts_around(["id-Ana"], at(5, story.now), 9)) == ["c", "a", "b"]
        assert ids(known.facts_around(["id-Ana"], at(4, story.now), 2)) == ["c", "d", "b"]
        assert ids(known.facts_around(["id-Ana", "id-Bob"], at(5, story.now), 9)) == ["b", "c", "a", "b"]
        assert ids(known.facts_around(["id-Rome"], at(5, story.now), 0)) == []
        known.commit(len(story.records), b"x")


def test_neighbours_can_be_asked_for_while_a_bulk_load_goes_on(known, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome"))
    with known.bulk():
        known.apply(story.records)
        known.answer_handlers()

        assert known.neighbours("id-Rome", 1, 10) == [("a", "id-Ana")]
        known.commit(len(story.records), b"x")


def test_the_latest_facts_are_those_attested_last_as_it_was_known(store, story) -> None:
    a = story.tell(
        fact("x", "Ana", "likes", "Rome", said_at=1),
        fact("y", "Bob", "knows", "Ana", said_at=3),
        fact("z", "Ana", "likes", "Oslo", said_at=2),
        fact("same", "Ana", "is", "Ana", said_at=0),
        fact("other", "Bob", "likes", "Oslo", said_at=9),
    )
    story.tell(FactReinforced(fact_id="x", said_at=8, episode_id="again"), unasserted("y", (0, 4)))
    commit(store, story)

    assert ids(store.latest(["id-Ana"], at(2, a), 9)) == ["y", "z", "x", "same"]
    assert ids(store.latest(["id-Ana"], at(2, story.now), 9)) == ["x", "y", "z", "same"]
    assert ids(store.latest(["id-Ana"], at(7, story.now), 2)) == ["x", "z"]
    assert ids(store.latest(["id-Ana", "id-Bob"], at(2), 2)) == ["other", "x"]
    assert store.latest([], at(2), 9) == []


def test_a_moment_with_deeds_has_those_before_it_and_open_plans(store, story) -> None:
    before = story.tell(
        fact("visited", "Ana", "visited", "Rome", (2, 3), occurrence=True),
        fact("visits", "Ana", "visits", "Oslo", (7, 8), occurrence=True, planned=True),
        fact("lived", "Ana", "lived_in", "Rome", (1, 4)),
        fact("moves", "Ana", "moves_to", "Oslo", (6, None), planned=True),
        fact("waits", "Ana", "waits_in", "Oslo", (6, None)),
    )
    story.tell(FactReinforced(fact_id="visits", said_at=9, episode_id="told", granule=(7, 8)))
    commit(store, story)

    def shown(valid: int, known: int | None, *, deeds: bool = True):
        moment = Moment(valid, known, deeds=deeds)
        deeds_then = sorted((f.uuid, f.occurrence, f.planned) for f in store.latest(["id-Ana"], moment, 9))
        for found in (
            [f for f in facts_at(store, "g", moment) if f.is_asked(moment)],
            store.reach("g", "Ana", moment, None).outward,
            [f for facts in store.facts_numbered(range(4, 9), moment).values() for f in facts],
        ):
            assert sorted((f.uuid, f.occurrence, f.planned) for f in found) == deeds_then
        return deeds_then

    assert shown(5, before) == [("moves", False, True), ("visited", True, False), ("visits", True, True)]
    assert shown(5, None) == [("moves", False, True), ("visited", True, False)]
    assert shown(8, None) == [
        ("moves", False, True),
        ("visited", True, False),
        ("visits", True, False),
        ("waits", False, False),
    ]
    assert shown(2, before, deeds=False) == [("lived", False, False), ("visited", True, False)]


def test_what_a_withdrawn_episode_says_attests_a_fact_as_it_was_known_before(store, story) -> None:
    story.tell(fact("x", "Ana", "likes", "Rome", said_at=1), fact("y", "Ana", "likes", "Oslo", said_at=3))
    before = story.tell(FactReinforced(fact_id="x", said_at=8, episode_id="again"))
    after = story.tell(EpisodeWithdrawn(episode_id="again"))
    story.tell(FactReinforced(fact_id="y", said_at=0, episode_id="other"))
    last = story.tell(EpisodeWithdrawn(episode_id="said-y"))
    commit(store, story)

    def shown(known):
        latest = [(f.uuid, *f.episodes) for f in store.latest(["id-Ana"], at(2, known), 9)]
        for found in (
            facts_at(store, "g", at(2, known)),
            facts_during(store, "g", 2, 3, known),
            store.reach("g", "Ana", at(2, known), None).outward,
            store.reach("g", ["id-Rome", "id-Oslo"], at(2, known), None).inward,
            [f for facts in store.facts_numbered([4, 5], at(2, known)).values() for f in facts],
        ):
            assert sorted((f.uuid, *f.episodes) for f in found) == sorted(latest)
        return latest

    assert shown(before) == [("x", "said-x", "again"), ("y", "said-y")]
    assert shown(after) == [("y", "said-y"), ("x", "said-x")]
    assert shown(last) == [("x", "said-x"), ("y", "other")]
    assert shown(None) == [("x", "said-x", "again"), ("y", "said-y", "other")]
    assert store.fact("x").episodes == store.versions("x")[0].episodes == ("said-x", "again")


said_or_withdrawn = st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 5)) | st.sampled_from(
    "abcd"
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each history has a store of its own
@given(st.lists(said_or_withdrawn, min_size=1, max_size=8))
def test_what_attests_facts_is_that_of_the_plainest_way_to_work_it_out(stores, told) -> None:
    story, there, expected = Story(), set(), {}
    story.tell(entity("Ana"), entity("Bob"))
    for place, saying in enumerate(told):
        if isinstance(saying, str):
            event: Event = EpisodeWithdrawn(episode_id=saying)
        elif saying[1] in there:
            event = FactReinforced(fact_id=saying[1], said_at=saying[2], episode_id=saying[0])
        else:
            there.add(saying[1])
            event = fact(saying[1], "Ana", "knows", "Bob", said_at=saying[2], episode_id=saying[0])
        expected[story.tell(event)] = oracle.latest(told[: place + 1])
    with stores.writing(stores.fresh()) as store:
        commit(store, story)
        for known, latest in expected.items():
            found = store.latest(["id-Ana"], at(0, known), 9)
            assert [(f.uuid, *f.episodes) for f in found] == latest


# History.


def test_provenance_names_all_that_was_said_of_a_fact(store, story) -> None:
    story.tell(fact("old", "Ana", "lives_in", "Oslo"))
    a = story.tell(fact("f", "Ana", "lives_in", "Rome", corrects="old", relationship_id="rel", time_words="since"))
    story.tell(FactReinforced(fact_id="f", said_at=3, episode_id="again"))
    b = story.tell(ended("e", "Ana", "lives_in", "Rome", 9), unasserted("f", (0, 9), kind="ended", cause="e"))
    story.tell(ended("before", "Ana", "lives_in", "Rome", 0), ended("other", "Ana", "lives_in", "Oslo", 9))
    c = story.tell(retracted("r", "f"), unasserted("f", kind="retracted", cause="r"))
    commit(store, story)

    why = store.provenance("f")
    assert [s.episode_id for s in why.sources] == ["said-f", "again"]
    assert (why.sources[0].relationship_id, why.sources[0].recorded_at) == ("rel", a)
    assert (why.corrects, why.time_words) == ("old", "since")
    assert store.correcting(["f", "g", "unknown"]) == {"f": "old"}
    assert store.provenance("old").corrected_by == ("f",)
    assert [(e.uuid, e.at) for e in why.endings] == [("e", 9)]
    assert [(x.kind, x.statement, x.recorded_at, x.source.episode_id) for x in why.revisions] == [
        ("ended", "e", b, "said-e"),
        ("retracted", "r", c, "said-r"),
    ]
    assert [r.uuid for r in why.retractions] == ["r"]
    assert store.provenance("unknown") is None
    assert store.fact("unknown") is None
    assert store.versions("unknown") == []


def test_provenance_names_the_later_statements_of_the_same_that_were_not_retracted(store, story) -> None:
    told = story.tell(fact("f", "Ana", "lives_in", "Rome", (1, 9)), fact("other", "Ana", "lives_in", "Oslo"))
    again = story.tell(fact("again", "Ana", "lives_in", "Rome", (3, 9)), fact("age", "Ana", "age", "Rome"))
    story.tell(fact("wrong", "Ana", "lives_in", "Rome"), fact("last", "Ana", "lives_in", "Rome", (4, None)))
    story.tell(retracted("r", "wrong"), unasserted("wrong", kind="retracted", cause="r"))
    commit(store, story)

    repetitions = store.provenance("f").repetitions

    assert [(said.uuid, said.start) for said in repetitions] == [("again", 3), ("last", 4)]
    assert (repetitions[0].source.episode_id, repetitions[0].source.recorded_at) == ("said-again", again)
    assert [said.uuid for said in store.provenance("again").repetitions] == ["last"]
    assert store.provenance("last").repetitions == ()
    assert told < again


def test_provenance_has_what_counted_at_a_known_moment_whatever_was_retracted_since(store, story) -> None:
    story.tell(fact("f", "Ana", "lives_in", "Rome", (1, 9)))
    story.tell(fact("again", "Ana", "lives_in", "Rome", (3, 9)), fact("last", "Ana", "lives_in", "Rome", (4, 9)))
    a = story.tell(ended("e", "Ana", "lives_in", "Rome", 7), retracted("wrong", "f"))
    b = story.tell(retracted("r", "again"), retracted("re", "e"), retracted("rw", "wrong", "wrong", live=("f",)))
    c = story.tell(retracted("rr", "r", "r", live=("again",)))
    d = story.tell(retracted("last rr", "rr", "rr", "again", live=("r",)), group="g")
    story.tell(entity("Bob"), entity("Lima"), fact("x", "Bob", "likes", "Lima"), group="h")
    last = story.tell(retracted("rx", "x"), group="h")
    commit(store, story)

    def counting(known: int = INF) -> tuple[list[str], ...]:
        why = store.provenance("f", known)
        alive = ([one.uuid for one in said if not one.dead] for said in (why.endings, why.retractions))
        return [again.uuid for again in why.repetitions], *alive

    whole = (["again", "last"], ["e"], ["wrong"])
    assert counting(a) == counting(b - 1) == whole
    assert counting(b) == counting(c - 1) == (["last"], [], [])
    assert counting(c) == counting(d - 1) == (["again", "last"], [], [])
    assert counting(d) == counting(last) == counting() == (["last"], [], [])


def test_changes_come_in_the_order_of_messages_and_no_message_is_cut(store, story) -> None:
    story.tell(fact("a", "Ana", "age", value="1"), fact("b", "Ana", "age", value="2"))
    story.tell(unasserted("a"), unasserted("b", (0, 5)), fact("c", "Ana", "age", value="3"))
    commit(store, story)

    def seen(changes):
        return [(c.position, c.opened, c.fact.uuid) for c in changes]

    everything = seen(store.changes(-1, 100))
    assert everything == [
        (1, True, "a"),
        (1, True, "b"),
        (2, False, "a"),
        (2, False, "b"),
        (2, True, "b"),
        (2, True, "c"),
    ]
    assert seen(store.changes(-1, 1)) == everything[:2]
    assert seen(store.changes(1, 1)) == everything[2:]
    assert store.changes(2, 1) == []


def test_a_change_is_told_as_it_was_known_then_whatever_is_recorded_later(store, story) -> None:
    said = {"value": "9", "occurrence": True, "planned": True, "qualifiers": {"by": "Ana"}}
    story.tell(fact("x", "Ana", "visited", None, (0, 9), **said))
    story.tell(fact("y", "Ana", "likes", value="z"))
    again = FactReinforced(fact_id="x", said_at=2, episode_id="b", number=True, qualifiers={"by": "Ben"})
    story.tell(again, unasserted("x", (0, 5)))
    commit(store, story)

    def told():
        return [
            (c.opened, c.fact.value, dict(c.fact.qualifiers), c.fact.planned, c.fact.episodes, c.fact.expired_at)
            for c in store.changes(-1, 100)
            if c.fact.uuid == "x"
        ]

    first, after = (None, {"by": "Ana"}, True, ("said-x",), INF), (9, {"by": "Ben"}, False, ("said-x", "b"), story.now)
    assert told() == [(True, *first), (False, *after), (True, *after)]
    story.tell(FactReinforced(fact_id="x", said_at=3, episode_id="c", qualifiers={"page": 2}), unasserted("y"))
    commit(store, story)
    assert told() == [(True, *first), (False, *after), (True, *after)]
    assert [c.fact.expired_at for c in store.changes(-1, 100) if c.fact.uuid == "y"] == [INF, story.now]


def test_a_plan_that_is_told_later_does_not_make_a_plan_of_what_was_known_before(store, story) -> None:
    story.tell(fact("x", "Ana", "visited", "Rome", (0, 9), occurrence=True))
    gone = story.tell(EpisodeWithdrawn(episode_id="said-x"))
    story.tell(FactReinforced(fact_id="x", said_at=2, episode_id="b", planned=True))
    commit(store, story)

    assert [f.planned for f in facts_at(store, "g", at(2, story.now))] == [True]
    assert [f.planned for f in facts_at(store, "g", at(2, gone))] == [False]


# By number.


def test_words_find_facts_that_hold_at_the_moment_best_first(store, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome", sentence="Ana loves Rome and Rome"))
    story.tell(fact("b", "Ana", "lives_in", "Oslo", (0, 5), sentence="Ana was living in Rôme"))
    story.tell(entity("Cy"), fact("c", "Cy", "lives_in", "Cy", sentence="Rome"), group="h")
    commit(store, story)

    def found(query, moment, group="g"):
        return numbered(store, [n for n, _ in store.text(query, group, moment, 10)], moment)

    assert found("rome", at(1)) == ["a", "b"]
    assert found("ROME live", at(1)) == ["b", "a"]
    assert found("rome", at(9)) == ["a"]
    assert found("rome", at(1), None) == ["c", "a", "b"]
    assert found("rome", at(1, story.records[0].recorded_at)) == []
    assert found("", at(1)) == found("?!", at(1)) == found("rome", at(1), "nobody") == []
    scores = [score for _, score in store.text("rome", "g", at(1), 10)]
    assert scores == sorted(scores, reverse=True)
    assert [len(store.text("rome", None, at(1), limit)) for limit in (0, 1, 2)] == [0, 1, 2]


RELATIONS = st.lists(st.sampled_from(["lives_in", "likes", "age", "nothing"]), max_size=2)
TYPES = st.lists(st.sampled_from(["Person", "City", "Nothing"]), max_size=2)
GROUPS = st.lists(st.sampled_from(["g", "h", "nobody"]), max_size=3)
ENDS = st.none() | st.lists(st.sampled_from(["id-Ana", "id-Bob", "id-Rome", "id-Cy", "id-None"]), max_size=2)


@pytest.fixture
def filtered(store) -> BeliefStore:
    story = Story()
    story.tell(entity("Ana", "Person"), entity("Bob", "Person"), entity("Rome", "City"), entity("Oslo"))
    story.tell(
        fact("a", "Ana", "lives_in", "Rome"),
        fact("b", "Ana", "likes", "Bob", (0, 4)),
        fact("c", "Bob", "lives_in", "Oslo", (3, None)),
        fact("d", "Ana", "age", value="1"),
        fact("e", "Oslo", "likes", "Rome"),
    )
    story.tell(entity("Cy", "Person"), fact("f", "Cy", "likes", "Cy"), group="h")
    story.tell(unasserted("d", (0, 2)))
    commit(store, story)
    return store


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # nothing is written
@given(RELATIONS, TYPES, GROUPS, ENDS, st.sampled_from([None, 1, 3, 5]), st.sampled_from([None, 2, 9]))
def test_the_filters_of_a_search_leave_what_each_of_them_leaves(
    filtered, relations, types, groups, near, valid, known
) -> None:
    moment = at(valid, known and START + known * SECOND)
    scope = {"group_ids": groups} if groups else {"all_groups": True}
    query = ask(FactSearchQuery, {"query": "x", "relations": relations, "entity_types": types, **scope})
    kinds = {e.uuid: e.type for e in filtered.entities(None, None)}

    def passes(row: FactRow) -> bool:
        ends = {row.subject_uuid, row.object_uuid} - {None}
        return (
            (not relations or row.relation in relations)
            and (not types or any(kinds[end] in types for end in ends))
            and (not groups or row.group_id in groups)
            and (near is None or bool(ends & {*near}))
        )

    expected = sorted({row.number for row in facts_at(filtered, None, moment) if passes(row)})
    if relations or types or groups or near is not None:
        assert filtered.numbers(query, moment, near).tolist() == expected


def test_words_are_looked_for_among_some_facts_alone(filtered) -> None:
    everything = [n for n, _ in filtered.text("Ana", None, at(1), 10)]

    assert len(everything) == 3
    for number in everything:
        assert [n for n, _ in filtered.text("Ana", None, at(1), 1, np.array([number], np.int64))] == [number]
    assert filtered.text("Ana", "g", at(1), 10, np.array([], np.int64)) == []
    beyond = int(filtered.live(None, at(1))[-1]) + 1
    assert filtered.text("Ana", None, at(1), 10, np.array([beyond, beyond + 1], np.int64)) == []


def test_words_are_found_in_all_groups_also_where_few_of_all_facts_hold(store, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome", sentence="Rome"))
    story.tell(*(fact(f"over-{n}", "Ana", "visited", "Rome", (5, 9), sentence="Rome") for n in range(4)))
    story.tell(entity("Cy"), fact("c", "Cy", "lives_in", "Cy", sentence="Rome"), group="h")
    commit(store, story)

    for group, found in ((None, ["a", "c"]), ("g", ["a"]), ("h", ["c"])):
        assert numbered(store, [n for n, _ in store.text("rome", group, at(1), 9)], at(1)) == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # an empty store: nothing to start afresh
@given(st.text())
def test_no_text_is_a_wrong_query(store, query) -> None:
    assert store.text(query, "g", at(), 5) == []


def test_sentences_are_numbered_by_position_and_go_on_from_any_number(store, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome"), fact("b", "Ana", "likes", "Rome"))
    commit(store, story)

    assert list(store.sentences()) == [(4, "g", "Ana lives_in Rome"), (5, "g", "Ana likes Rome")]
    assert list(store.sentences(4)) == [(5, "g", "Ana likes Rome")]
    assert numbered(store, [5, 4, 99], at(1)) == ["b", "a"]
    assert store.facts_numbered([], at(1)) == {}


def test_what_is_live_follows_every_change(store, story, stores) -> None:
    with stores.reading() as other:
        assert other.live("g", at()).tolist() == []
        story.tell(fact("a", "Ana", "lives_in", "Rome"))
        commit(store, story)
        assert other.live("g", at(1)).tolist() == [4]
        story.tell(unasserted("a", (0, 5)), fact("b", "Ana", "likes", "Rome"))
        store.apply(story.records)
        assert other.live("g", at(9, story.now)).tolist() == [4]
        store.rollback()
        assert store.live("g", at(9, story.now)).tolist() == [4]
        commit(store, story)
        assert other.live("g", at(9, story.now)).tolist() == other.live(None, at(9, story.now)).tolist() == [6]
        assert other.live("g", at(9, story.now - 1)).tolist() == [4]
        story.tell(GroupErased())
        commit(store, story)
        assert other.live(None, at()).tolist() == []


# Erasure, and the whole.


def everything(story: Story, group: str, mark: str) -> None:
    """Tell one of each kind of event, with a mark in every text."""
    story.tell(
        episode(f"{mark}-e", 5),
        mention(f"{mark}-m", f"{mark}-e", f"{mark}name"),
        MessageParked(reason=f"{mark}reason"),
        entity(f"{mark}Ana", f"{mark}Type"),
        entity(f"{mark}Bob"),
        EntityDescribed(entity_id=f"id-{mark}Ana", alias=f"{mark}alias", episode_id=f"{mark}-e"),
        EntityUndescribed(entity_id=f"id-{mark}Ana", alias=f"{mark}alias", episode_id=f"{mark}-a"),
        EntityMerged(merge_id=f"{mark}-g", duplicate=f"id-{mark}Bob", into=f"id-{mark}Ana", reason=f"{mark}why"),
        fact(f"{mark}-f", f"{mark}Ana", f"{mark}likes", f"{mark}Bob", ref=f"{mark}ref"),
        fact(f"{mark}-h", f"{mark}Ana", f"{mark}likes", value=f"{mark}literal"),
        FactReinforced(fact_id=f"{mark}-f", said_at=3, episode_id=f"{mark}-e"),
        ended(f"{mark}-x", f"{mark}Ana", f"{mark}likes", f"{mark}Bob", 9),
        unasserted(f"{mark}-f", (0, 9), kind="ended", cause=f"{mark}-x"),
        ContradictionFlagged(contradiction_id=f"{mark}-c", earlier=f"{mark}-f", later=f"{mark}-h"),
        group=group,
    )


def test_an_erased_group_was_never_known_and_leaves_no_byte(store, stores) -> None:
    story = Story()
    everything(story, "kept", "kept")
    everything(story, "gone", "zxqv")
    commit(store, story)
    kept = facts_at(store, "kept", at())
    assert b"zxqv" in stores.stored()

    story.tell(GroupErased(), group="gone")
    commit(store, story)
    assert not isinstance(store, SqliteGraph) or store.vacuum()

    assert facts_at(store, "gone", at()) == store.text("zxqvAna", None, at(), 5) == store.entities("gone", None) == []
    assert facts_at(store, "kept", at()) == kept
    assert [n for n, _ in store.text("keptAna", None, at(), 5)] == [
        n for n, _ in store.text("keptAna", "kept", at(), 5)
    ]
    stored = stores.stored()
    assert b"zxqv" not in stored
    assert b"gone" not in stored


def test_an_erasure_reaches_every_table_whose_rows_are_of_a_group(known) -> None:
    tables = known._db.execute(
        "SELECT s.name FROM sqlite_schema s, pragma_table_info(s.name) c WHERE rootpage AND c.name = 'grp'"
    )

    assert {name for (name,) in tables} == {*schema.GROUPED}


def test_an_erased_group_can_be_told_anew(store) -> None:
    story = Story()
    everything(story, "g", "a")
    story.tell(GroupErased())
    commit(store, story)
    everything(story, "g", "a")
    commit(store, story)

    assert ids(facts_at(store, "g", at(1))) == ["a-f", "a-h"]


def test_the_digest_is_that_of_the_log_however_the_store_came_to_it(store, stores, known) -> None:
    story = Story()
    everything(story, "g", "a")
    everything(story, "h", "b")
    story.tell(GroupErased(), group="g")
    everything(story, "g", "c")
    commit(store, story)
    commit(known, story)

    unerased = [r for r in story.records if r.group != "g" or r.cause > 1]
    digests = set()
    for name, records, step in (("one", story.records, 1), ("seven", story.records, 7), ("later", unerased, 5)):
        with stores.writing(name) as other:
            for start in range(0, len(records), step):
                other.apply(records[start : start + step])
                other.commit(records[min(start + step, len(records)) - 1].position + 1, b"x")
            digests.add(other.digest())
    with stores.writing("bulk") as other:
        with other.bulk():
            commit(other, story)
        digests.add(other.digest())
        assert store.text("cAna", "g", at(), 5) == other.text("cAna", "g", at(), 5) != []
    assert digests == {store.digest(), known.digest()}


@pytest.mark.parametrize("left_out", range(14))
def test_the_digest_covers_every_kind_of_event(stores, left_out) -> None:
    story = Story()
    everything(story, "g", "a")
    needed = {"entity.introduced", "fact.asserted"}
    records = [r for r in story.records if r.place != left_out or r.event.type in needed]
    if len(records) == len(story.records):
        records = [
            r if r.place != left_out else r._replace(event=r.event.model_copy(update={"episode_id": "another"}))
            for r in records
        ]
    digests = []
    for name, told in (("whole", story.records), ("less", records)):
        with stores.writing(name) as other:
            other.apply(told)
            other.commit(len(story.records), b"x")
            digests.append(other.digest())
    assert digests[0] != digests[1]


def test_only_an_empty_store_is_filled_in_bulk(store, story) -> None:
    commit(store, story)

    with pytest.raises(PositionConflict), store.bulk():
        pass


def test_counts_are_of_what_is_there(store) -> None:
    story = Story()
    everything(story, "g", "a")
    commit(store, story)

    counted = store.counts()
    assert (counted["episodes"], counted["mentions"], counted["parked"], counted["entities"]) == (1, 1, 1, 2)
    assert (counted["facts"], counted["versions"], counted["open_versions"]) == (2, 2, 2)
    assert (counted["merges"], counted["contradictions"]) == (1, 1)


def test_a_question_sees_one_state_of_the_store_whatever_is_committed_while_it_is_answered(
    store, story, stores
) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome"))
    commit(store, story)

    class Doubting:
        """Asks the same twice, while a writer goes on."""

        def __init__(self, beliefs: BeliefStore) -> None:
            self._beliefs = beliefs

        @consistent_read
        def ask(self) -> tuple[list[str], list[str]]:
            first = ids(facts_at(self._beliefs, "g", at(1)))
            story.tell(fact("b", "Ana", "likes", "Rome"))
            commit(store, story)
            return first, ids(facts_at(self._beliefs, "g", at(1)))

    with stores.reading() as other:
        assert Doubting(other).ask() == (["a"], ["a"])
        assert ids(facts_at(other, "g", at(1))) == ["a", "b"]
        assert other.begin_read()
        assert not other.begin_read()
        other.end_read()


def test_what_is_known_so_far_is_what_is_believed_now(store, story) -> None:
    story.tell(fact("a", "Ana", "lives_in", "Rome", (-5, None)), fact("b", "Ana", "likes", "Rome"))
    story.tell(unasserted("b"), EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same"))
    commit(store, story)

    for head in (INF - 1, story.now):
        assert ids(facts_at(store, "g", at(1, head))) == ids(facts_at(store, "g", at(INF - 1, head))) == ["a"]
        assert store.live("g", at(1, head)).tolist() == [4]
        assert store.identity(["id-Ana"], head) == {"id-Ana", "id-Bob"}
        assert [link.known_to for link in store.links(["id-Ana"], head)] == [INF]
        assert [e.uuid for e in store.each_entity("g", head)] == ["id-Ana", "id-Rome", "id-Oslo", "id-Bob"]
        assert [link.uuid for link in store.each_link("g", head)] == ["m"]
        [found] = facts_at(store, "g", at(1, head))
        assert (found.known_to, found.valid_at, found.invalid_at) == (INF, -5, INF)


def test_a_step_reaches_who_is_meant_all_that_are_the_same_and_the_facts_of_both_directions(store, story) -> None:
    story.tell(
        fact("a", "Ana", "lives_in", "Rome"),
        fact("b", "Bob", "knows", "Oslo"),
        fact("c", "Oslo", "near", "Bob", (5, None)),
        fact("d", "Rome", "near", "Oslo"),
    )
    before = story.now
    story.tell(EntityMerged(merge_id="m", duplicate="id-Bob", into="id-Ana", reason="same"))
    commit(store, story)

    def reached(who, moment, limit=None, group="g"):
        found = store.reach(group, who, moment, limit)
        return sorted(found.entity_ids), ids(found.outward), ids(found.inward)

    both = ["id-Ana", "id-Bob"]
    assert reached("Ana", at(9)) == reached("id-Ana", at(9)) == reached(["id-Bob"], at(9)) == (both, ["a", "b"], ["c"])
    assert reached("Ana", at(1)) == (both, ["a", "b"], [])
    assert reached("Ana", at(9, before)) == (["id-Ana"], ["a"], [])
    assert reached("Ana", at(9), 1) == (both, ["a"], ["c"])
    assert reached("Ana", at(9), group="h") == ([], [], [])
    assert reached("nobody", at(9)) == reached([], at(9)) == ([], [], [])
