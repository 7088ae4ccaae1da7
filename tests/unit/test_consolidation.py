"""A pass of consolidation over what a history says: what it makes of a group, and what it leaves as it was."""

from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof_agents.consolidation import communities
from asof_agents.consolidation.cycle import Consolidator, consolidator_of
from asof_agents.consolidation.partitions import Region, leiden, partition_of, propagate
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_projections.queries.consolidations import consolidated_of
from asof_streams.consolidation_config import CommunityConfig, ConsolidationConfig
from asof_streams.episodic import MessageParked
from asof_streams.errors import InvalidInput
from asof_streams.ids import derive, episode_id, scoped_id
from asof_streams.instants import INF, parse_moment
from asof_streams.messages import ConsolidationRequest, EntityStatement, IdentityStatement
from asof_streams.semantic import (
    CommunityJoined,
    CommunityLeft,
    MemoryConsolidated,
    MemoryDecayed,
    MemoryUnconsolidated,
)
from effort import tries
from histories import History, on
from unchecked import not_checked

FAR = on("2030")


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path)
    yield history
    history.close()


def consolidate(history, day="2024-06-01", group="g") -> MemoryConsolidated:
    history.send(day, ConsolidationRequest(group_id=group))
    return next(r.event for r in reversed(list(history.semantic.read())) if isinstance(r.event, MemoryConsolidated))


def use(history, config, partition=None) -> None:
    """Let the generation consolidate by a configuration, and by any partition."""
    [generation] = history.engine.generations
    by = consolidator_of(config)
    generation.consolidator = by if partition is None else Consolidator(by.config, partition, by.watch)


def members(history, known=FAR, group="g"):
    return sorted(sorted(e.name for e in c.members) for c in history.questions.communities(known, group))


def facts(history, known=FAR):
    return history.questions.facts(Moment(FAR, known))


def knows(history, day, subject, *others, group="g"):
    for other in others:
        history.tell(day, subject=subject, relation="knows", object=other, group_id=group)


def two_circles(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    knows(history, "2024-01-01", "Ben", "Cleo")
    knows(history, "2024-01-02", "Dan", "Eve", "Fay")
    knows(history, "2024-01-02", "Eve", "Fay")


def test_entities_that_facts_connect_form_communities(history):
    two_circles(history)

    found = consolidate(history)

    assert members(history) == [["Ana", "Ben", "Cleo"], ["Dan", "Eve", "Fay"]]
    assert (found.communities_detected, found.communities_changed_nodes, found.complete) == (2, 6, True)
    assert found.failed == ()


def test_a_second_pass_looks_at_what_changed_alone(history):
    two_circles(history)
    consolidate(history)

    again = consolidate(history, "2024-06-02")

    assert (again.communities_detected, again.communities_changed_nodes) == (0, 0)
    knows(history, "2024-06-03", "Gus", "Ana", "Ben")
    third = consolidate(history, "2024-06-04")
    assert members(history) == [["Ana", "Ben", "Cleo", "Gus"], ["Dan", "Eve", "Fay"]]
    assert (third.communities_detected, third.communities_changed_nodes) == (1, 1)


def test_a_pass_asks_of_the_group_of_its_request_alone(history):
    two_circles(history)
    knows(history, "2024-01-03", "Ana", "Ben", group="h")

    found = consolidate(history, group="h")

    assert found.communities_changed_nodes == 2
    assert members(history) == []
    assert members(history, group="h") == [["Ana", "Ben"]]


def undo(history, day="2024-06-05"):
    """Undo the last pass; return the events that the request caused."""
    [position] = history.messages.accept([ConsolidationRequest(group_id="g", undo=True)], clock=parse_moment(day))
    history.engine.ingest(next(history.messages.read(position)))
    history.engine.flush()
    return [r.event for r in history.semantic.read() if r.cause == position]


def test_undoing_a_pass_restores_the_communities_of_the_pass_before_and_parts_what_it_merged(history):
    two_circles(history)
    first = consolidate(history)
    before, facts_before = members(history), facts(history)
    twins(history)
    for one in ("Ana", "Ben", "Cleo"):
        knows(history, "2024-06-02", one, "Dan", "Eve", "Fay")
    held = facts(history)
    second = consolidate(history, "2024-06-03")
    assert (members(history) != before, links(history)) == (True, MERGED)
    after = members(history)

    undone = undo(history)

    assert undone[0] == MemoryUnconsolidated(consolidation_id=second.consolidation_id, until=first.until)
    [request] = {r.cause for r in history.semantic.read() if r.event == undone[0]}
    moved = [event for event in undone if isinstance(event, CommunityJoined | CommunityLeft)]
    assert {type(event) for event in moved} == {CommunityJoined, CommunityLeft}
    assert {event.episode_id for event in moved} == {derive("consolidation", "g", request)}
    assert (members(history), links(history), facts(history)) == (before, [], held)
    assert (members(history, on("2024-06-04")), links(history, on("2024-06-04"))) == (after, MERGED)
    assert undo(history, "2024-06-06")[0] == MemoryUnconsolidated(consolidation_id=first.consolidation_id)
    assert members(history) == []
    assert undo(history, "2024-06-07") == [MessageParked(reason="no consolidation of this group is left to undo")]
    assert len(held) > len(facts_before)


def came_to(history, day, **request):
    """Ask for a pass, or to undo one; return what it came to."""
    [position] = history.messages.accept([ConsolidationRequest(group_id="g", **request)], clock=parse_moment(day))
    history.engine.ingest(next(history.messages.read(position)))
    history.engine.flush()
    caused = [record.event for record in history.semantic.read() if record.cause == position]
    return consolidated_of(position, caused, history.beliefs)


def test_what_a_pass_came_to_is_told_by_names_and_so_is_what_undoing_it_came_to(history):
    two_circles(history)
    twins(history)

    made = came_to(history, "2024-06-01")
    undone = came_to(history, "2024-06-02", undo=True)
    nothing = came_to(history, "2024-06-03", undo=True)

    who = ["ACME Corp", "Acme corp.", "Ana", "Ben", "Cleo", "Dan", "Eve", "Fay"]
    [merge] = made.consolidation.merges
    assert (merge.duplicate, merge.into) == ("Acme corp.", "ACME Corp")
    assert sorted(change.entity for change in made.consolidation.changes) == who
    assert None not in {change.community_uuid for change in made.consolidation.changes}
    assert undone.undone.merges == (merge,)
    assert sorted((change.entity, change.community_uuid) for change in undone.undone.changes) == [
        (name, None) for name in who
    ]
    assert (made.undone, undone.consolidation) == (None, None)
    assert (nothing.consolidation, nothing.undone) == (None, None)


def test_the_pass_after_an_undoing_detects_communities_again_and_leaves_apart_what_was_parted(history):
    two_circles(history)
    twins(history)
    first = consolidate(history)
    undo(history)

    again = consolidate(history, "2024-06-06")

    assert again.communities_detected == first.communities_detected
    assert (again.begin, links(history)) == (None, [])
    assert undo(history, "2024-06-07")[0].consolidation_id == again.consolidation_id
    assert history.beliefs.consolidation_counts()["passes"] == 2


def test_what_changed_since_a_pass_stays_as_it_is_when_the_pass_is_undone(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    twins(history)
    consolidate(history)
    history.send("2024-06-02", IdentityStatement(group_id="g", op="split", entity="Acme corp.", into="ACME Corp"))
    history.send("2024-06-02", IdentityStatement(group_id="g", op="merge", entity="Acme corp.", into="ACME Corp"))
    history.say("2024-06-03", "Dan -knows-> Ana", update_communities=True)

    undo(history)

    assert links(history) == [("Acme corp.", "ACME Corp", "stated")]
    assert members(history) == [["Dan"]]


def test_a_count_of_messages_begins_anew_with_an_undoing(history):
    use(history, ConsolidationConfig(trigger_interval=3))
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo", "Dan")
    undo(history, "2024-01-02")
    knows(history, "2024-01-03", "Ana", "Eve", "Fay")

    assert len(passes(history)) == 1
    knows(history, "2024-01-04", "Ana", "Gus")
    assert [r.recorded_at for r in passes(history)][1:] == [on("2024-01-04")]


def test_results_name_what_they_rest_on(history):
    knows(history, "2024-01-01", "Ana", "Ben")
    consolidate(history)
    history.tell("2024-06-02", op="end", subject="Ana", relation="knows", object="Ben")
    consolidate(history, "2024-06-03")
    first, second = (r.event for r in passes(history))

    formed, *left = (r.event for r in history.semantic.read() if r.event.type.startswith("community."))
    assert formed.episode_id == first.consolidation_id
    assert [event.episode_id for event in left] == [second.consolidation_id] * 2
    decayed = [r.event.consolidation_id for r in history.semantic.read() if isinstance(r.event, MemoryDecayed)]
    assert decayed == [first.consolidation_id, second.consolidation_id]
    assert (first.begin, second.begin) == (None, first.until)


def test_an_entity_that_a_withdrawal_leaves_without_a_fact_leaves_its_community_at_once(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    knows(history, "2024-01-02", "Dan", "Ana")
    consolidate(history)

    history.withdraw("2024-06-02", 2)

    assert members(history) == [["Ana", "Ben", "Cleo"]]
    assert members(history, on("2024-06-01")) == [["Ana", "Ben", "Cleo", "Dan"]]
    assert undo(history)[0].type == "memory.unconsolidated"
    assert members(history) == []


def test_who_was_only_spoken_of_in_a_withdrawn_message_leaves_by_the_episode_of_the_withdrawal(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    knows(history, "2024-01-02", "Ana", "Dan")
    consolidate(history)

    history.withdraw("2024-06-02", 2)

    assert members(history) == [["Ana", "Ben", "Cleo"]]
    [left] = [r for r in history.semantic.read() if isinstance(r.event, CommunityLeft)]
    assert left.event.episode_id == episode_id("g", left.cause)


def test_a_literal_that_holds_again_keeps_nobody_in_a_community(history):
    history.tell("2024-01-01", relation="lives_in", object=41, valid_at="2020")
    history.say("2024-01-02", "Ana -lives_in-> Rome")
    consolidate(history)
    assert members(history) == [["Ana", "Rome"]]

    history.withdraw("2024-06-02", 1)

    assert [fact.object for fact in history.questions.facts(Moment(on("2025"), on("2025")))] == ["41"]
    assert members(history) == []


def test_the_results_of_a_group_that_is_erased_are_gone_with_it(history):
    two_circles(history)
    twins(history)
    knows(history, "2024-01-03", "Ana", "Ben", group="h")
    for group in ("g", "h"):
        consolidate(history, group=group)

    history.forget("2024-06-02")

    assert (members(history), links(history)) == ([], [])
    assert history.beliefs.consolidation_counts()["passes"] == 1
    assert members(history, group="h") == [["Ana", "Ben"]]
    assert undo(history) == [MessageParked(reason="no consolidation of this group is left to undo")]


def test_what_was_known_before_a_pass_is_known_as_before_and_every_fact_holds_on(history):
    two_circles(history)
    twins(history)
    known = on("2024-05-01")
    before = (
        members(history, known),
        facts(history, known),
        facts(history),
    )

    consolidate(history)

    assert (members(history, known), facts(history, known)) == before[:2]
    assert facts(history) == before[2]


def test_an_entity_that_no_fact_connects_any_longer_leaves_its_community(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    history.tell("2024-01-02", subject="Dan", relation="knows", object="Ana", ref="dan")
    consolidate(history)
    history.tell("2024-06-02", op="retract", ref="dan", subject=None)

    found = consolidate(history, "2024-06-03")

    assert members(history) == [["Ana", "Ben", "Cleo"]]
    assert found.communities_changed_nodes == 1
    assert members(history, on("2024-06-02") - 1) == [["Ana", "Ben", "Cleo", "Dan"]]


def test_two_communities_that_come_to_be_one_go_on_as_one_of_them(history):
    two_circles(history)
    consolidate(history)
    before = {c.uuid for c in history.questions.communities(FAR, "g")}
    for one in ("Ana", "Ben", "Cleo"):
        knows(history, "2024-06-02", one, "Dan", "Eve", "Fay")

    consolidate(history, "2024-06-03")

    [community] = history.questions.communities(FAR, "g")
    assert community.uuid in before
    assert len(community.members) == 6


def test_a_budget_that_is_used_up_leaves_the_rest_to_the_next_pass(history):
    use(history, ConsolidationConfig(budget=3))
    two_circles(history)

    first, second = consolidate(history), consolidate(history, "2024-06-02")

    assert (first.complete, second.complete) == (False, True)
    assert first.until < second.until == on("2024-06-02")
    assert members(history) == [["Ana", "Ben", "Cleo"], ["Dan", "Eve", "Fay"]]


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([], id="nothing"),
        pytest.param([10**9] * 6, id="no label of this region"),
        pytest.param([6] * 6, id="one beyond the last label"),
        pytest.param([-1] * 6, id="below all labels"),
        pytest.param(["Ana"] * 6, id="no numbers"),
        pytest.param([True] * 6, id="truths"),
        pytest.param(None, id="not even a list"),
    ],
)
def test_a_partition_that_is_none_makes_its_phase_fail_and_nothing_else_change(history, labels):
    two_circles(history)
    use(history, ConsolidationConfig(), lambda _: labels)
    before = facts(history)

    found = consolidate(history)

    assert found.failed == ("community_detection",)
    assert (members(history), facts(history)) == ([], before)


def twins(history):
    """State facts of two entities that are spelled apart, and no more."""
    knows(history, "2024-01-03", "ACME Corp", "Ana")
    knows(history, "2024-01-04", "Acme corp.", "Ben")


def links(history, known=None):
    every = [e.uuid for e in history.beliefs.entities("g", None)]
    believed = [link for link in history.beliefs.links(every, known) if link.known_to == INF]
    return sorted(
        (history.beliefs.entity(link.duplicate).name, history.beliefs.entity(link.into).name, link.reason)
        for link in believed
    )


MERGED = [("Acme corp.", "ACME Corp", "consolidated")]


def test_entities_of_one_normalised_name_and_type_become_one_and_the_first_introduced_wins(history):
    twins(history)

    found = consolidate(history)

    assert links(history) == MERGED
    assert (found.entity_duplicates_found, found.entity_merges_performed) == (1, 1)
    assert consolidate(history, "2024-06-02").entity_duplicates_found == 0


def test_a_merge_ends_no_fact_and_joins_no_slot_and_a_split_restores_all_for_good(history):
    history.tell("2024-01-03", subject="ACME Corp", relation="lives_in", object="Oslo")
    history.tell("2024-01-04", subject="Acme corp.", relation="lives_in", object="Rome")
    before, digest = facts(history), history.questions.entities(FAR, "g")

    consolidate(history)
    assert facts(history) == before
    merged = links(history)
    split = {"group_id": "g", "op": "split", "entity": "Acme corp.", "into": "ACME Corp"}
    history.send("2024-06-02", IdentityStatement(**split))
    history.tell("2024-06-03", subject="Acme corp.", relation="knows", object="Ana")
    again = consolidate(history, "2024-06-04")

    assert merged == MERGED
    assert links(history) == []
    assert (again.entity_duplicates_found, again.entity_merges_performed) == (1, 0)
    assert history.questions.entities(FAR, "g")[: len(digest)] == digest


def test_a_merge_falls_with_the_episode_that_introduced_one_of_its_entities_and_not_with_others(history):
    twins(history)
    for minute in range(3):
        knows(history, f"2024-02-0{minute + 1}", "Zoe", f"Zed{minute}")
    consolidate(history)

    history.withdraw("2024-06-02", 3)
    assert links(history) == MERGED
    history.withdraw("2024-06-03", 1)
    assert links(history) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"subject": "The Who"}, {"subject": "WHO"}, id="names below the threshold"),
        pytest.param(
            {"subject": "Jazz", "subject_type": "Event"}, {"subject": "jazz", "subject_type": "Event"}, id="events"
        ),
        pytest.param(
            {"subject": "Bank", "subject_type": "Place"}, {"subject": "bank", "subject_type": "Thing"}, id="two types"
        ),
    ],
)
def test_what_is_not_one_thing_is_not_merged(history, one, other):
    for day, who in (("2024-01-01", one), ("2024-01-02", other)):
        history.tell(day, relation="knows", object="Ana", **who)

    found = consolidate(history)

    assert (links(history), found.entity_merges_performed) == ([], 0)


def test_two_entities_under_ids_of_their_producers_own_are_two(history):
    for number, name in enumerate(("John Smith", "john smith")):
        stated = EntityStatement(group_id="g", entity_id=scoped_id("g", f"staff-{number}"), name=name)
        history.send("2024-01-01", stated)
        knows(history, "2024-01-02", name, "Ana")

    found = consolidate(history)

    assert (found.entity_duplicates_found, found.entity_merges_performed, links(history)) == (1, 0, [])


def test_decay_records_the_half_life_and_how_many_faded_and_stores_no_factor(history):
    use(history, ConsolidationConfig(decay_halflife_secs=1_000_000))  # below .99 after 14,500 seconds: four hours
    knows(history, "2024-01-01", "Ana", "Ben")
    knows(history, "2024-06-01", "Cleo", "Dan")

    found = consolidate(history, "2024-06-01T03:00:00Z")

    [decayed] = [r.event for r in history.semantic.read() if isinstance(r.event, MemoryDecayed)]
    assert (decayed.half_life_secs, decayed.nodes) == (1_000_000, 2)
    assert found.nodes_decayed == 2
    assert consolidate(history, "2024-06-01T05:00:00Z").nodes_decayed == 4


@pytest.mark.parametrize("failing", ["changed_entities", "entities_keyed", "introduced_before"])
def test_a_phase_that_fails_stops_no_other_and_is_a_warning(history, monkeypatch, caplog, failing):
    two_circles(history)
    twins(history)

    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(history.beliefs, failing, fail)
    found = consolidate(history)

    expected = {
        "changed_entities": ("community_detection", "entity_merge"),
        "entities_keyed": ("entity_merge",),
        "introduced_before": ("decay",),
    }
    assert found.failed == expected[failing]
    said = [record.getMessage() for record in caplog.records if record.name == "asof_agents.parking"]
    assert [text.partition(": ")[2] for text in said] == [f"consolidation failed in {', '.join(expected[failing])}"]
    assert bool(found.communities_detected) == (failing != "changed_entities")
    assert bool(links(history)) == (failing == "introduced_before")
    assert bool(found.nodes_decayed) == (failing != "introduced_before")


def passes(history):
    return [r for r in history.semantic.read() if isinstance(r.event, MemoryConsolidated)]


def test_a_count_of_messages_of_a_group_causes_a_pass_at_the_time_of_that_message(history):
    use(history, ConsolidationConfig(trigger_interval=3))
    for day in range(1, 8):
        knows(history, f"2024-01-{day:02}", "Ana", f"Ben{day}")
        knows(history, f"2024-01-{day:02}", "Ana", "Ben", group="h")

    of_g = [r for r in passes(history) if r.group == "g"]
    assert [r.recorded_at for r in of_g] == [on("2024-01-03"), on("2024-01-06")]
    assert [r.event.until for r in of_g] == [on("2024-01-03"), on("2024-01-06")]
    assert members(history, on("2024-01-04")) == [["Ana", "Ben1", "Ben2"]]


def test_a_pass_that_somebody_asks_for_begins_the_count_anew(history):
    use(history, ConsolidationConfig(trigger_interval=3))
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo")
    consolidate(history, "2024-01-02")
    knows(history, "2024-01-03", "Ana", "Dan", "Eve")
    assert len(passes(history)) == 1
    knows(history, "2024-01-04", "Ana", "Fay")

    assert [r.recorded_at for r in passes(history)][1:] == [on("2024-01-04")]


def test_by_default_no_count_causes_a_pass(history):
    for day in range(1, 8):
        knows(history, f"2024-01-{day:02}", "Ana", f"Ben{day}")

    assert passes(history) == []


def test_a_phase_that_is_off_is_not_taken(history):
    use(history, ConsolidationConfig(enable_community_detection=False, enable_entity_merge=False, enable_decay=False))
    two_circles(history)
    twins(history)

    found = consolidate(history)

    assert (found.communities_detected, members(history), links(history)) == (0, [], [])
    assert not [r for r in history.semantic.read() if isinstance(r.event, MemoryDecayed)]


@given(labels=st.lists(st.integers(0, 11), min_size=6, max_size=6))
@settings(max_examples=tries(10, nightly=200))
def test_whatever_a_partition_says_no_fact_and_nothing_known_before_changes(tmp_path_factory, labels):
    history = History(tmp_path_factory.mktemp("any"))
    two_circles(history)
    consolidate(history)
    knows(history, "2024-06-02", "Gus", "Ana", "Dan")
    known = on("2024-06-03")
    before = (members(history, known), facts(history, known))
    use(history, ConsolidationConfig(), lambda region: (labels * len(region.labels))[: len(region.labels)])

    consolidate(history, "2024-06-04")

    assert (members(history, known), facts(history, known)) == before
    assert facts(history) == before[1]
    history.close()


def test_a_rebuild_of_the_graph_and_of_the_log_gives_the_same(history, tmp_path):
    two_circles(history)
    consolidate(history)
    knows(history, "2024-06-02", "Gus", "Ana", "Ben")
    history.tell("2024-06-03", op="end", subject="Gus", relation="knows", object="Ana")
    consolidate(history, "2024-06-04")
    undo(history)

    replay = History(tmp_path / "again" if (tmp_path / "again").mkdir() is None else tmp_path)
    for record in history.messages.read():
        replay.send_at(record.recorded_at, record.event)

    assert [r.event for r in replay.semantic.read()] == [r.event for r in history.semantic.read()]
    assert replay.beliefs.digest() == history.beliefs.digest()
    replay.close()


def test_leiden_finds_communities_and_goes_on_from_them(history):
    config = ConsolidationConfig(community_config=CommunityConfig(algorithm="leiden"))
    if find_spec("graspologic_native") is None:
        not_checked("graspologic-native is not installed")
    use(history, config, partition_of(config.community_config))
    two_circles(history)
    consolidate(history)
    knows(history, "2024-06-02", "Gus", "Ana", "Ben")
    consolidate(history, "2024-06-03")

    assert members(history) == [["Ana", "Ben", "Cleo", "Gus"], ["Dan", "Eve", "Fay"]]


def test_where_leiden_is_not_installed_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("asof_agents.consolidation.partitions.find_spec", lambda _: None)

    with pytest.raises(InvalidInput, match="leiden"):
        partition_of(CommunityConfig(algorithm="leiden"))


def test_every_parameter_has_the_default_of_the_specification_but_for_the_count():
    config = ConsolidationConfig()

    assert (config.enable_community_detection, config.enable_entity_merge, config.enable_decay) == (True, True, True)
    assert (config.decay_halflife_secs, config.entity_merge_threshold) == (2_592_000, 0.8)
    assert (config.trigger_interval, config.community_config) == (0, CommunityConfig())


def test_a_threshold_decides_which_names_are_alike(history):
    use(history, ConsolidationConfig(entity_merge_threshold=0.5))
    for day, name in (("2024-01-01", "The Who"), ("2024-01-02", "WHO")):
        history.tell(day, subject=name, relation="knows", object="Ana")

    consolidate(history)

    assert links(history) == [("WHO", "The Who", "consolidated")]


def test_each_phase_is_measured_from_outside_once_and_in_its_order(history):
    measured = []

    @contextmanager
    def watch(phase):
        measured.append(phase)
        yield

    [generation] = history.engine.generations
    generation.consolidator = consolidator_of(None, watch)
    consolidate(history)

    assert measured == ["total", "community_detection", "entity_merge", "decay"]


def test_a_pass_that_is_interrupted_leaves_nothing_and_is_made_whole_the_next_time(history):
    two_circles(history)
    twins(history)
    [position] = history.messages.accept([ConsolidationRequest(group_id="g")], clock=on("2024-06-01"))
    [record] = history.messages.read(position)
    with SqliteGraph(history.beliefs.path, "semantic.main") as reader:
        history.engine.ingest(record)
        history.engine.roll_back()
        assert passes(history) == []

        history.engine.ingest(record)
        assert list(reader.communities("g", None)) == []
        history.engine.flush()
        assert len(reader.communities("g", None)) == 2

    assert len(passes(history)) == 1
    assert links(history) == MERGED


def test_a_pass_costs_what_changed_and_not_what_there_is(history, monkeypatch):
    for circle in range(20):
        knows(history, "2024-01-01", f"Ana{circle}", *(f"Ben{circle}x{number}" for number in range(5)))
    consolidate(history)
    asked = []
    neighbours = history.beliefs.neighbours

    def noted(entity, *of):
        asked.append(entity)
        return neighbours(entity, *of)

    monkeypatch.setattr(history.beliefs, "neighbours", noted)
    knows(history, "2024-06-02", "Ana7", "Zoe")

    consolidate(history, "2024-06-03")

    assert len(asked) == 7


@pytest.mark.parametrize("larger", [("Ana", "Ben", "Cleo", "Gus"), ("Dan", "Eve", "Fay", "Gus")])
def test_of_two_communities_that_come_to_be_one_that_of_most_members_goes_on(history, larger):
    two_circles(history)
    knows(history, "2024-01-03", "Gus", *larger[:3])
    consolidate(history)
    before = {c.uuid: sorted(e.name for e in c.members) for c in history.questions.communities(FAR, "g")}
    knows(history, "2024-06-02", "Ana", "Dan")

    use(history, ConsolidationConfig(), lambda region: [region.communities] * len(region.labels))
    consolidate(history, "2024-06-03")

    [one] = history.questions.communities(FAR, "g")
    assert before[one.uuid] == [*larger]


def test_a_node_without_edges_keeps_a_label_of_its_own():
    region = Region(2, [2, 3, 4], [[1], [0], []], [{}, {}, {}])

    assert propagate(region, 10) == [3, 3, 4]
    if find_spec("graspologic_native") is None:
        not_checked("Leiden: graspologic-native is not installed")
    assert leiden(region, CommunityConfig(algorithm="leiden")) == [2, 2, 4]


def seen_by_partition(history, day, labels=None) -> Region:
    """Make a pass, and return the region that its partition was given."""
    seen = []

    def partition(region):
        seen.append(region)
        return region.labels if labels is None else labels(region)

    use(history, ConsolidationConfig(), partition)
    assert consolidate(history, day).failed == ()
    return seen[-1]


def test_a_community_of_whom_nothing_changed_draws_those_who_know_its_members(history):
    two_circles(history)
    consolidate(history)
    knows(history, "2024-06-02", "Cleo", "Dan")
    seen_by_partition(history, "2024-06-03")
    knows(history, "2024-06-04", "Zoe", "Cleo")

    region = seen_by_partition(history, "2024-06-05")

    assert (region.communities, len(region.labels)) == (2, 4)
    [dans] = {0, 1} - set(region.labels)
    assert sorted(map(dict, region.around), key=len) == [{}, {}, {}, {dans: 1}]


def test_neighbours_who_are_in_no_community_draw_nobody(history):
    knows(history, "2024-01-01", "Ana", "Ben")
    seen_by_partition(history, "2024-06-01")  # each stays alone
    knows(history, "2024-06-02", "Zoe", "Ana")

    assert seen_by_partition(history, "2024-06-03").around == [{}, {}]


def test_the_larger_part_of_a_community_that_parts_goes_on_as_it(history):
    for one, *others in (("Ana", "Ben"), ("Cleo", "Dan", "Eve")):
        knows(history, "2024-01-01", one, *others)
    knows(history, "2024-01-02", "Ana", "Cleo")
    first = seen_by_partition(history, "2024-06-01", lambda region: [region.communities] * len(region.labels))
    [before] = history.questions.communities(FAR, "g")
    assert len(before.members) == len(first.labels) == 5
    knows(history, "2024-06-02", "Ana", "Dan")

    def parts(region):
        of_two = [place for place, near in enumerate(region.near) if len(near) == 1]
        pair = {min(of_two), *region.near[min(of_two)]}
        return [region.communities + (place not in pair) for place in range(len(region.labels))]

    seen_by_partition(history, "2024-06-03", parts)

    after = {len(c.members): c.uuid for c in history.questions.communities(FAR, "g")}
    assert sorted(after) == [2, 3]
    assert after[3] == before.uuid != after[2]


@pytest.mark.parametrize("label", [0, 1])
def test_whom_a_partition_gives_the_label_of_a_community_that_community_goes_on(history, label):
    two_circles(history)
    knows(history, "2024-01-03", "Gus", "Ana", "Ben", "Cleo")
    consolidate(history)
    before = sorted(c.uuid for c in history.questions.communities(FAR, "g"))
    knows(history, "2024-06-02", "Ana", "Dan")

    seen_by_partition(history, "2024-06-03", lambda region: [label] * len(region.labels))

    [one] = history.questions.communities(FAR, "g")
    assert (one.uuid, len(one.members)) == (before[label], 7)


@pytest.mark.parametrize("larger", ["Ana", "Dan"])
@pytest.mark.parametrize(("room", "moving"), [(2, 3), (3, 5), (6, 5), (7, 8)])
def test_as_many_members_of_the_smallest_communities_may_move_as_there_is_room_for(
    history, monkeypatch, larger, room, moving
):
    two_circles(history)
    knows(history, "2024-01-03", "Gus", larger)
    consolidate(history)
    monkeypatch.setattr(communities, "_BESIDE", room)
    knows(history, "2024-06-02", "Zoe", "Ana", "Dan")

    assert len(seen_by_partition(history, "2024-06-03").labels) == moving


def test_of_an_entity_with_many_facts_every_neighbour_that_looks_at_it_is_one(history, monkeypatch):
    monkeypatch.setattr(communities, "_LOOKED_AT", 2)
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo", "Dan", "Eve")

    region = seen_by_partition(history, "2024-06-01")

    assert sorted(len(near) for near in region.near) == [1, 1, 1, 1, 4]


def test_a_community_is_called_by_three_of_its_members(history):
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo", "Dan")

    consolidate(history)

    [community] = history.questions.communities(FAR, "g")
    names = community.name.split(", ")
    assert len(set(names)) == 3
    assert {*names} < {e.name for e in community.members}


def test_a_community_of_more_than_one_event_lists_has_all_its_members(history, monkeypatch):
    monkeypatch.setattr(communities, "_LISTED", 2)
    knows(history, "2024-01-01", "Ana", "Ben", "Cleo", "Dan", "Eve")

    found = consolidate(history)

    assert members(history) == [["Ana", "Ben", "Cleo", "Dan", "Eve"]]
    assert found.communities_changed_nodes == 5


def test_passes_go_on_where_one_message_changed_more_than_their_budget(history):
    use(history, ConsolidationConfig(budget=1))
    history.tell("2024-01-01", relation="lives_in", object="Oslo", valid_at="2020")
    history.tell("2024-01-02", relation="lives_in", object="Rome", valid_at="2022")  # and Oslo until then

    found = [consolidate(history, f"2024-06-0{day}") for day in range(1, 4)]

    assert [each.complete for each in found] == [False, False, True]
    assert members(history) == [["Ana", "Rome"]]


def test_a_pass_that_the_disk_fails_is_none_and_is_made_again(history):
    two_circles(history)
    [position] = history.messages.accept([ConsolidationRequest(group_id="g")], clock=on("2024-06-01"))
    [record] = history.messages.read(position)

    def full(_region):
        raise OSError("no space left on device")

    use(history, ConsolidationConfig(), full)
    with pytest.raises(OSError, match="no space"):
        history.engine.ingest(record)
    history.engine.roll_back()
    assert passes(history) == []

    use(history, ConsolidationConfig())
    history.engine.ingest(record)
    history.engine.flush()
    assert members(history) == [["Ana", "Ben", "Cleo"], ["Dan", "Eve", "Fay"]]


def test_entities_of_one_type_are_merged_too(history):
    for day, name in (("2024-01-01", "ACME Corp"), ("2024-01-02", "Acme corp.")):
        history.tell(day, subject=name, subject_type="Organization", relation="knows", object="Ana")

    consolidate(history)

    assert links(history) == MERGED


def test_an_entity_of_a_producers_own_id_is_merged_with_its_namesake_that_has_none(history):
    knows(history, "2024-01-01", "ACME Corp", "Ana")
    stated = EntityStatement(group_id="g", entity_id=scoped_id("g", "staff-1"), name="Acme corp.")
    history.send("2024-01-02", stated)
    knows(history, "2024-01-03", "Acme corp.", "Ana")

    consolidate(history)

    assert links(history) == MERGED


def test_labels_spread_until_no_node_moves():
    region = Region(1, [1, 2], [[1], [0]], [{}, {0: 2}])  # the first node follows the second to its new community

    assert (propagate(region, 1), propagate(region, 10)) == ([2, 0], [0, 0])


@pytest.mark.parametrize(
    ("region", "labels"),
    [
        pytest.param(Region(2, [2], [[]], [{0: 1, 1: 2}]), [1], id="that of most neighbours"),
        pytest.param(Region(2, [2, 3], [[1], [0]], [{1: 1}, {}]), [1, 1], id="by a neighbour's neighbour"),
        pytest.param(
            Region(3, [3, 4], [[], []], [{0: 1, 2: 2}, {}]), [2, 4], id="of several that are one the one of most edges"
        ),
        pytest.param(
            Region(2, [2, 3], [[1], [0]], [{0: 1, 1: 1}, {1: 2}]), [0, 1], id="a neighbour outside weighs as one inside"
        ),
    ],
)
def test_leiden_draws_nodes_into_the_communities_of_their_neighbours(region, labels):
    if find_spec("graspologic_native") is None:
        not_checked("graspologic-native is not installed")

    assert leiden(region, CommunityConfig(algorithm="leiden")) == labels
