"""What changed between two ontologies, and what a memory needs for each change."""

from typing import Any

import pytest

from asof_agents.extraction.english.cue_words import has_any, wanted, words_of
from asof_ontologies.comparison import OntologyChange, compare
from asof_ontologies.model import AttributeType, Example, Ontology
from asof_ontologies.registry import load, names

TYPES: list[dict[str, Any]] = [
    {"name": "Person", "description": "A human being."},
    {"name": "Ware", "description": "A thing.", "words": ["pan", "knife"]},
    {"name": "Place", "description": "Somewhere.", "words": ["shelf"]},
]
RELATIONS: list[dict[str, Any]] = [
    {
        "name": "kept_in",
        "sentence": "{subject} is kept in {object}",
        "means": "Where it is.",
        "sources": ["Ware"],
        "targets": ["Place"],
        "cues": ["<be> kept in"],
    },
    {
        "name": "bought",
        "sentence": "{subject} bought {object}",
        "means": "What was paid for.",
        "sources": ["Person"],
        "targets": ["Ware"],
        "lasting": False,
        "cues": ["<buy>"],
    },
]


def made(types: list[dict[str, Any]] = TYPES, relations: list[dict[str, Any]] = RELATIONS, **fields: Any) -> Ontology:
    given = {
        "id": "kitchen",
        "version": 1,
        "description": "Things.",
        "entity_types": types,
        "relation_types": relations,
    }
    return Ontology.model_validate({**given, **fields})


def changed(*, kept_in: dict[str, Any] | None = None, bought: dict[str, Any] | None = None) -> list[OntologyChange]:
    relations = [RELATIONS[0] | (kept_in or {}), RELATIONS[1] | (bought or {})]
    return compare(made(), made(relations=relations))


def told(changes: list[OntologyChange]) -> list[tuple[str, str, str, str, str]]:
    return [(one.subject, one.name, one.label, one.key, one.needs) for one in changes]


@pytest.mark.parametrize("name", names())
def test_an_ontology_has_no_change_from_itself(name: str) -> None:
    assert compare(load(name), load(name)) == []


def test_what_decides_how_relationships_become_facts_needs_the_mentions() -> None:
    assert told(changed(kept_in={"cardinality": "one", "sentence": "{subject}: {object}"})) == [
        ("relation", "kept_in", "changed", "sentence", "mentions"),
        ("relation", "kept_in", "changed", "cardinality", "mentions"),
    ]


def test_a_cue_needs_the_episodes_with_its_words() -> None:
    lost, gained = changed(kept_in={"cues": ["<be> stored in"]})

    assert told([lost, gained]) == [
        ("relation", "kept_in", "removed", "cues", "episodes"),
        ("relation", "kept_in", "added", "cues", "episodes"),
    ]
    assert (lost.cues, gained.cues) == (("<be> kept in",), ("<be> stored in",))


def test_an_outcome_and_an_occurrence_differ_by_the_mentions_and_a_state_by_the_episodes() -> None:
    assert told(changed(bought={"lasting": "outcome"})) == [("relation", "bought", "changed", "kind", "mentions")]
    [change] = changed(bought={"lasting": True})
    assert (change.key, change.before, change.after, change.needs) == ("kind", "occurrence", "lasting", "episodes")


def test_a_new_and_a_removed_type_need_the_episodes_with_its_words() -> None:
    dish = {"name": "Dish", "description": "Food.", "words": ["soup"]}
    [new] = compare(made(), made([*TYPES, dish]))
    [gone] = compare(made([*TYPES, dish]), made())

    assert told([new, gone]) == [
        ("entity type", "Dish", "added", "", "episodes"),
        ("entity type", "Dish", "removed", "", "episodes"),
    ]
    assert new.words == gone.words == ("soup",)
    [anything] = compare(made(), made([*TYPES, dish | {"open": True}]))
    assert anything.words == anything.cues == ()  # any noun phrase may be one


def test_a_type_of_the_same_content_under_another_name_is_renamed() -> None:
    types = [kind | {"name": "Tool"} if kind["name"] == "Ware" else kind for kind in TYPES]
    stored = RELATIONS[0] | {"name": "stored_in", "sources": ["Tool"]}

    assert told(compare(made(), made(types, [stored, RELATIONS[1] | {"targets": ["Tool"]}]))) == [
        ("entity type", "Ware", "renamed", "name", "episodes"),
        ("relation", "kept_in", "renamed", "name", "episodes"),
    ]


def test_examples_versions_and_descriptions_need_nothing() -> None:
    example = Example(text="The pan is kept in the shelf.")

    changes = compare(made(), made(version=2, description="More.", id="kitchen2", examples=[example]))

    assert {one.needs for one in changes} == {"nothing"}
    assert [one.label for one in changes if one.subject == "example"] == ["added"]
    assert told(changed(kept_in={"means": "Its place."})) == [("relation", "kept_in", "changed", "means", "nothing")]


def test_what_only_a_language_model_is_told_is_marked() -> None:
    [_, change] = changed(kept_in={"means": "Its place.", "told": True})

    assert (change.key, change.needs, change.model) == ("told", "episodes", True)


def test_attributes_come_and_go_one_by_one() -> None:
    weight = AttributeType(name="weight", means="How heavy.", cues=("<weigh>",)).model_dump()
    with_weight = [kind | {"attributes": [weight]} if kind["name"] == "Ware" else kind for kind in TYPES]

    [change] = compare(made(), made(with_weight))

    assert told([change]) == [("attribute", "Ware.weight", "added", "", "episodes")]
    assert change.cues == ("<weigh>",)


def test_the_order_of_types_is_a_change() -> None:
    assert told(compare(made(), made(TYPES[::-1]))) == [
        ("ontology", "kitchen", "changed", "order of entity_types", "episodes")
    ]


@pytest.mark.parametrize(
    ("cue", "text", "has"),
    [
        ("<move> (back) to", "She moved to Oslo", True),
        ("<move> (back) to", "She moved", False),
        ("<get> a|the job at", "I got the job at Acme", True),
        ("{object} <be> written by", "It's written by Ana", True),
        ("<take> * to", "We are taking the car to Rome", True),
        ("<*>", "Anything", True),
    ],
)
def test_a_text_has_a_cue_if_it_has_all_its_words_in_some_form(cue: str, text: str, has: bool) -> None:
    assert has_any(words_of(text), wanted([cue], [])) is has


def test_a_text_has_a_word_in_the_singular_or_the_plural() -> None:
    assert has_any(words_of("Two support groups"), wanted([], ["support group"]))
    assert not has_any(words_of("A group"), wanted([], ["support group"]))
