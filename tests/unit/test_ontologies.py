"""The ontologies that come with asof are sound, and a bad file says where it is wrong and what to write."""

from pathlib import Path

import pytest

from asof_ontologies import registry
from asof_ontologies.cues import parse_cue
from asof_ontologies.errors import OntologyError
from asof_ontologies.registry import load, names, read_file
from asof_ontologies.yaml_text import Unreadable, read_yaml

SMALL = """\
id: small
version: 1
description: "Two relations."
entity_types:
  - name: Person
    description: "A human being."
  - name: Place
    description: "Somewhere."
    words: [city]
relation_types:
  - name: lives_in
    sentence: "{subject} lives in {object}"
    means: "Home."
    sources: [Person]
    targets: [Place]
    cardinality: one
    cues: ["<live> in"]
  - name: home_of
    sentence: "{subject} is the home of {object}"
    means: "Home, told the other way."
    sources: [Place]
    targets: [Person]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "small.yaml"
    path.write_text(text, "utf-8")
    return path


def refused(folder: Path, text: str) -> str:
    with pytest.raises(OntologyError) as error:
        load(write(folder, text))
    return str(error.value).replace(str(folder), "")


def test_both_ontologies_are_there_under_their_ids() -> None:
    assert names() == ["agent_memory_v1", "default"]
    assert [load(name).id for name in names()] == names()


@pytest.mark.parametrize(
    "file", sorted(Path(registry.__file__).parent.glob("data/**/*.yaml")), ids=lambda file: file.stem
)
def test_a_file_of_asof_is_to_the_parser_in_c_what_it_is_to_the_one_of_files_of_others(file: Path) -> None:
    text = file.read_text("utf-8")

    assert registry._parse(file.name, text, own=True) == registry._parse(file.name, text)


def test_agent_memory_is_closed_and_bounded_and_default_is_open() -> None:
    memory = load("agent_memory_v1")
    assert memory.closed
    assert len(memory.relation_types) <= 30
    assert not load("default").closed


def test_a_person_has_one_home_one_employer_and_one_spouse() -> None:
    relations = load("default").relations
    single = {relation.name for relation in relations.values() if relation.cardinality == "one"}
    assert {"lives_in", "works_at", "married_to", "has_age"} <= single
    assert relations["married_to"].symmetric
    assert relations["parent_of"].inverse == "child_of"


def test_a_file_of_ones_own_is_read_by_its_path(tmp_path: Path) -> None:
    ontology = load(write(tmp_path, SMALL))
    assert list(ontology.relations) == ["lives_in", "home_of"]
    assert ontology.entities["Place"].words == ("city",)


def test_the_digest_is_of_the_content_not_of_the_layout(tmp_path: Path) -> None:
    first = load(write(tmp_path, SMALL)).digest
    assert load(write(tmp_path, "# a comment\n" + SMALL.replace("[city]", "\n      - city"))).digest == first
    assert load(write(tmp_path, SMALL.replace("[city]", "[town]"))).digest != first


def test_yes_no_and_years_stay_words(tmp_path: Path) -> None:
    text = SMALL.replace("[city]", "[on, yes, no, 1984, 2020-01-01]")
    assert load(write(tmp_path, text)).entities["Place"].words == ("on", "yes", "no", "1984", "2020-01-01")


EXAMPLES = """
examples:
  - text: "I live in Oslo city."
    facts: [{subject: I, relation: lives_in, object: Oslo city}]
"""


def test_examples_are_no_part_of_what_an_ontology_is(tmp_path: Path) -> None:
    without = load(write(tmp_path, SMALL))
    ontology = load(write(tmp_path, SMALL + EXAMPLES))

    assert [example.text for example in ontology.examples] == ["I live in Oslo city."]
    assert ontology.digest == without.digest
    assert "examples" not in ontology.model_dump()


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("relation: lives_in", "relation: lives", ":26: examples.0.facts.0.relation: no relation 'lives'"),
        ("{subject: I, ", "{", ":26: examples.0.facts.0.subject: Field required"),
        ("object: Oslo city", "object: Oslo city, valid_at: soon", ":26: examples.0.facts.0.valid_at: "),
        ('text: "I live in Oslo city."', 'text: ""', ":25: examples.0.text: "),
    ],
)
def test_a_bad_example_names_its_line_its_key_and_the_remedy(tmp_path: Path, good: str, bad: str, message: str) -> None:
    assert message in refused(tmp_path, SMALL + EXAMPLES.replace(good, bad, 1))


def test_all_problems_of_a_file_are_found_at_once(tmp_path: Path) -> None:
    text = SMALL.replace("targets: [Place]", "targets: [Planet]").replace('["<live> in"]', '["<live in"]')

    file = read_file(write(tmp_path, text))

    assert file.ontology is None
    assert [(problem.line, problem.key) for problem in file.problems] == [
        (15, "relation_types.0.targets.0"),
        (17, "relation_types.0.cues.0"),
    ]


BAD = [
    ("targets: [Place]", "targets: [Planet]", ":15: relation_types.0.targets.0: no entity type 'Planet'"),
    ("name: home_of", "name: lives_in", ":18: relation_types.1.name: 'lives_in' is defined twice"),
    ("name: Place", "name: Person", ":7: entity_types.1.name: 'Person' is defined twice"),
    ("cardinality: one", "cardinality: single", ":16: relation_types.0.cardinality: "),
    ("lives in {object}", "lives there", ":12: relation_types.0.sentence: write {object} in it exactly once"),
    ('["<live> in"]', '["<live in"]', ":17: relation_types.0.cues.0: write a cue as"),
    ("cardinality: one", "inverse: owned_by", ":16: relation_types.0.inverse: no relation 'owned_by'"),
    ("cardinality: one", "inverse: home_of", ":16: relation_types.0.inverse: 'home_of' must name 'lives_in'"),
    ("cardinality: one", "symmetric: true", ":16: relation_types.0.symmetric: a symmetric relation has the same"),
    (
        "cardinality: one",
        "pairs: [[Place, Person]]",
        ":16: relation_types.0.pairs.0: write a type of sources and a type",
    ),
    ("cardinality: one", "lasting: false\n    ends: ['<leave>']", ":16: relation_types.0.lasting: a deed neither"),
    ('["<live> in"]', '["<plan> to {deed}"]', ":17: relation_types.0.cues.0: {deed} is in the words of a text"),
    ("[city]", "[City]", ":9: entity_types.1.words.0: write it in lower case"),
    ("version: 1", "version: one", ":2: version: "),
    ("version: 1", "", ":1: version: Field required"),
    ("cardinality: one", "colour: red", ":16: relation_types.0.colour: "),
    ("cardinality: one", "means: again", ":16: not YAML: 'means' stands twice"),
    ('description: "Two', "description: [Two", ": not YAML"),
]


@pytest.mark.parametrize(("good", "bad", "message"), BAD, ids=[message for _, _, message in BAD])
def test_a_bad_file_names_its_line_its_key_and_the_remedy(tmp_path: Path, good: str, bad: str, message: str) -> None:
    found = refused(tmp_path, SMALL.replace(good, bad, 1))
    assert found.startswith("/small.yaml:")
    assert message in found


@pytest.mark.parametrize("text", ["", "[]", "a: b", "\t", "&a [*a]"])
def test_what_is_no_ontology_at_all_is_refused_with_the_files_name(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text).startswith("/small.yaml:")


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(OntologyError, match="agent_memory_v1, default"):
        load("agent_memory_v2")


def test_a_file_that_is_not_there_is_said_to_be_unreadable(tmp_path: Path) -> None:
    with pytest.raises(OntologyError, match="cannot be read"):
        load(tmp_path / "none.yaml")


@pytest.mark.parametrize("text", ["", "<Live> in", "<live>  in", "live (in", "<live> {object}", "<live> in {all}"])
def test_a_malformed_cue_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a cue as"):
        parse_cue(text)


def test_earlier_ontologies_of_ours_have_the_outcomes_that_they_have_today_and_one_value_is_an_outcome(
    tmp_path: Path,
) -> None:
    for file in sorted((Path(registry.__file__).parent / "data" / "earlier").glob("*.yaml")):
        before = load(file)
        today = load(before.id)
        assert before.occurrences == today.occurrences & before.relations.keys()

    own = load(write(tmp_path, SMALL.replace("cardinality: one", "cardinality: one\n    lasting: false", 1)))
    assert own.occurrences == set()


def test_a_text_that_nests_more_deeply_than_any_ontology_is_refused() -> None:
    assert read_yaml("[" * 50 + "]" * 50, own=False).data is not None

    with pytest.raises(Unreadable, match="leave tags and nested keys out"):
        read_yaml("[" * 51 + "]" * 51, own=False)
