"""An ontology adapted to one message: what is added, left out and connected, and what does not fit."""

import pytest

from asof_ontologies import registry
from asof_ontologies.adaptation import TypePair, adapt_ontology
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import AttributeType, Ontology

AGENTS = registry.load("agent_memory_v1")
DEFAULT = registry.load("default")


def with_(ontology=AGENTS, types=(), excluded=(), relations=(), pairs=(), attributes=()):
    triples = [TypePair(*pair) for pair in pairs]
    return adapt_ontology(ontology, dict(types), list(excluded), dict(relations), triples, dict(attributes))


VENDOR = {"Vendor": "A company that we buy from."}
SUPPLIED = {"supplied_by": "Who delivers the source."}


def test_a_type_that_is_added_is_beside_the_others_and_told_in_words():
    found = with_(types=VENDOR).entities

    assert found.keys() - AGENTS.entities.keys() == {"Vendor"}
    assert (found["Vendor"].description, found["Vendor"].told) == (VENDOR["Vendor"], True)
    assert found["Vendor"].words == found["Vendor"].names == ()


def test_a_type_that_is_there_already_keeps_its_words_and_takes_the_new_description():
    found = with_(types={"Team": "One of our three squads."}).entities["Team"]

    assert (found.description, found.words) == ("One of our three squads.", AGENTS.entities["Team"].words)


RATING = AttributeType(name="rating", means="How good they are.", kind="number")


def test_a_type_that_is_added_has_the_attributes_that_come_with_it():
    found = with_(types=VENDOR, attributes={"Vendor": [RATING]}).entities["Vendor"]

    assert found.attributes == (RATING,)


def test_a_type_that_is_there_already_keeps_its_attributes_and_the_cues_of_one_that_is_given_anew():
    size = AttributeType(name="size", means="How many.", kind="number", cues=("<have> about",))
    age = AttributeType(name="age", means="How old.", kind="number")
    kinds = [kind.model_copy(update={"attributes": (size, age)}) for kind in AGENTS.entity_types if kind.name == "Team"]
    others = [kind for kind in AGENTS.entity_types if kind.name != "Team"]
    ontology = AGENTS.model_copy(update={"entity_types": (*others, *kinds)})
    ontology = Ontology.model_validate(ontology.model_dump())
    said = AttributeType(name="size", means="People in it.", kind="text")

    found = with_(ontology, types={"Team": "A squad."}, attributes={"Team": [said]}).entities["Team"]

    assert found.attributes == (age, said.model_copy(update={"cues": size.cues}))


def test_a_relation_that_is_added_leads_from_any_thing_to_any_thing_or_value():
    found = with_(types=VENDOR, relations=SUPPLIED).relations["supplied_by"]

    assert set(found.targets) == {*AGENTS.entities, "Vendor"}
    assert set(found.targets) - set(found.sources) == {"Date", "Meaning", "Reason", "Rule", "Value"}
    assert (found.means, found.sentence) == (SUPPLIED["supplied_by"], "{subject} supplied by {object}")
    assert (found.cues, found.cardinality, found.pairs) == ((), "many", ())


def test_an_excluded_type_is_gone_and_so_are_the_relations_that_have_no_other():
    found = with_(excluded=["Environment", "Meaning"])

    assert AGENTS.entities.keys() - found.entities.keys() == {"Environment", "Meaning"}
    assert AGENTS.relations.keys() - found.relations.keys() == {"term_means"}
    assert found.relations["deployed_to"].targets == ("Tool",)


def test_a_relation_of_the_map_connects_the_pairs_of_the_map_alone():
    found = with_(types=VENDOR, relations=SUPPLIED, pairs=[("Component", "Vendor", ["supplied_by", "uses"])])

    for name in ("supplied_by", "uses"):
        relation = found.relations[name]
        assert (relation.sources, relation.targets, relation.pairs) == (
            ("Component",),
            ("Vendor",),
            (("Component", "Vendor"),),
        )
    assert found.relations["owns"] == AGENTS.relations["owns"]


def test_entity_in_the_map_is_any_type_and_no_value_is_a_source():
    pairs = with_(pairs=[("Entity", "Tool", ["uses"]), ("Team", "Entity", ["uses"])]).relations["uses"].pairs

    assert ("Path", "Tool") in pairs
    assert ("Team", "Meaning") in pairs
    assert ("Meaning", "Tool") not in pairs
    assert len(set(pairs)) == len(pairs)


def test_a_relation_whose_inverse_is_gone_names_none():
    inverses = [r for r in DEFAULT.relation_types if r.inverse]
    assert inverses
    for excluded in DEFAULT.entities:
        found = with_(DEFAULT, excluded=[excluded])
        assert all(r.inverse is None or r.inverse in found.relations for r in found.relation_types)
        assert all(r.opposite is None or r.opposite in found.relations for r in found.relation_types)


def test_an_adapted_ontology_has_a_digest_of_its_own_and_nothing_changed_has_none():
    assert with_(types=VENDOR).digest not in {AGENTS.digest, with_(types={"Vendor": "Another."}).digest}
    assert with_().digest == AGENTS.digest


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"types": {"Entity": "A thing."}}, "entity_types: Entity stands for any type: give it another name"),
        (
            {"excluded": ["Team", "Secret"]},
            "excluded_entity_types: it must name an entity type of the ontology or of entity_types",
        ),
        (
            {"types": VENDOR, "attributes": {"Vendor": [RATING, RATING]}},
            "entity_types.attributes.1.name: this name is defined twice: keep one",
        ),
        (
            {"types": VENDOR, "attributes": {"Vendor": [RATING.model_copy(update={"choices": ("good",)})]}},
            "entity_types.attributes.0.choices: choices are text: leave the kind or the choices out",
        ),
        (
            {"types": {"Meaning": "A meaning."}, "attributes": {"Meaning": [RATING]}},
            "entity_types.attributes: a value has no attributes: leave them out",
        ),
        ({"excluded": AGENTS.entities}, "excluded_entity_types: nothing is left: leave one type at least"),
        (
            {"excluded": [name for name in AGENTS.entities if name != "Environment"]},
            "excluded_entity_types: no relation is left: leave types that one may connect",
        ),
        (
            {"pairs": [("Team", "Tool", ["uses"]), ("Secret", "Tool", ["uses"])]},
            "relation_type_map.1.source: it must name an entity type that is not excluded, or Entity",
        ),
        (
            {"excluded": ["Tool"], "pairs": [("Team", "Tool", ["uses"])]},
            "relation_type_map.0.target: it must name an entity type that is not excluded, or Entity",
        ),
        (
            {"pairs": [("Team", "Tool", ["uses", "secret"])]},
            "relation_type_map.0.relations: it must name a relation of the ontology or of relation_types",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_field_and_no_name(given, reason):
    with pytest.raises(OntologyError) as caught:
        with_(**given)

    assert str(caught.value) == reason
