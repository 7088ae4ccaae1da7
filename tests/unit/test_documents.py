"""A JSON document is read as structure, and by its string values, each at its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from asof_agents.extraction.documents import nodes, words
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.explanation import explain
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Turn
from asof_ontologies.model import Ontology
from asof_ontologies.registry import load
from asof_streams.instants import parse
from world import World

SAID_AT = parse("2024-05-15T10:00:00Z")
DEFAULT = load("default")


def extract(content: str, ontology: str = "default") -> Extraction:
    turn = Turn("episode", "Zoe", "user", content, SAID_AT, is_json=True)
    return EnglishExtractor(load(ontology), find_times).extract(turn, [], lambda _: {})


def stated(document: Any, ontology: str = "default") -> set[tuple[str, str, str]]:
    content = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    found = extract(content, ontology)
    assert all(content[each.start : each.start + len(each.text)] == each.text for each in found.mentions)
    return {(each.source.text, each.relation, each.target.text) for each in found.relationships}


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ('{"city": "Berlin"}', ["Berlin"]),
        ('["I like tea.", {"Ana": "I moved to Oslo."}, 7, null]', ["I like tea.", "I moved to Oslo."]),
        (r'{"a": "say \"hi\" to\nAna \u00e9"}', ["say   hi   to  Ana"]),
        ('"Ana lives in Rome."', ["Ana lives in Rome."]),
        ('{"a": "I like tea."}\n\n{"b": "I moved to Oslo."}\n', ["I like tea.", "I moved to Oslo."]),
        ("{}", []),
        ("12", []),
    ],
)
def test_only_string_values_are_read_each_where_it_stands(content: str, read: list[str]) -> None:
    found = words(content)

    assert len(found) == len(content)
    assert [part.strip() for part in found.split("\n") if part.strip()] == read
    assert all(a == b or a.isspace() for a, b in zip(found, content, strict=True))


@pytest.mark.parametrize(
    "content",
    [
        "I like tea.",
        "I like tea.\nI live in Oslo.",
        '{"a": "b"}\nI like tea.',
        '{"a": "b"',
        "[" * 100_000 + "]" * 100_000,
        "",
    ],
)
def test_what_is_no_json_is_text(content: str) -> None:
    assert words(content) == content


def test_names_of_fields_state_nothing_and_sentences_in_values_do(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    document = {"Ana lives in Rome. Ben lives in Oslo. ": 1, "note": "Cem lives in Kigali."}

    world.memory.add(json.dumps(document), group_id="g", source="json")

    assert [(fact.subject, fact.object) for fact in world.memory.facts(group_id="g")] == [("Cem", "Kigali")]
    world.memory.close()


@pytest.mark.parametrize(
    ("document", "facts"),
    [
        ({"name": "Ana", "employer": "Acme"}, {("Ana", "works_at", "Acme")}),
        ({"fullName": "Ana Lee", "worksAt": "Acme"}, {("Ana Lee", "works_at", "Acme")}),
        ({"name": "Ana", "Lives in": "Rome"}, {("Ana", "lives_in", "Rome")}),
        ({"name": "Ana", "country": "Italy", "city": "Rome"}, {("Ana", "lives_in", "Rome")}),
        ({"name": "Acme", "type": "company", "city": "Rome"}, {("Acme", "located_in", "Rome")}),
        ({"company": {"name": "Morgan Stanley", "city": "Rome"}}, {("Morgan Stanley", "located_in", "Rome")}),
        ({"name": "Ana", "manager": "Cem Kaya"}, {("Ana", "has_manager", "Cem Kaya")}),
        ({"name": "Ana", "hobbies": ["chess", "painting"]}, {("Ana", "likes", "chess"), ("Ana", "likes", "painting")}),
        ({"name": "Ana", "age": 34, "kids": 2}, {("Ana", "has_age", "34"), ("Ana", "number_of_kids", "2")}),
        ({"name": "Ana", "favorite_band": "Blur"}, {("Ana", "favorite_band", "Blur")}),
        ({"name": "Ana", "birthday": "1990-05-01"}, {("Ana", "has_birthday", "1990-05-01")}),
        ({"title": "Dune", "type": "book", "written_by": "Frank Herbert"}, {("Frank Herbert", "wrote", "Dune")}),
        (
            {"name": "Apollo", "type": "project", "status": "in review", "version": "1.2.0"},
            {("Apollo", "has_status", "in review"), ("Apollo", "has_version", "1.2.0")},
        ),
        (
            {"name": "Ana", "spouse": {"name": "Ben", "employer": {"name": "Acme", "city": "Oslo"}}},
            {("Ana", "married_to", "Ben"), ("Ben", "works_at", "Acme"), ("Acme", "located_in", "Oslo")},
        ),
        ({"name": "Ana", "children": [{"name": "Tom"}, "Eva"]}, {("Ana", "parent_of", x) for x in ("Tom", "Eva")}),
        (
            {"Ana": {"employer": "Acme"}, "Ben": {"city": "Oslo"}},
            {("Ana", "works_at", "Acme"), ("Ben", "lives_in", "Oslo")},
        ),
        ([{"name": "Zorgon Blix", "home": "Oslo"}], {("Zorgon Blix", "lives_in", "Oslo")}),
        (
            '{"name": "Ana", "employer": "Acme"}\n{"name": "Ben", "employer": "Initech"}\n',
            {("Ana", "works_at", "Acme"), ("Ben", "works_at", "Initech")},
        ),
        (
            {"name": "Ana", "note": "She moved to Oslo. She works at SAP."},
            {("Ana", "lives_in", "Oslo"), ("Ana", "works_at", "SAP")},
        ),
    ],
)
def test_an_object_with_a_name_states_what_its_keys_say(document: Any, facts: set[tuple[str, str, str]]) -> None:
    assert stated(document) == facts


def test_the_words_of_keys_are_those_of_the_ontology_in_force() -> None:
    document = {"name": "billing", "type": "service", "depends_on": ["ledger"], "written_in": "Go", "employer": "Acme"}

    assert stated(document, "agent_memory_v1") == {("billing", "depends_on", "ledger"), ("billing", "written_in", "Go")}
    assert stated({"name": "Ana", "reports_to": "Ben Kaya"}, "agent_memory_v1") == {("Ana", "reports_to", "Ben Kaya")}


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "Acme", "url": "Rome", "description": "Berlin", "email": "Ben", "image": "Oslo", "uuid": "Cem"},
        {"employer": "Unemployed", "city": "unknown", "manager": "engineering", "spouse": None, "pet": True},
        {"former_employer": "Acme", "lived_in": "Rome", "ex_wife": "Eva", "work_at": "Acme", "leaves": "Acme"},
        {"employer": "https://acme.example", "city": "12345", "home": "/srv/ana", "manager": "u-1234567"},
        {"address": {"city": "Oslo"}, "birth": {"city": "Rome"}},
        {"employer": ["Acme", "Initech"]},
        {"employer": {"id": 7}, "score": 12, "status": "active", "state": "CA", "role": "admin", "team": "Blue"},
        {"likes": 120, "likes_count": 4, "in": "Rome", "with": "Ben", "lead": True, "has": "Rome"},
    ],
)
def test_other_keys_and_values_that_name_nothing_state_nothing(fields: dict[str, Any]) -> None:
    assert stated({"name": "Ana", **fields}) == set()


@pytest.mark.parametrize(
    "document",
    [
        {"name": "get_weather", "type": "function", "arguments": {"city": "Paris"}},
        {"city": "Berlin", "employer": "Acme"},
        {"name": "Zorgon Blix", "city": "Berlin"},
        {"Summer": {"count": 1}, "Ana": [{"city": "Oslo"}, {"city": "Rome"}]},
        {"name": "Ana", "city": "Ana"},
    ],
)
def test_an_object_that_names_no_thing_of_a_known_type_states_nothing(document: dict[str, Any]) -> None:
    assert stated(document) == set()


def test_a_value_that_was_read_as_structure_is_not_read_twice_and_prose_is_read_as_a_text() -> None:
    found = extract('{"name": "Ana", "employer": "I work at Acme.", "spouse": "Rose", "x": "I live in Oslo."}')

    assert [(each.source.text, each.relation, each.target.text) for each in found.relationships] == [
        ("Ana", "married_to", "Rose"),
        ("I", "works_at", "Acme"),
        ("I", "lives_in", "Oslo"),
    ]
    assert sorted(each.text for each in found.mentions) == ["Acme", "Ana", "I", "Oslo", "Rose"]
    named = extract('{"name": "Ana", "employer": "Morgan Stanley"}').mentions
    assert [(each.type, each.text) for each in named] == [("Person", "Ana"), ("Organization", "Morgan Stanley")]


@pytest.mark.parametrize(
    ("fields", "period"),
    [
        ({"employer": "Acme", "since": 2021}, ("2021-01-01", None)),
        ({"employer": "Acme", "start_date": "2021-03-05", "end_date": None}, ("2021-03-05", None)),
        ({"employer": "Acme", "from": "2021-03", "until": "2022-05"}, ("2021-03-01", "2022-06-01")),
        ({"employer": "Acme", "end_date": "2020"}, (None, "2021-01-01")),
        ({"employer": "Acme", "from": "Berlin", "to": "Oslo"}, (None, None)),
        ({"employer": {"name": "Acme", "since": "2021-03"}}, ("2021-03-01", None)),
        ({"employer": "Acme", "spouse": "Rose", "since": "2021"}, (None, None)),
        ({"employer": {"name": "Acme", "city": "Rome", "since": "2021"}}, (None, None)),
        ({"employer": "Acme", "since": "2021", "end_date": "present"}, ("2021-01-01", None)),
    ],
)
def test_a_date_beside_one_relation_gives_its_period(
    fields: dict[str, Any], period: tuple[str | None, str | None]
) -> None:
    found = extract(json.dumps({"name": "Ana", **fields}))

    [fact] = [each for each in found.relationships if each.relation == "works_at"]
    assert (fact.valid_from, fact.valid_to) == tuple(day and parse(f"{day}T00:00:00Z") for day in period)


@pytest.mark.parametrize(
    "fields",
    [
        {"employer": "Acme", "end_date": "some day"},
        {"employer": "Acme", "spouse": "Rose", "end_date": "2020"},
        {"employer": {"name": "Acme", "end_date": "some day"}},
        {"employer": "Acme", "since": "2022", "until": "2020"},
    ],
)
def test_where_something_has_ended_and_it_is_not_clear_what_or_when_nothing_holds(fields: dict[str, Any]) -> None:
    assert stated({"name": "Ana", **fields}) == set()


def test_a_key_that_is_an_attribute_of_the_type_gives_its_value() -> None:
    content = DEFAULT.model_dump()
    animal = next(kind for kind in content["entity_types"] if kind["name"] == "Animal")
    animal["attributes"] = [{"name": "weight", "means": "How heavy it is.", "kind": "number"}]
    ontology = Ontology.model_validate(content)
    turn = Turn("e", "", "user", '{"name": "Rex", "type": "dog", "weight": "30 kg", "height": 50}', 0, is_json=True)

    found = EnglishExtractor(ontology, find_times).extract(turn, [], lambda _: {})

    assert [(each.mention.text, each.name, each.value) for each in found.attributes] == [("Rex", "weight", "30 kg")]
    assert found.relationships == ()


def test_each_field_that_is_read_is_explained_with_what_matched() -> None:
    content = '{"name": "Ana", "employer": "Acme", "note": "She likes tea.", "city": "Rome"}'

    read = explain(content, DEFAULT, SAID_AT, is_json=True).sentences

    assert [(each.text, [fact.cue for fact in each.statements]) for each in read] == [
        ('"Ana"', []),
        ('"employer": "Acme"', ["employer"]),
        ("She likes tea.", ["<like>"]),
        ('"city": "Rome"', ["home"]),
    ]
    assert [fact.fact for each in read for fact in each.statements] == [
        "Ana works at Acme",
        "Ana likes tea",
        "Ana lives in Rome",
    ]
    assert all(not each.statements for each in explain(content, DEFAULT, SAID_AT).sentences if "employer" in each.text)


def test_values_of_a_document_have_their_places() -> None:
    content = ' {"a": ["x", -1.5e3, null], "b": {"c": "y"}}'
    [node] = nodes(content)

    def shown(node: Any) -> Any:
        return (node.kind, content[node.start : node.end] if not node.items else [shown(each) for each in node.items])

    assert shown(node) == (
        "object",
        [
            ("string", "a"),
            ("list", [("string", "x"), ("number", "-1.5e3"), ("other", "null")]),
            ("string", "b"),
            ("object", [("string", "c"), ("string", "y")]),
        ],
    )


def test_what_lies_deep_is_read_by_its_words_alone() -> None:
    def nested(depth: int) -> str:
        return '{"x":' * depth + '{"name": "Ana", "employer": "Acme"}' + "}" * depth

    assert stated(nested(16)) == {("Ana", "works_at", "Acme")}
    assert stated(nested(17)) == set()
    assert [each.text for each in extract(nested(400)).mentions] == ["Ana"]


def test_a_name_with_escapes_is_read_by_its_words_alone() -> None:
    assert stated('{"name": "Ana", "employer": "Soci\\u00e9t\\u00e9 Acme", "city": "Rome"}') == {
        ("Ana", "lives_in", "Rome")
    }


@pytest.mark.parametrize("content", ['{"city": "Berlin"}\n{I like tea', "7\n8", '"Berlin"\n"Oslo"'])
def test_lines_that_are_not_all_objects_or_lists_are_text(content: str) -> None:
    assert words(content) == content
    assert nodes(content) == []
