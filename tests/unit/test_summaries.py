"""An entity as it is shown: its summary, attributes and duplicates, each as of a moment."""

import pytest

from asof_projections.model.rows import AttributeRow, Moment
from asof_projections.queries.summaries import LONGEST, summary
from histories import History, on
from world import World


@pytest.fixture
def history(tmp_path):
    opened = History(tmp_path)
    yield opened
    opened.close()


def portrait(history, valid="2025", known="2025", name="Ana"):
    [found] = history.questions.entity(name, Moment(on(valid), on(known)), "g")
    return found


def test_a_summary_is_what_it_is_like_then_what_holds_what_was_attested_last_first(history):
    history.say("2024-01-01", "Ana: role = pastry cook, 0.9; favourite_colour = blue, 0.5")
    history.say("2024-01-02", "Ana -lives_in-> Berlin")
    history.say("2024-01-03", "Ana -knows-> Ben")
    history.say("2024-01-04", "Ana -lives_in-> Berlin")

    assert portrait(history).summary == (
        "favourite colour: blue. role: pastry cook. Ana lives in Berlin. Ana knows Ben."
    )


def test_a_summary_is_of_the_moment_that_is_asked_for_on_both_clocks(history):
    history.say("2024-01-01", "Ana -lives_in-> Berlin")
    history.say("2024-02-01", "Ana -lives_in-> Madrid")
    history.say("2024-03-01", "Ana: role = cook, 0.9")

    assert portrait(history).summary == "role: cook. Ana lives in Madrid."
    assert portrait(history, valid="2024-01-15").summary == "role: cook. Ana lives in Berlin."
    assert portrait(history, valid="2024-02-15", known="2024-02-15").summary == "Ana lives in Madrid."
    assert portrait(history, valid="2024-02-15", known="2024-01-15").summary == "Ana lives in Berlin."


def test_a_summary_is_of_whole_sentences_and_never_longer_than_its_bound(history):
    for number in range(40):
        history.tell(f"2024-01-{1 + number % 28:02}", relation="knows", object=f"Friend number {number:02}")

    whole = portrait(history).summary
    assert LONGEST - 30 < len(whole) <= LONGEST
    assert whole.endswith(".")
    assert summary([], []) == ""


def test_a_sentence_that_does_not_fit_leaves_room_for_the_next():
    long, short = (AttributeRow("id", "note", value, 1.0, 0, "said") for value in ("x" * LONGEST, "short"))

    assert summary([long, short], []) == "note: short."
    whole = long._replace(value="x" * (LONGEST - len("note: .")))
    assert len(summary([whole, short], [])) == LONGEST


def test_a_summary_that_a_producer_gave_stands_in_the_place_of_one_made_here():
    given = AttributeRow("id", "summary", "The boss.", 1.0, 0, "said")

    assert summary([AttributeRow("id", "role", "cook", 1.0, 9, "said"), given], []) == "The boss."


def test_of_entities_that_are_one_the_surest_value_is_shown_and_only_while_they_are(history):
    history.say("2024-01-01", "Ana: role = cook, 0.9; diet = vegan, 0.5")
    history.say("2024-01-02", "Annie: role = waiter, 0.8; diet = meat, 0.6")
    history.tell("2024-01-03", relation="also_known_as", object="Annie", ref="same")
    history.tell("2024-01-05", op="retract", ref="same", subject=None)

    def shown(known):
        return {a.name: a.value for a in portrait(history, known=known).attributes}

    assert shown("2024-01-02") == {"role": "cook", "diet": "vegan"}
    assert shown("2024-01-03") == {"role": "cook", "diet": "meat"}
    assert shown("2024-01-05") == shown("2024-01-02")


def test_duplicates_are_named_with_the_reason_and_the_time_over_which_they_were_believed(history):
    history.tell("2024-01-01", relation="also_known_as", object="Annie", ref="same")
    history.tell("2024-01-05", op="retract", ref="same", subject=None)

    def links(known):
        return portrait(history, known=known).to_json()["duplicate_of"]

    [link] = links("2024-01-03")
    assert (link["duplicate_name"], link["into_name"], link["reason"]) == ("Annie", "Ana", "also known as")
    assert (link["known_from"], link["known_to"]) == ("2024-01-01T00:00:00Z", None)
    assert [link["known_to"] for link in links("2025")] == ["2024-01-05T00:00:00Z"]


def test_a_community_is_summed_up_by_what_its_members_have_with_each_other_then_by_what_happened(history):
    history.tell("2024-01-01", relation="visited", object="Oslo", valid_at="2020-02-01", invalid_at="2020-02-02")
    history.say("2024-01-02", "Ana -knows-> Ben", update_communities=True)
    for number, liked in enumerate(("Tea", "Jazz", "Rain", "Snow")):
        history.say(f"2024-01-0{3 + number}", f"Ana -likes-> {liked}")

    [community] = history.questions.communities(on("2025"), "g")
    assert community.summary == (
        "Ana knows Ben. Ana likes Snow. Ana likes Rain. Ana likes Jazz. Ana likes Tea. Ana visited Oslo."
    )


def test_a_community_is_told_of_what_holds_now_though_an_end_is_known(tmp_path):
    world = World(tmp_path / "data")
    world.tell("2024-01-02", relation="knows", object="Ben", valid_at="2020", invalid_at="2030")
    world.memory.consolidate(group_id="g")

    [community] = found = world.memory.communities(group_id="g")
    exported = "".join(world.memory.export(group_id="g"))

    assert community.summary == "Ana knows Ben."
    assert world.memory.communities(group_id="g", known_at="2024-02-01") == found
    assert "".join(world.memory.export(group_id="g", valid_at="2031")) != exported
    assert '"summary":"Ana knows Ben."' in exported.replace('": "', '":"')
    world.memory.close()
