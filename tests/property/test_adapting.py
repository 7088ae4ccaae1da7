"""Types that come with a message are refused, or make an ontology that holds together and bounds what is found."""

from hypothesis import given
from hypothesis import strategies as st

from asof.runtime.extractors import ExtractorFactory
from asof_agents.extraction.ports import Turn
from asof_agents.extraction.registry import SchemaFilter
from asof_ontologies import registry
from asof_ontologies.adaptation import TypePair, adapt_ontology
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import AttributeType, Ontology

ONTOLOGIES = [registry.load(name) for name in registry.names()]
TEXT = "I moved to Berlin. My sister Eva owns the parser. We decided to use ruff. I have a dog named Rex."


@st.composite
def adaptations(draw: st.DrawFn) -> tuple[Ontology, Ontology]:
    """Draw an ontology, and what it becomes with types of any kind; those that do not fit are drawn again."""
    ontology = draw(st.sampled_from(ONTOLOGIES))
    types = st.sampled_from([*ontology.entities, "Vendor", "Entity", "Unheard"])
    relations = st.sampled_from([*ontology.relations, "supplied_by", "unheard_of"])
    try:
        made = adapt_ontology(
            ontology,
            draw(st.dictionaries(types.filter(lambda name: name != "Entity"), st.just("A thing."), max_size=3)),
            draw(st.lists(st.sampled_from([*ontology.entities]), max_size=len(ontology.entities))),
            draw(st.dictionaries(relations, st.just("What it means."), max_size=3)),
            draw(st.lists(st.builds(TypePair, types, types, st.lists(relations, min_size=1, max_size=2)), max_size=3)),
            draw(st.dictionaries(types, st.just([AttributeType(name="size", means="How much.")]), max_size=2)),
        )
    except OntologyError:
        return ontology, ontology
    return ontology, made


@given(adaptations())
def test_an_adapted_ontology_names_nothing_that_it_has_not(made: tuple[Ontology, Ontology]) -> None:
    _, ontology = made

    for relation in ontology.relation_types:
        assert relation.sources
        assert relation.targets
        assert {*relation.sources, *relation.targets} <= ontology.entities.keys()
        assert all(pair[0] in relation.sources and pair[1] in relation.targets for pair in relation.pairs)
        assert {relation.inverse, relation.opposite} <= {None, *ontology.relations}
    assert Ontology.model_validate(ontology.model_dump(mode="json")).digest == ontology.digest


@given(adaptations())
def test_what_is_found_with_it_is_of_its_types_and_pairs(made: tuple[Ontology, Ontology]) -> None:
    named, ontology = made
    extractor = SchemaFilter(ExtractorFactory().extractor(ontology, named), ontology)

    found = extractor.extract(Turn("e", "Ana", "user", TEXT, 0), [], lambda _: {})

    assert {mention.type for mention in found.mentions} <= ontology.entities.keys()
    for stated in found.relationships:
        assert {stated.source.type, stated.target.type} <= ontology.entities.keys()
        pairs = ontology.relations[stated.relation].pairs
        assert not pairs or (stated.source.type, stated.target.type) in pairs
