"""Attributes that an ontology declares for its entity types: what the rules and a language model make of them."""

import json

import pytest

from asof_agents.extraction.attribute_values import typed_value
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.examples import run_examples
from asof_agents.extraction.english.explanation import explain
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.hybrid import merge
from asof_agents.extraction.llm.answers import parse_answer
from asof_agents.extraction.llm.extractor import LLMExtractor
from asof_agents.extraction.ports import RejectedPart, Turn
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import AttributeType, Example, ExampleAttribute
from asof_ontologies.prompts import prompt
from asof_ontologies.registry import load, read_file
from asof_streams.instants import parse
from kitchen import kitchen_file
from world import World

ATTRIBUTES = [
    {"name": "weight", "means": "How heavy it is.", "kind": "number", "cues": ["<weigh>"]},
    {"name": "made", "means": "When it was made.", "kind": "date", "cues": ["<be> made on|in", "<come> from"]},
    {"name": "material", "means": "What it is of.", "choices": ["iron", "cast iron"], "cues": ["<be> (made) of"]},
    {"name": "nickname", "means": "What it is called.", "cues": ["<be> called"]},
]


@pytest.fixture
def kitchen(tmp_path):
    return load(kitchen_file(tmp_path, *ATTRIBUTES))


def turn(text):
    return Turn("episode", "Ana", "user", text, parse("2024-05-15T10:00:00Z"))


def found(extraction):
    return [(a.mention.text, a.name, a.value) for a in extraction.attributes]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("2019", "2019"),
        ("in 2019", "2019"),
        ("9999 BC", None),
        ("May 2019", "2019-05"),
        ("5 March 2019", "2019-03-05"),
        ("last May", "2023-05"),
        ("in spring 2019", None),
        ("2019, I think", None),
    ],
)
def test_a_date_is_as_exact_as_its_words(words, value):
    made = AttributeType(name="made", means="When it was made.", kind="date")

    assert typed_value(made, words, parse("2024-03-15T10:00:00Z"), "UTC") == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The pot weighs 3 kg.", [("pot", "weight", "3 kg")]),
        ("The pot weighs 3.", [("pot", "weight", "3")]),
        ("The pan is made of cast iron and the pot is of iron.", [("pan", "material", "cast iron")]),
        ("The pot is called Old Faithful.", [("pot", "nickname", "Old Faithful")]),
        ("The pot comes from May 2019.", [("pot", "made", "2019-05")]),
        ("The pot comes from 2019.", [("pot", "made", "2019")]),
        ("The pot weighs 1,200 g.", [("pot", "weight", "1200 g")]),
        ("The pot weighs 1,200,300.5 g now.", [("pot", "weight", "1200300.5 g")]),
        ("The pot weighs 3, the pan does not.", [("pot", "weight", "3")]),
        ("The pot weighs 3 kg and is on the shelf.", [("pot", "weight", "3 kg")]),
        ("The pan is made of iron and is on the shelf.", [("pan", "material", "iron")]),
        ("The pot weighs 3,5 kg.", []),
        ("The pot weighs 3 to 4 kg.", []),
        ("The pot weighs 3 – 4 kg.", []),
        ("The pot weighs 3 kg or 4 kg.", []),
        ("The pot weighs 3 and a half kg.", []),
        ("The pot weighs 1 1/2 kg.", []),
        ("The pot weighs 2 pounds 3 ounces.", []),
        ("The pot weighs 3 times as much.", []),
        ("The pot weighs 3 kg less than the pan.", []),
        ("The pot weighs 20 per cent of it.", []),
        ("The pan is made of iron or cast iron.", []),
        ("The pan is made of iron and the cast iron.", []),
        ("The pot is called Bob or Tom.", []),
        ("The pot weighs a lot.", []),
        ("The pan is made of gold.", []),
        ("The pot does not weigh 3 kg.", []),
        ("The pot weighed 3 kg.", []),
        ("Does the pot weigh 3 kg?", []),
        ("The shelf weighs 3 kg.", []),
    ],
)
def test_the_rules_find_the_values_that_are_of_the_kind_of_an_attribute(kitchen, text, values):
    extraction = EnglishExtractor(kitchen, find_times).extract(turn(text), [], lambda _: {})

    assert found(extraction)[: len(values) or None] == values


def answered(*attributes):
    entities = [{"id": 1, "text": "pot", "type": "Ware"}]
    return json.dumps(
        {
            "entities": entities,
            "facts": [],
            "attributes": [
                {"entity": 1, "name": name, "value": value, "confidence": 0.9} for name, value in attributes
            ],
        }
    )


def test_a_models_values_are_of_the_kind_or_refused_with_the_attribute_and_the_reason(kitchen):
    text = "The heavy pot of gold weighs 1,200 g, was made on 5 March 2020, and comes from somewhere."
    answer = answered(("weight", "1,200 g"), ("weight", "heavy"), ("material", "gold"), ("made", "somewhere"))
    extraction = parse_answer(answer, turn(text), (), kitchen)

    assert found(extraction) == [("pot", "weight", "1200 g")]
    assert extraction.refused == (
        RejectedPart("attribute weight", "number"),
        RejectedPart("attribute material", "choice"),
        RejectedPart("attribute made", "date"),
    )


@pytest.mark.parametrize(("closed", "others"), [(True, []), (False, [("pot", "colour", "red")])])
def test_what_is_not_declared_is_for_open_ontologies_alone(tmp_path, closed, others):
    ontology = load(kitchen_file(tmp_path, *ATTRIBUTES, closed=closed))
    extraction = parse_answer(answered(("colour", "red"), ("weight", "3 kg")), turn("The red pot: 3 kg."), (), ontology)

    assert found(extraction) == [*others, ("pot", "weight", "3 kg")]


@pytest.mark.parametrize("closed", [True, False])
def test_a_model_is_told_the_attributes_with_their_kinds_and_choices(tmp_path, closed):
    ontology = load(kitchen_file(tmp_path, *ATTRIBUTES, closed=closed))
    request = LLMExtractor(ontology, prompt("extract"), "model").request(turn("The pot weighs 3 kg."), ())

    assert "weight (number): How heavy it is.; made (date)" in request.system
    assert "material (iron|cast iron)" in request.system
    assert "attributes: what no fact tells" in request.system
    assert '"attributes"' in request.schema


def test_of_rules_and_a_model_the_rules_have_the_word_on_an_attribute(kitchen):
    said = turn("The pot weighs 3 kg. It has 4 l.")
    rules = EnglishExtractor(kitchen, find_times).extract(said, [], lambda _: {})
    model = parse_answer(answered(("weight", "4 l"), ("nickname", "pot")), said, (), kitchen)

    assert found(merge(rules, model)) == [("pot", "weight", "3 kg"), ("pot", "nickname", "pot")]


def test_the_value_of_an_attribute_is_shown_with_its_entity(tmp_path):
    world = World(tmp_path / "data", ontology=str(kitchen_file(tmp_path, *ATTRIBUTES)))
    world.memory.add("The pot weighs 3 kg.", group_id="g", role="Ana")
    [pot] = world.memory.entity("pot", group_id="g")

    assert [(each.name, each.value) for each in pot.attributes] == [("weight", "3 kg")]
    world.memory.close()


def test_a_dry_run_shows_the_attributes_and_mentions_of_each_sentence(kitchen):
    sentences = explain("The pot weighs 3 kg. The pan is made of iron.", kitchen, turn("").said_at).sentences

    assert [[(a.entity, a.name, a.value) for a in each.attributes] for each in sentences] == [
        [("pot", "weight", "3 kg")],
        [("pan", "material", "iron")],
    ]
    assert [[mention.text for mention in each.mentions] for each in sentences] == [["pot"], ["pan"]]


@pytest.mark.parametrize(
    ("value", "missing", "unexpected"),
    [("3 kg", (), ()), ("4 kg", ("pot weight: 4 kg",), ("pot weight: 3 kg",))],
)
def test_the_attributes_of_an_example_are_exactly_those_that_are_found(kitchen, value, missing, unexpected):
    stated = (ExampleAttribute(entity="pot", name="weight", value=value),)
    example = Example(text="The pot weighs 3 kg.", attributes=stated)
    [result] = run_examples(kitchen.model_copy(update={"examples": (example,)}), [1])

    assert (result.missing, result.unexpected) == (missing, unexpected)


def test_an_example_names_attributes_of_the_ontology_and_relations_as_facts_have_them(tmp_path):
    ends = {"sources": ["Ware"], "targets": ["Place"], "means": "Where it is."}
    back = {"sources": ["Place"], "targets": ["Ware"], "means": "What is there."}
    relations = [
        {"name": "kept_in", "sentence": "{subject} is in {object}", "inverse": "keeps", **ends},
        {"name": "keeps", "sentence": "{subject} keeps {object}", "inverse": "kept_in", **back},
    ]
    stated = {
        "text": "The pot is on the shelf.",
        "attributes": [{"entity": "pot", "name": "age", "value": "3"}],
        "facts": [{"subject": "shelf", "relation": "keeps", "object": "pot"}],
    }

    problems = read_file(kitchen_file(tmp_path, *ATTRIBUTES, relation_types=relations, examples=[stated])).problems

    assert [(problem.key, problem.remedy) for problem in problems] == [
        ("examples.0.attributes.0.name", "no attribute 'age': define it"),
        (
            "examples.0.facts.0.relation",
            "its facts are kept as 'kept_in': write that, with subject and object exchanged",
        ),
    ]


@pytest.mark.parametrize(
    ("attribute", "key"),
    [
        ({"kind": "colour"}, "entity_types.1.attributes.0.kind"),
        ({"choices": ["Iron"]}, "entity_types.1.attributes.0.choices.0"),
        ({"choices": ["iron"], "kind": "number"}, "entity_types.1.attributes.0.choices"),
        ({"cues": ["{object} <be> of"]}, "entity_types.1.attributes.0.cues.0"),
        ({"cues": ["<>"]}, "entity_types.1.attributes.0.cues.0"),
        ({"name": "summary"}, "entity_types.1.attributes.0.name"),
    ],
)
def test_an_attribute_that_cannot_stand_is_refused_with_its_key(tmp_path, attribute, key):
    with pytest.raises(OntologyError, match=key.replace(".", r"\.")):
        load(kitchen_file(tmp_path, {"name": "weight", "means": "How heavy.", **attribute}))


def test_an_ontology_without_attributes_keeps_its_digest(tmp_path):
    assert "attributes" not in json.dumps(load(kitchen_file(tmp_path)).model_dump(mode="json"))
