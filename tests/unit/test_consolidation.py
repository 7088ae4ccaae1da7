"""A pass of consolidation over what a history says: what it makes of a group, and what it leaves as it was."""

from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof_agents.consolidation.cycle import Consolidator, consolidator_of
from asof_agents.consolidation.partitions import partition_of
from asof_projections.model.rows import Moment
from asof_streams.consolidation import CommunityConfig, ConsolidationConfig
from asof_streams.errors import InvalidInput
from asof_streams.messages import ConsolidationRequest
from asof_streams.semantic import MemoryConsolidated
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
    *_, last = history.semantic.read()
    assert isinstance(last.event, MemoryConsolidated)
    return last.event


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


def test_what_was_known_before_a_pass_is_known_as_before_and_every_fact_holds_on(history):
    two_circles(history)
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


def test_a_phase_that_is_off_is_not_taken(history):
    use(history, ConsolidationConfig(enable_community_detection=False))
    two_circles(history)

    found = consolidate(history)

    assert (found.communities_detected, members(history)) == (0, [])


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
