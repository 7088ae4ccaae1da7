"""Communities, where messages ask for them: who goes where, who stays, and what was so before."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from asking import time
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_projections.projector import rebuild
from effort import tries
from histories import History, on

FAR = on("2100")


@pytest.fixture
def history(tmp_path):
    opened = History(tmp_path)
    yield opened
    opened.close()


def asked(history, day, content, **more):
    history.say(f"2024-01-{day:02}", content, update_communities=True, **more)


def members(history, known=FAR, group="g"):
    return [{e.name for e in c.members} for c in history.questions.communities(known, group)]


def log(history):
    return history.engine.generations[0].layer.log.read()


def kinds(history):
    return [r.event.type for r in log(history)]


def test_where_nobody_asks_for_communities_there_are_none(history):
    history.say("2024-01-01", "Ana -knows-> Ben")
    history.say("2024-01-02", "Ben -knows-> Cleo")

    assert history.questions.communities(FAR) == []
    assert not [kind for kind in kinds(history) if kind.startswith("community")]


def test_an_entity_and_its_neighbours_become_a_community_named_after_those_it_begins_with(history):
    asked(history, 1, "Ana -knows-> Ben")

    [community] = history.questions.communities(FAR, "g")
    assert ([e.name for e in community.members], community.name) == (["Ana", "Ben"], "Ana, Ben")
    assert community.created_at == time(on("2024-01-01"))
    assert kinds(history)[-1] == "community.formed"


def test_the_name_of_a_community_has_three_of_its_members(history):
    for day, friend in enumerate(("Ben", "Cleo", "Dan"), 1):
        history.say(f"2024-01-{day:02}", f"Ana -knows-> {friend}")
    asked(history, 4, "Ana -knows-> Eve")

    [community] = history.questions.communities(FAR, "g")
    assert len(community.members) == 5
    assert len(community.name.split(", ")) == 3


def test_who_is_met_later_joins_the_community_of_the_neighbours(history):
    asked(history, 1, "Ana -knows-> Ben")
    asked(history, 2, "Cleo -knows-> Ben")

    assert members(history) == [{"Ana", "Ben", "Cleo"}]
    assert members(history, known=on("2024-01-01")) == [{"Ana", "Ben"}]
    assert members(history, known=on("2023")) == []
    assert kinds(history)[-1] == "community.joined"


def test_what_was_said_before_communities_were_asked_for_counts(history):
    history.say("2024-01-01", "Ana -knows-> Ben")
    history.say("2024-01-02", "Ana -knows-> Cleo")
    asked(history, 3, "Ana -works_at-> Acme")

    assert members(history) == [{"Ana", "Ben", "Cleo", "Acme"}]


def two(history):
    """Two communities: Ana, Ben and Cleo; Dan, Eve and Fred."""
    for day, said in enumerate(("Ana -knows-> Ben", "Ana -knows-> Cleo", "Dan -knows-> Eve", "Dan -knows-> Fred"), 1):
        asked(history, day, said)
    assert members(history) == [{"Ana", "Ben", "Cleo"}, {"Dan", "Eve", "Fred"}]


def test_an_entity_goes_where_most_of_its_neighbours_are_and_leaves_where_it_was(history):
    two(history)
    for day, friend in enumerate(("Dan", "Eve"), 5):
        asked(history, day, f"Cleo -knows-> {friend}")

    assert members(history) == [{"Ana", "Ben"}, {"Dan", "Eve", "Fred", "Cleo"}]
    assert members(history, known=on("2024-01-05")) == [{"Ana", "Ben", "Cleo"}, {"Dan", "Eve", "Fred"}]


def test_between_communities_with_as_many_neighbours_an_entity_stays(history):
    two(history)
    asked(history, 5, "Ben -knows-> Eve")

    assert members(history) == [{"Ana", "Ben", "Cleo"}, {"Dan", "Eve", "Fred"}]


def test_who_is_new_between_two_communities_goes_to_the_one_with_the_smallest_id(history):
    two(history)
    history.say("2024-01-05", "Gus -knows-> Ben")
    asked(history, 6, "Gus -knows-> Eve")

    least = min(history.questions.communities(FAR), key=lambda c: c.uuid)
    assert "Gus" in {e.name for e in least.members}


names = st.sampled_from("ABCDEFGHIJ")
sayings = st.tuples(names, names, st.sampled_from([True, True, False])).filter(lambda said: said[0] != said[1])


@settings(max_examples=tries(12, nightly=500))
@given(st.lists(sayings, min_size=1, max_size=25))
def test_after_every_message_the_members_are_those_of_the_plainest_way_to_work_it_out(tmp_path_factory, told):
    history = History(tmp_path_factory.mktemp("oracle"))
    for minute, (subject, value, ask) in enumerate(told):
        history.say("2024-01-01", f"{subject} -knows-> {value}", update_communities=ask)
        formed = [r.event.community_id for r in log(history) if r.event.type == "community.formed"]
        expected = oracle.communities(told[: minute + 1], iter(formed))
        found = {c.uuid: {e.name for e in c.members} for c in history.questions.communities(FAR, "g")}
        assert found == expected
    [generation] = history.engine.generations
    rebuild(generation.layer.log, history.beliefs.path.with_name("anew.db"))
    with SqliteGraph(history.beliefs.path.with_name("anew.db"), "semantic.main") as anew:
        assert anew.digest() == history.beliefs.digest()
    history.close()


def test_only_what_is_believed_and_holds_when_the_message_is_said_connects(history):
    history.tell("2024-01-01", relation="knows", object="Ben", valid_at="2020", invalid_at="2021")
    history.tell("2024-01-02", relation="knows", object="Cleo", valid_at="2020", ref="wrong")
    history.tell("2024-01-03", op="retract", ref="wrong", subject=None)
    history.tell("2024-01-04", relation="knows", object="Dan", valid_at="2030")
    asked(history, 5, "Ana -knows-> Eve")

    assert members(history) == [{"Ana", "Eve"}]


def test_what_the_message_itself_displaces_no_longer_connects(history):
    history.say("2024-01-01", "Ana -lives_in-> Berlin")
    asked(history, 2, "Ana -lives_in-> Madrid")

    assert members(history) == [{"Ana", "Madrid"}]


def test_a_literal_is_no_neighbour(history):
    asked(history, 1, "Ana -age-> 42")

    assert members(history) == []


def test_an_entity_that_nothing_connects_is_of_no_community(history):
    asked(history, 1, "Ana: role = cook, 0.9")

    assert members(history) == []


def test_groups_do_not_meet_and_an_erased_one_leaves_no_community(history):
    asked(history, 1, "Ana -knows-> Ben")
    asked(history, 2, "Ana -knows-> Ben", group_id="h")
    assert members(history, group="h") == [{"Ana", "Ben"}]

    history.forget("2024-01-03")
    assert members(history) == []
    assert members(history, group="h") == [{"Ana", "Ben"}]
    assert history.beliefs._one("SELECT count(*) FROM memberships") == 2


def test_a_portrait_names_the_community(history):
    asked(history, 1, "Ana -knows-> Ben")

    [portrait] = history.questions.entity("Ben", Moment(on("2024-01-02"), FAR), "g")
    assert [c.name for c in portrait.communities] == ["Ana, Ben"]


def test_a_community_is_summed_up_by_the_facts_of_its_members_as_of_the_moment(history):
    asked(history, 1, "Ana -knows-> Ben")
    history.say("2024-01-02", "Ana -likes-> Tea")
    history.tell("2024-01-03", subject="Ana", relation="lives_in", object="Rome", valid_at="2024-01-03")
    history.tell("2024-01-04", subject="Ana", relation="lives_in", object="Oslo", valid_at="2024-01-04")

    def summary(known):
        [community] = history.questions.communities(known, "g")
        return community.summary

    assert summary(on("2024-01-01")) == "Ana knows Ben."
    assert summary(on("2024-01-03")) == "Ana knows Ben. Ana lives in Rome. Ana likes Tea."
    assert summary(FAR) == "Ana knows Ben. Ana lives in Oslo. Ana likes Tea."


def test_the_summary_of_a_large_community_is_bounded(history):
    for number in range(60):
        asked(history, 1, f"Ana -knows-> Person{number:02}")

    [community] = history.questions.communities(FAR, "g")
    assert len(community.members) > 40
    assert 500 < len(community.summary) <= 600
