"""Attributes of entities: which value is believed of those that were said, and what was believed before."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from effort import tries
from histories import History, on

FAR = on("2100")

values = st.tuples(st.sampled_from("xyz"), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
a_saying = st.tuples(st.integers(1, 9), st.lists(values, min_size=1, max_size=3))
said_once = st.tuples(st.integers(1, 9), st.tuples(values))
said_on_different_days = st.lists(said_once, min_size=2, max_size=3, unique_by=lambda said: said[0])


@pytest.fixture
def history(tmp_path):
    opened = History(tmp_path)
    yield opened
    opened.close()


def believed(history, name="Ana", known=FAR):
    return {a.name: a.value for a in of(history, name, known)}


def of(history, name="Ana", known=FAR):
    ids = [e.uuid for e in history.beliefs.called("g", name, known)]
    return history.beliefs.attributes(ids, known)


def roles(said, name="Ana"):
    """What a message says of somebody's role: several values, or one of them again."""
    return f"{name}: " + "; ".join(f"role = {value}, {sure}" for value, sure in said)


def events(history):
    return [r.event for r in history.engine.generations[0].layer.log.read() if r.event.type == "entity.attributed"]


def test_what_was_said_of_an_entity_is_believed_with_when_where_and_how_surely_it_was_said(history):
    history.say("2024-01-01", "Ana: role = cook, 0.8; diet = vegan, 0.5")

    role, diet = sorted(of(history), key=lambda a: a.name, reverse=True)
    assert (role.name, role.value, role.support, role.attested) == ("role", "cook", 0.8, on("2024-01-01"))
    assert (diet.value, diet.support) == ("vegan", 0.5)
    assert history.episodes.episode(role.episode_id).content.startswith("Ana: role")


def test_a_value_that_is_said_less_surely_does_not_take_the_place_of_a_surer_one(history):
    history.say("2024-01-01", "Ana: role = cook, 0.9")
    history.say("2024-01-02", "Ana: role = waiter, 0.4")

    assert believed(history) == {"role": "cook"}
    assert [e.holds for e in events(history)] == [True, False]


@pytest.mark.parametrize("sure", ["0.9", "1.0"])
def test_a_value_that_is_said_later_as_surely_or_more_takes_its_place(history, sure):
    history.say("2024-01-01", "Ana: role = cook, 0.9")
    history.say("2024-01-02", f"Ana: role = waiter, {sure}")

    assert believed(history) == {"role": "waiter"}


def test_a_value_that_was_said_several_times_is_not_given_up_for_one_said_once_as_surely(history):
    for day in ("2024-01-01", "2024-01-02"):
        history.say(day, "Ana: role = cook, 0.6")
    history.say("2024-01-03", "Ana: role = waiter, 0.8")
    assert believed(history) == {"role": "cook"}
    assert of(history)[0].support == pytest.approx(0.84)

    history.say("2024-01-04", "Ana: role = waiter, 0.8")
    assert believed(history) == {"role": "waiter"}


def test_the_example_of_the_explanation_goes_as_it_is_told(history):
    seen = []
    for day, (value, sure) in enumerate([("cook", 0.6), ("waiter", 0.4), ("cook", 0.6), ("waiter", 0.8)], 1):
        history.say(f"2024-01-0{day}", f"Ana: role = {value}, {sure}")
        [role] = of(history)
        seen.append((role.value, round(role.support, 6)))

    assert seen == [("cook", 0.6), ("cook", 0.6), ("cook", 0.84), ("waiter", 0.88)]


def test_a_value_is_the_same_in_another_case(history):
    history.say("2024-01-01", "Ana: role = Pastry  cook, 0.5")
    history.say("2024-01-02", "Ana: role = pastry cook, 0.5")

    [role] = of(history)
    assert (role.value, role.support, role.attested) == ("pastry cook", 0.75, on("2024-01-02"))


def test_what_is_heard_late_but_was_said_earlier_does_not_displace_what_is_as_sure(history):
    history.say("2024-01-05", "Ana: role = cook, 0.9", said="2024-01-05")
    history.say("2024-01-06", "Ana: role = pupil, 0.9", said="2010-01-01")

    assert believed(history) == {"role": "cook"}


def test_an_answer_as_of_a_known_moment_has_the_value_that_was_believed_then(history):
    history.say("2024-01-01", "Ana: role = cook, 0.5")
    history.say("2024-01-02", "Ana: role = waiter, 0.9")
    history.say("2024-01-03", "Ana: role = cook, 0.9")

    values = [
        believed(history, known=on(day)).get("role") for day in ("2023", "2024-01-01", "2024-01-02", "2024-01-03")
    ]
    assert values == [None, "cook", "waiter", "cook"]


def test_of_two_pairsin_one_message_the_surer_is_believed(history):
    history.say("2024-01-01", "Ana: role = cook, 0.9; role = waiter, 0.4; role = waiter, 0.5")

    assert believed(history) == {"role": "cook"}
    assert [round(e.support, 6) for e in events(history)] == [0.9, 0.4, 0.5]


@pytest.mark.parametrize("again", ["role = cook, 0.6; role = Cook, 0.5", "role = cook, 0.5; role = cook, 0.6"])
def test_a_value_that_one_message_says_twice_is_as_sure_as_where_it_says_so_most_surely(history, again):
    history.say("2024-01-01", "Ana: role = cook, 0.5")
    history.say("2024-01-02", f"Ana: {again}")
    history.say("2024-01-03", "Ana: role = waiter, 0.9")
    assert [round(e.support, 6) for e in events(history)][2:] == [0.8, 0.9]

    history.withdraw("2024-01-04", 2)
    [role] = of(history)
    assert (role.value.casefold(), round(role.support, 6)) == ("cook", 0.8)

    history.withdraw("2024-01-05", 0)
    [role] = of(history)
    assert round(role.support, 6) == 0.6


def test_attributes_of_several_names_and_entities_do_not_meet(history):
    history.say("2024-01-01", "Ana: role = cook, 0.5")
    history.say("2024-01-02", "Ana: diet = vegan, 0.9")
    history.say("2024-01-03", "Ben: role = waiter, 0.9")

    assert believed(history) == {"role": "cook", "diet": "vegan"}
    assert believed(history, "Ben") == {"role": "waiter"}


def test_what_only_a_withdrawn_episode_said_is_believed_no_longer_and_the_past_stays(history):
    history.say("2024-01-01", "Ana: role = cook, 0.9")
    history.withdraw("2024-01-02", 0)

    assert believed(history) == {}
    assert believed(history, known=on("2024-01-01")) == {"role": "cook"}
    history.say("2024-01-03", "Ana: role = waiter, 0.1")
    assert believed(history) == {"role": "waiter"}


def test_the_withdrawal_of_a_value_that_was_not_believed_says_nothing_of_the_one_that_is(history):
    history.say("2024-01-01", "Ana: role = cook, 0.9")
    history.say("2024-01-02", "Ana: role = waiter, 0.4")
    history.withdraw("2024-01-03", 1)

    assert [(e.value, e.holds) for e in events(history)] == [("cook", True), ("waiter", False), ("waiter", False)]


def test_a_value_that_a_withdrawn_episode_had_displaced_or_made_sure_is_weighed_again(history):
    history.say("2024-01-01", "Ana: role = cook, 0.5")
    history.say("2024-01-02", "Ana: role = waiter, 0.8")
    history.say("2024-01-03", "Ana: role = waiter, 0.4")
    history.withdraw("2024-01-04", 1)

    [role] = of(history)
    assert (role.value, role.support, role.attested) == ("cook", 0.5, on("2024-01-01"))
    history.say("2024-01-05", "Ana: role = waiter, 0.4")
    [role] = of(history)
    assert (role.value, round(role.support, 6), role.attested) == ("waiter", 0.64, on("2024-01-05"))


@settings(max_examples=tries(10, nightly=400))
@given(st.lists(a_saying | st.integers(0, 8), min_size=2, max_size=10))
def test_a_withdrawn_episode_counts_as_if_it_had_never_been(tmp_path_factory, told):
    history = History(tmp_path_factory.mktemp("withdrawn"))
    heard, day = {}, 0
    for place, what in enumerate(told):
        if isinstance(what, int):
            if heard.pop(what, None) is None:
                continue
            history.withdraw(f"2024-02-{day + 1:02}", what)
        else:
            date = f"2024-01-0{what[0]}"
            heard[len(list(history.messages.read()))] = (on(date), what[1])
            history.say(f"2024-02-{day + 1:02}", roles(what[1]), said=date)
        day += 1
        assert believed(history).get("role") == oracle.attribute(heard.values()), told[: place + 1]
    history.close()


def test_an_erased_group_keeps_no_attribute(history):
    history.say("2024-01-01", "Ana: role = cook, 0.5")
    history.forget("2024-01-02")

    assert history.beliefs._rows("SELECT * FROM attributes") == []


@settings(max_examples=tries(10, nightly=400))
@given(st.lists(a_saying, min_size=1, max_size=9))
def test_at_every_known_moment_the_value_is_that_of_the_plainest_way_to_work_it_out(tmp_path_factory, told):
    history = History(tmp_path_factory.mktemp("oracle"))
    for day, (said, pairs) in enumerate(told, 1):
        history.say(f"2024-02-{day:02}", roles(pairs), said=f"2024-01-0{said}")

    for day in range(len(told) + 1):
        heard = [(on(f"2024-01-0{said}"), pairs) for said, pairs in told[:day]]
        found = believed(history, known=on(f"2024-02-{day:02}") if day else on("2024-01-31"))
        assert found.get("role") == oracle.attribute(heard)
    history.close()


@settings(max_examples=tries(10, nightly=400))
@given(said_on_different_days)
def test_whatever_the_order_in_which_it_is_heard_the_same_is_believed_in_the_end(tmp_path_factory, told):
    history = History(tmp_path_factory.mktemp("order"))
    orders = {f"Ana{number}": order for number, order in enumerate(permutations(told))}
    for name, order in orders.items():
        for day, said in order:
            history.say("2024-02-01", roles(said, name), said=f"2024-01-0{day}")

    assert len({believed(history, name)["role"] for name in orders}) == 1
    history.close()
