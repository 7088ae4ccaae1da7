"""The graph is walked for a question that asks through a person, or names two relations, and for no other."""

import json
from importlib import resources

import pytest

import asof
from asking import search_of
from asof_ontologies.registry import load
from asof_projections.model.queries import HEAD
from asof_projections.model.rows import Moment
from asof_projections.retrieval.chained_questions import ChainedQuestions
from asof_projections.retrieval.search import Search
from histories import History, on

NOW = Moment(on("2025"), HEAD, deeds=True)
FACTS = [
    ("Ana", "sibling_of", "Ben"),
    ("Ana", "works_at", "Acme"),
    ("Ana", "lives_in", "Rome"),
    ("Ana", "has_boss", "Laura Bell"),
    ("Ana", "owns", "car"),
    ("Ben", "works_at", "Globex"),
    ("Ben", "married_to", "Cleo"),
    ("Cleo", "plays", "violin"),
    ("Dora", "parent_of", "Ana"),
    ("Dora", "works_at", "Initech"),
    ("Laura Bell", "likes", "jazz"),
    ("Acme", "located_in", "Bonn"),
]
FLAT = [
    "Where does Ana work?",
    "Where does Ana live and where does she work?",
    "Where does Ben work, and who is married to Cleo?",
    "Who is Ana's brother?",
    "What is the name of Ana's brother?",
    "Is Ana's brother called Ben?",
    "Where is Ana's car?",
    "What did Ana tell her brother?",
    "Where does Zoe's brother work?",
    "Where does Ana's sister-in-law work?",
    "What's the end of March like?",
    "Who works at Acme and lives in Rome?",
    "When did somebody say that Ana lives in Rome?",
    "which",
    "'s",
    "Ana's",
    "the brother of",
]


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    history = History(tmp_path_factory.mktemp("chained"))
    for number, (subject, relation, object_) in enumerate(FACTS):
        sentence = f"{subject} {relation.replace('_', ' ')} {object_}"
        history.tell(
            f"2024-01-{number + 1:02}",
            subject=subject,
            relation=relation,
            object=object_,
            fact=sentence,
            valid_at="2020",
        )
    history.tell("2024-02-01", group_id="other", relation="sibling_of", object="Emil", valid_at="2020")
    history.tell("2024-02-02", group_id="other", subject="Ben", relation="works_at", object="Hooli", valid_at="2020")
    yield history
    history.close()


def led_to(history, question, at=NOW, group="g"):
    return [chain.question for chain in ChainedQuestions(history.beliefs, group, at).of(question)]


@pytest.mark.parametrize("question", FLAT)
def test_a_flat_question_leads_nowhere(history, question):
    assert led_to(history, question) == []


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Where does Ana's brother work?", "Where does Ben work?"),
        ("Where does the twin brother of Ana work?", "Where does Ben work?"),
        ("where does ana's brother work?", "where does Ben work?"),
        ("Where does Ben’s sister live?", "Where does Ana live?"),
        ("Where does Ana's mother work?", "Where does Dora work?"),
        ("Where does Dora's daughter live?", "Where does Ana live?"),
        ("What music does Ana's boss like?", "What music does Laura Bell like?"),
        ("What does the wife of Ana's brother play?", "What does Cleo play?"),
        ("What does Ana's brother's wife play?", "What does Cleo play?"),
    ],
)
def test_a_question_that_asks_through_a_person_leads_to_them(history, question, about):
    assert led_to(history, question) == [about]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Where does the woman that Ben is married to play?", "Where does the woman Cleo is to play?"),
        ("Where is the company located which Ana works at?", "Where is the company located Acme at?"),
    ],
)
def test_a_question_that_names_two_relations_leads_on_by_the_first(history, question, about):
    assert led_to(history, question) == [about]


def test_it_leads_by_what_holds_and_was_known_at_the_moment_alone(history):
    question = "Where does Ana's brother work?"

    assert led_to(history, question, Moment(on("2019"), HEAD, deeds=True)) == []
    assert led_to(history, question, Moment(on("2025"), on("2023"), deeds=True)) == []


def test_it_leads_to_nobody_of_another_group(history):
    search = Search(history.beliefs)
    question = "Where does Ana's brother work?"

    assert led_to(history, question, group="other") == ["Where does Emil work?"]
    assert "Globex" not in {hit.object for hit in search.search(search_of(question, "other"), NOW)}
    assert "Globex" not in {hit.object for hit in search.search(search_of(question, None, all_groups=True), NOW)}


def test_of_several_people_each_is_asked_about(tmp_path):
    history = History(tmp_path)
    for number, name in enumerate(("Ben", "Carl", "Dan", "Emil")):
        history.tell(f"2024-01-0{number + 1}", relation="sibling_of", object=name, valid_at="2020")

    assert led_to(history, "Where does Ana's brother work?") == [
        "Where does Emil work?", "Where does Dan work?", "Where does Carl work?"
    ]  # fmt: skip
    history.close()


def test_a_search_answers_of_whom_the_question_asks(tmp_path):
    with asof.open(tmp_path, embedder="minilm") as memory:
        for subject, relation, object_ in FACTS:
            memory.state_fact(subject=subject, relation=relation, object=object_, valid_at="2020")

        def found(question, **more):
            return [(hit.subject, hit.object) for hit in memory.search(question, **more)]

        assert found("Where does Ana's brother work?") == [("Ben", "Globex")]
        assert found("Where does Ana work?") == [("Ana", "Acme")]
        every = found("Where does Ana's brother work?", min_probability=0)
        assert every[0] == ("Ben", "Globex")
        assert ("Ana", "Acme") in every


def test_a_question_that_nobody_can_have_meant_so_is_flat(history):
    assert led_to(history, "Ana's brother works? " * 100) == []
    assert led_to(history, "the man who " * 30_000 + "Ana's brother") == []


def test_the_nouns_of_people_are_those_of_the_default_ontology():
    of_people = {
        each.name: {"backward": each.name if each.symmetric else each.inverse, "nouns": list(each.nouns)}
        for each in load("default").relations.values()
        if (tuple(each.sources), tuple(each.targets)) == (("Person",), ("Person",)) and each.nouns
    }

    file = resources.files("asof_projections.retrieval").joinpath("people.json")
    assert json.loads(file.read_text("utf-8")) == of_people
