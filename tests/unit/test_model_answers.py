"""A model's answer, piece by piece: what cannot stand is refused and counted, and the rest is taken."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from asof_agents.extraction.hybrid import merge
from asof_agents.extraction.llm.answers import OpenExtractionAnswer, find_span, parse_answer
from asof_agents.extraction.llm.extractor import LONGEST, LLMExtractor
from asof_agents.extraction.llm.schemas import schema_of
from asof_agents.extraction.ports import Extraction, Mention, Relationship, StatedAttribute, Turn
from asof_ontologies.prompts import prompt
from asof_ontologies.registry import load
from asof_streams.instants import parse_moment

TEXT = "I moved to Berlin in March 2024. My sister Eva works at Siemens."
TURN = Turn("e1", "Ana", "user", TEXT, parse_moment("2024-04-02"))
ONTOLOGIES = ("default", "agent_memory_v1")
BERLIN = {"id": 1, "text": "Berlin", "type": "Location"}
EVA = {"id": 2, "text": "Eva", "type": "Person"}
MOVED = {
    "subject": 0,
    "relation": "lives_in",
    "object": 1,
    "stance": "holds",
    "quote": "I moved to Berlin in March 2024.",
    "valid_from": "2024-03",
    "valid_to": None,
    "time_words": "in March 2024",
    "confidence": 0.9,
}


def answer(*facts: Any, entities: Any = (BERLIN, EVA)) -> str:
    return json.dumps({"entities": entities, "facts": facts})


def taken(given: str, *, turn: Turn = TURN, before: tuple[Turn, ...] = (), ontology: str = "default") -> Extraction:
    return parse_answer(given, turn, before, load(ontology))


def refused(found: Extraction) -> list[tuple[str, str]]:
    return [(refusal[0], refusal[1]) for refusal in found.refused]


def test_a_fact_is_taken_with_its_ends_its_words_and_its_time() -> None:
    found = taken(answer(MOVED))

    (fact,) = found.relationships
    assert found.refused == ()
    assert (fact.source.text, fact.source.speaker, fact.relation, fact.target.text) == ("I", True, "lives_in", "Berlin")
    assert (fact.valid_from, fact.valid_to, fact.grain) == (parse_moment("2024-03"), None, "month")
    assert (fact.time_words, fact.confidence) == ("in March 2024", 0.9)
    assert TEXT[slice(*fact.span)] == MOVED["quote"]
    assert [(m.text, m.start) for m in found.mentions] == [("Berlin", 11), ("Eva", 43), ("I", 0)]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"object": 9}, "id"),
        ({"object": 0}, "id"),
        ({"quote": "I moved to Paris."}, "span"),
        ({"quote": ""}, "span"),
        ({"relation": "Lives In!"}, "relation"),
        ({"object": 2}, "type"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": "high"}, "schema"),
        ({"subject": True}, "schema"),
        ({"stance": "perhaps"}, "schema"),
        ({"valid_from": "last spring"}, "time"),
        ({"valid_from": "2024-02-31"}, "time"),
        ({"valid_from": "99999-01-01"}, "time"),
        ({"valid_to": "2023"}, "time"),
        ({"valid_to": "2024-03"}, "time"),
    ],
)
def test_a_fact_that_cannot_stand_is_refused_and_the_one_beside_it_taken(change: dict[str, Any], why: str) -> None:
    found = taken(answer({**MOVED, **change}, MOVED))

    assert refused(found) == [("fact", why)]
    assert [fact.relation for fact in found.relationships] == ["lives_in"]


@pytest.mark.parametrize(
    ("entity", "why"),
    [
        ({"id": 3, "text": "Paris", "type": "Location"}, "span"),
        ({"id": 3, "text": "Ber", "type": "Location"}, "span"),
        ({"id": 3, "text": " ", "type": "Location"}, "span"),
        ({"id": 3, "text": "Siemens", "type": "Company"}, "type"),
        ({"id": 1, "text": "Siemens", "type": "Organization"}, "id"),
        ({"id": 0, "text": "I", "type": "Person"}, "id"),
        ({"id": 3, "text": "Siemens"}, "schema"),
        ({"id": "3", "text": "Siemens", "type": "Organization"}, "schema"),
        ("Siemens", "schema"),
    ],
)
def test_an_entity_that_cannot_stand_is_refused_alone(entity: Any, why: str) -> None:
    found = taken(answer(MOVED, entities=[BERLIN, entity]))

    assert refused(found) == [("entity", why)]
    assert [fact.relation for fact in found.relationships] == ["lives_in"]


def test_a_time_that_the_text_does_not_speak_of_is_left_out_and_the_fact_kept() -> None:
    for words in (None, "since forever"):
        found = taken(answer({**MOVED, "time_words": words}))

        assert refused(found) == [("time", "unsaid")]
        assert [(fact.valid_from, fact.time_words) for fact in found.relationships] == [(None, None)]


@pytest.mark.parametrize(
    ("stated", "since", "grain"),
    [
        ("2024", "2023-12-31T23:00Z", "year"),
        ("2024-03", "2024-02-29T23:00Z", "month"),
        ("2024-03-05", "2024-03-04T23:00Z", "day"),
        ("2024-03-05T10:00Z", "2024-03-05T10:00Z", "second"),
    ],
)
def test_a_time_is_as_exact_as_it_was_written_and_a_date_of_the_speakers_clock(
    stated: str, since: str, grain: str
) -> None:
    turn = replace(TURN, timezone="Europe/Berlin")

    [fact] = taken(answer({**MOVED, "valid_from": stated}), turn=turn).relationships
    [ended] = taken(answer({**MOVED, "valid_from": None, "valid_to": stated}), turn=turn).relationships

    assert (fact.valid_from, fact.valid_to, fact.grain) == (parse_moment(since), None, grain)
    assert (ended.valid_from, ended.valid_to, ended.grain) == (None, parse_moment(since), grain)


@pytest.mark.parametrize(
    ("text", "quote", "word"),
    [
        ("Moved to Berlin.", "Moved to Berlin", "Moved"),
        ("Oh. Moved to Berlin.", "Moved to Berlin", "Moved"),
        ("Berlin!", "!", "Berlin"),
        ("Berlin suits me.", "Berlin", "me"),
    ],
)
def test_the_speaker_is_mentioned_by_a_word_for_them_else_by_the_first_word_of_what_is_quoted(
    text: str, quote: str, word: str
) -> None:
    lives = {**MOVED, "quote": quote, "valid_from": None}

    [fact] = taken(answer(lives), turn=Turn("e1", "Ana", "user", text, 0)).relationships

    assert (fact.source.text, fact.source.start, fact.source.speaker) == (word, text.index(word), True)


def test_a_new_relation_is_taken_where_the_ontology_is_open_and_refused_where_it_is_closed() -> None:
    new = {**MOVED, "relation": "fell_in_love_with", "object": 2}

    assert [fact.relation for fact in taken(answer(new)).relationships] == ["fell_in_love_with"]
    assert refused(taken(answer(new, entities=[EVA]), ontology="agent_memory_v1")) == [("fact", "relation")]


def test_a_name_from_an_earlier_turn_is_the_mention_that_was_found_there() -> None:
    orwell = Mention("e0", "Person", "George Orwell", 0)
    before = Turn("e0", "", "user", "George Orwell is a British author", 0, (orwell,))
    said = "He wrote Animal Farm."
    wrote = {**MOVED, "subject": 1, "relation": "wrote", "object": 2, "quote": said, "valid_from": None}
    entities = [
        {"id": 1, "text": "George Orwell", "type": "Person"},
        {"id": 2, "text": "animal  farm", "type": "Book"},
    ]
    found = taken(answer(wrote, entities=entities), turn=Turn("e1", "", "user", said, 0), before=(before,))

    assert [(fact.source, fact.target.text) for fact in found.relationships] == [(orwell, "Animal Farm")]
    assert [mention.text for mention in found.mentions] == ["Animal Farm"]


@pytest.mark.parametrize("given", ["{}", '{"entities": {}, "facts": 7}', '{"entities": null}'])
def test_an_answer_of_another_shape_gives_nothing_and_says_so(given: str) -> None:
    found = taken(given)

    assert (found.mentions, found.relationships) == ((), ())
    assert refused(found) == [("entity", "schema"), ("fact", "schema")]


def test_an_answer_within_a_fence_is_read() -> None:
    assert len(taken(f"```json\n{answer(MOVED)}\n```").relationships) == 1


def test_words_are_found_whole_and_however_they_are_spaced_and_capitalised() -> None:
    assert find_span("new york", "In New\n York.") == (3, 12)
    assert find_span("york", "Yorkshire") is None
    assert find_span("a+b", "aab a+b") == (4, 7)


def test_what_is_asked_depends_on_the_texts_and_never_on_what_was_found_in_them() -> None:
    extractor = LLMExtractor(load("default"), prompt("extract"), "m@here")
    before = Turn("e0", "Ben", "user", "$text and $speaker", 0)
    plain = extractor.request(TURN, [before])
    found = replace(before, mentions=(Mention("e0", "Person", "Ben", 0),))

    assert extractor.request(TURN, [found]).digest == plain.digest
    assert "Ben: $text and $speaker" in plain.user
    assert extractor.request(TURN, []).digest != plain.digest
    assert LLMExtractor(load("default"), prompt("extract"), "other").request(TURN, [before]).digest != plain.digest
    closed = LLMExtractor(load("agent_memory_v1"), prompt("extract"), "m@here")
    assert closed.request(TURN, [before]).digest != plain.digest
    assert closed.version != extractor.version
    assert "$" not in plain.system + closed.request(TURN, []).system


def test_of_a_very_long_text_the_beginning_is_asked_about_and_that_is_said() -> None:
    extractor = LLMExtractor(load("default"), prompt("extract"), "m@here")
    long = Turn("e1", "Ana", "user", TEXT + " more" * LONGEST, 0)

    assert len(extractor.request(long, []).user) < LONGEST + 1_000
    assert refused(extractor.extract(long, [], lambda _: {}, answer(MOVED))) == [("text", "length")]


def test_what_rules_found_stands_and_the_model_adds_the_rest() -> None:
    speaker, berlin = Mention("e1", "Person", "I", 0, speaker=True), Mention("e1", "Location", "Berlin", 11)
    sure = Extraction((berlin, speaker), (Relationship(speaker, "lives_in", berlin, confidence=0.95),))
    works = {**MOVED, "relation": "works_at", "subject": 2, "object": 3, "quote": "Eva works at Siemens"}
    siemens = {"id": 3, "text": "Siemens", "type": "Organization"}
    more = taken(answer(MOVED, {**works, "valid_from": None}, entities=[BERLIN, EVA, siemens]))

    both = merge(sure, more)

    assert [(r.source.text, r.relation, r.confidence) for r in both.relationships] == [
        ("I", "lives_in", 0.95),
        ("Eva", "works_at", 0.9),
    ]
    assert [m.text for m in both.mentions] == ["Berlin", "I", "Eva", "Siemens"]
    assert merge(sure, Extraction()) == sure


KEEN = {"entity": 2, "name": "temper", "value": "Keen  on", "confidence": 0.8}


def described(*attributes: Any, ontology: str = "default") -> Extraction:
    text = "My sister Eva is keen on chess, and I am 42 years old."
    given = {"entities": [EVA], "facts": [], "attributes": attributes}
    return taken(json.dumps(given), turn=Turn("e1", "Ana", "user", text, 0), ontology=ontology)


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_what_is_as_unsure_or_as_sure_as_can_be_is_taken(sure: float) -> None:
    assert [fact.confidence for fact in taken(answer({**MOVED, "confidence": sure})).relationships] == [sure]
    assert [each.confidence for each in described({**KEEN, "confidence": sure}).attributes] == [sure]


def test_a_text_without_a_word_mentions_no_speaker() -> None:
    mood = {"entity": 0, "name": "mood", "value": ":-)", "confidence": 0.8}
    found = taken(json.dumps({"entities": [], "facts": [], "attributes": [mood]}), turn=replace(TURN, text=":-)"))

    assert (found.mentions, found.attributes, refused(found)) == ((), (), [("attribute", "span")])


def test_an_attribute_is_taken_in_the_words_of_the_text() -> None:
    found = described(KEEN, {**KEEN, "entity": 0, "name": "age", "value": "42 years old"})

    assert [(a.mention.text, a.name, a.value, a.confidence) for a in found.attributes] == [
        ("Eva", "temper", "keen on", 0.8),
        ("My", "age", "42 years old", 0.8),
    ]
    assert [(m.text, m.speaker) for m in found.mentions] == [("Eva", False), ("My", True)]
    assert found.refused == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"entity": 7}, "id"),
        ({"value": "fond of"}, "span"),
        ({"value": ""}, "span"),
        ({"name": "Her temper"}, "name"),
        ({"name": "summary"}, "name"),  # which only a producer gives
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": 1.1}, "confidence"),
        ({"confidence": None}, "schema"),
        ({"entity": "2"}, "schema"),
    ],
)
def test_an_attribute_that_cannot_stand_is_refused_and_the_one_beside_it_taken(change: Any, why: str) -> None:
    found = described({**KEEN, **change}, KEEN)

    assert [a.name for a in found.attributes] == ["temper"]
    assert refused(found) == [("attribute", why)]


def test_an_ontology_that_is_closed_asks_for_no_attributes_and_takes_none() -> None:
    turn = Turn("e1", "Ana", "user", "I like tea.", 0)
    asked = {name: LLMExtractor(load(name), prompt("extract"), "m").request(turn, []) for name in ONTOLOGIES}

    assert {name: "attributes" in request.system + request.schema for name, request in asked.items()} == {
        "default": True,
        "agent_memory_v1": False,
    }
    assert described(KEEN, ontology="agent_memory_v1").attributes == ()


def test_a_type_is_told_once_whether_a_relation_names_it_or_not() -> None:
    for name in ONTOLOGIES:
        ontology = load(name)
        told = LLMExtractor(ontology, prompt("extract"), "m").request(Turn("e", "", "user", "Hm.", 0), []).system
        of_values = {kind for each in ontology.relation_types if each.value for kind in (*each.sources, *each.targets)}
        named = {kind for each in ontology.relation_types if not each.value for kind in (*each.sources, *each.targets)}
        assert set(ontology.entities) - (of_values - named) <= set(re.findall(r"\w+", told))


def test_what_is_sent_as_schema_is_strict_and_in_one_piece() -> None:
    sent = schema_of(OpenExtractionAnswer)
    schema = json.loads(sent)

    facts = schema["properties"]["facts"]["items"]
    assert facts["properties"]["valid_from"] == {"type": ["string", "null"]}
    assert facts["properties"]["stance"]["enum"] == ["holds", "ended", "denied"]
    for part in (schema, *(of["items"] for of in schema["properties"].values())):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    assert "$" not in sent


def test_rules_and_model_together_give_an_attribute_to_the_mention_that_rules_found() -> None:
    sure, more = Mention("e1", "Person", "Eva", 10), Mention("e1", "Animal", "eva", 10)
    found = merge(Extraction((sure,)), Extraction((more,), attributes=(StatedAttribute(more, "temper", "keen"),)))

    assert [a.mention for a in found.attributes] == [sure]
