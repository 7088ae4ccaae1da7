"""Prompts of replies are filled, archetypes are chosen, and templates answer without a model."""

import pytest
from pydantic import ValidationError

from asof_agents.conversation.archetypes import ARCHETYPES, DEFAULT, EXAMPLES, LIKE, Archetype, choose
from asof_agents.conversation.material import ReplyMaterial, ShownFact, ShownTurn
from asof_agents.conversation.prompts import BUILT_IN, CHECK_IN, MAIN, PLACEHOLDERS, fill, unknown_placeholders
from asof_agents.conversation.templates import from_memory

FACT = ShownFact("f1", "Ana lives in Rome", "Ana", "lives_in", "Rome")
TURN = ShownTurn(3, "ana", is_bot=False, text="I live in Rome.", said_at=0)
MATERIAL = ReplyMaterial((TURN,), (FACT,), (FACT,), "what is known")


def test_a_template_shows_what_was_gathered() -> None:
    template = "|".join(f"{{{name}}}" for name in PLACEHOLDERS[MAIN])

    assert fill(template, "Hi", MATERIAL).split("|") == [
        "ana: I live in Rome.",
        "- Ana lives in Rome",
        "Ana --[lives_in]--> Rome",
        "what is known",
        "Hi",
    ]


def test_what_a_user_says_is_no_template() -> None:
    said = TURN._replace(text="{context} {0} {x.__class__}")

    assert fill("{episodic_context}\n{current_message}", "{context}", MATERIAL._replace(turns=(said,))) == (
        "ana: {context} {0} {x.__class__}\n{context}"
    )


def test_other_braces_of_a_template_stand_as_they_are() -> None:
    assert fill('{"a": {current_message}} {other}', "Hi", MATERIAL) == '{"a": Hi} {other}'
    assert unknown_placeholders('{"a": {current_message}} {other}', MAIN) == ["other"]
    assert unknown_placeholders("{current_message} {context}", CHECK_IN) == ["current_message"]


@pytest.mark.parametrize("key", [MAIN, CHECK_IN])
def test_the_prompts_of_asof_itself_show_everything(key: str) -> None:
    assert [name for name in PLACEHOLDERS[key] if f"{{{name}}}" not in BUILT_IN[key].template] == []
    assert unknown_placeholders(BUILT_IN[key].template, key) == []


def test_a_reply_is_asked_for_with_the_values_of_the_specification() -> None:
    assert (BUILT_IN[MAIN].temperature, BUILT_IN[MAIN].max_tokens) == (0.7, 512)


def test_the_default_archetype_has_the_values_of_the_specification() -> None:
    values = (DEFAULT.turns, DEFAULT.vector_limit, DEFAULT.similarity_threshold, DEFAULT.triple_depth)
    assert values == (8, 5, 0.75, 1)


def test_a_message_is_of_the_archetype_whose_example_it_is_most_like() -> None:
    for number, (archetype, _) in enumerate(EXAMPLES):
        likeness = [0.0] * len(EXAMPLES)
        likeness[number] = LIKE
        assert choose(likeness) == archetype
        likeness[number] = LIKE - 0.01
        assert choose(likeness) == DEFAULT
    assert choose([]) == DEFAULT


def test_archetypes_have_names_of_their_own() -> None:
    assert len({archetype.name for archetype in ARCHETYPES}) == len(ARCHETYPES)


@pytest.mark.parametrize(
    "field",
    [{"turns": 33}, {"vector_limit": 21}, {"similarity_threshold": 1.1}, {"triple_depth": 4}, {"turns": -1}],
    ids=str,
)
def test_no_archetype_asks_for_more_than_a_small_machine_gives(field: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Archetype.model_validate({"name": "own", **field})


def test_without_a_model_what_is_known_is_told_and_the_answer_says_that_there_is_none() -> None:
    told = "This is what I remember. (No language model is set.)\n- Ana lives in Rome"
    assert from_memory(MATERIAL, "Where does Ana live?") == told
    nothing = from_memory(ReplyMaterial(), "Where does Ana live?")
    assert nothing == "I know nothing about this yet. (No language model is set.)"


def test_without_a_model_what_is_no_question_is_said_to_be_kept() -> None:
    kept = "I have kept this. Until now I remembered this about it. (No language model is set.)\n- Ana lives in Rome"
    assert from_memory(MATERIAL, "Ana likes Rome.") == kept
    assert from_memory(ReplyMaterial(), "Ana likes Rome.") == "I have kept this. (No language model is set.)"


def test_who_asks_of_all_the_time_until_now_is_not_told_the_period_of_nothing() -> None:
    nothing = "I know nothing about this yet. (No language model is set.)"
    assert from_memory(ReplyMaterial(period="until now"), "Where did I live?") == nothing
    assert from_memory(ReplyMaterial(period="in 2012"), "Where did I live in 2012?") == f"In 2012: {nothing}"
