"""What a language model is asked about a turn, and in which words."""

from typing import Any

import pytest

from asof_agents.extraction.llm.answers import ChatAnswer, ExtractionAnswer, OpenExtractionAnswer
from asof_agents.extraction.llm.extractor import LONGEST, LLMExtractor
from asof_agents.extraction.llm.schemas import schema_of
from asof_agents.extraction.ports import RejectedPart, Turn
from asof_ontologies.model import Ontology
from asof_ontologies.prompts import Prompt
from asof_streams.instants import NEG, parse_moment


def relation(name: str, sources: list[str], targets: list[str], **more: Any) -> dict[str, Any]:
    ends = {"sources": sources, "targets": targets}
    return {"name": name, "sentence": "{subject} {object}", "means": f"What\n {name} means.", **ends, **more}


MADE = {"name": "made", "means": "When it\n was made.", "kind": "date"}
MATERIAL = {"name": "material", "means": "What it is of.", "choices": ["iron", "clay"]}


def ontology(**more: Any) -> Ontology:
    kinds = [
        {"name": "Person", "description": "A human\n being.", "told": True},
        {"name": "Item", "description": "A thing.", "attributes": [MADE, MATERIAL]},
        {"name": "Place", "description": "A place."},
        {"name": "Mood", "description": "How it is."},
        {"name": "Price", "description": "What it costs.", "literal": True},
    ]
    relations = [
        relation("likes", ["Person"], ["Person"]),
        relation("kept_in", ["Item"], ["Place", "Item"], told=True),
        relation("found_in", ["Item"], ["Place", "Item"]),
        relation("fits", ["Item"], ["Item"]),
        relation("lives_in", ["Person"], ["Place"]),
        relation("costs", ["Item"], ["Price"], value="value"),
    ]
    fields = {"id": "kitchen", "version": 1, "description": "Things.", "entity_types": kinds}
    return Ontology.model_validate({**fields, "relation_types": relations, **more})


def prompt(key: str, **more: Any) -> Prompt:
    user = "$earlier|$speaker|$time|$text"
    return Prompt(key=key, version=2, temperature=0.5, system="$types\n$relations", user=user, **more)


def turn(text: str = "Hm.", role: str = "Ana", said_at: int = parse_moment("2024-05-01"), **more: Any) -> Turn:
    return Turn("e", role, "user", text, said_at, **more)


def test_a_model_is_told_the_relations_by_their_ends_and_what_needs_a_meaning() -> None:
    request = LLMExtractor(ontology(), prompt("extract"), "m").request(turn(), [])

    assert request.system.splitlines() == [
        "those named below, Mood",
        "Relations: type of object. Subjects are Item unless given before >",
        "likes: Person > the same",
        "kept_in, found_in: Place|Item",
        "fits: Item",
        "lives_in: Person > Place",
        "Meanings:",
        "Person: A human being.",
        "kept_in: What kept_in means.",
        "Attributes by type:",
        "Item: made (date): When it was made.; material (iron|clay): What it is of.",
    ]
    assert (request.prompt, request.prompt_version, request.model, request.temperature) == ("extract", 2, "m", 0.5)
    assert request.schema == schema_of(ExtractionAnswer)


def test_of_a_closed_ontology_no_other_attributes_are_asked_for_and_what_has_none_is_not_told() -> None:
    closed = ontology(closed=True)
    plain = tuple(kind.model_copy(update={"attributes": ()}) for kind in closed.entity_types)
    untold = tuple(kind.model_copy(update={"told": False}) for kind in plain)
    relations = tuple(each.model_copy(update={"told": False}) for each in closed.relation_types)
    others = {"entity_types": plain}, {"entity_types": untold, "relation_types": relations}
    ontologies = [closed, *(ontology(closed=True).model_copy(update=other) for other in others)]
    systems = [LLMExtractor(each, prompt("extract"), "m").request(turn(), []).system for each in ontologies]

    assert [("Attributes by type, and no others:" in each, "Meanings:" in each) for each in systems] == [
        (True, True),
        (False, True),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("closed", "asked"), [(False, "those named below, Mood Say more. Name attributes."), (True, " Name attributes.")]
)
def test_what_a_prompt_says_of_an_open_ontology_is_left_out_of_a_closed_one(closed: bool, asked: str) -> None:
    opened = {"more": " Say more.", "attributes": " Name attributes."}
    asking = prompt("extract", open=opened).model_copy(update={"system": "$types$more$attributes"})

    request = LLMExtractor(ontology(closed=closed), asking, "m").request(turn(), [])

    assert request.system.endswith(asked)
    assert request.schema == schema_of(OpenExtractionAnswer)
    assert ("Say more" in request.system) is not closed


def test_a_turn_is_shown_with_who_says_it_when_and_the_ends_of_those_before() -> None:
    extractor = LLMExtractor(ontology(), prompt("extract"), "m")
    before = [turn("x" * 200), turn("Yes.", role="")]

    shown = extractor.request(turn("y" * 30_001, said_at=parse_moment("2024-05-01T10:00:00Z")), before).user
    assert shown == f"Ana: {'x' * 160}\nuser: Yes.|Ana|2024-05-01T10:00:00Z|{'y' * 30_000}"
    assert extractor.request(turn(said_at=NEG), []).user == "-|Ana|-|Hm."
    assert extractor.request(turn(timezone="Asia/Tokyo"), []).user == "-|Ana|2024-05-01T09:00:00+09:00|Hm."


def test_a_turn_that_is_not_shown_whole_is_told_so() -> None:
    extractor = LLMExtractor(ontology(), prompt("extract"), "m")
    answer = '{"entities": [], "facts": []}'
    found = [extractor.extract(turn("y" * length), [], lambda _: {}, answer) for length in (LONGEST, LONGEST + 1)]

    assert [each.refused for each in found] == [(), (RejectedPart("text", "length"),)]
    assert extractor.extract(turn("y" * (LONGEST + 1)), [], lambda _: {}).refused == ()


def test_a_turn_of_a_chat_is_asked_about_by_the_prompt_of_chats_where_there_is_one() -> None:
    both = LLMExtractor(ontology(), prompt("extract"), "m", prompt("chat"))
    one = LLMExtractor(ontology(), prompt("extract"), "m")

    asked = [each.request(turn(chat=chat), []) for each in (both, one) for chat in (True, False)]
    assert [request.prompt for request in asked] == ["chat", "extract", "extract", "extract"]
    assert asked[0].schema == schema_of(ChatAnswer)


def test_the_version_changes_with_the_ontology_the_prompt_and_the_model() -> None:
    kitchen, asking = ontology(), prompt("extract")

    assert LLMExtractor(kitchen, asking, "m").version == f"model-1/kitchen@{kitchen.digest[:12]}/{asking.version_id}/m"
