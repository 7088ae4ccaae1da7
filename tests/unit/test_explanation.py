"""The dry run of the rules: it finds what extraction finds, and says why it finds no more."""

import pytest

from asof_agents.extraction.english.explanation import ExtractionReport, ReadSentence, explain
from asof_ontologies.model import Ontology
from asof_ontologies.registry import load
from asof_streams.errors import InvalidInput
from asof_streams.instants import parse, to_datetime

SAID_AT = parse("2024-05-15T10:00:00Z")
DEFAULT = load("default")


def read(text: str, ontology: Ontology = DEFAULT, speaker: str = "Ana") -> ExtractionReport:
    return explain(text, ontology, SAID_AT, speaker)


def only(text: str, ontology: Ontology = DEFAULT) -> ReadSentence:
    [sentence] = read(text, ontology).sentences
    return sentence


def reasons(text: str) -> list[tuple[str, str]]:
    return [(miss.words, miss.reason) for miss in only(text).near_misses]


def test_a_sentence_shows_its_mentions_its_times_its_statement_and_the_cue_that_matched() -> None:
    sentence = only("I moved to Berlin in March.")

    assert {(mention.type, mention.text) for mention in sentence.mentions} == {("Person", "I"), ("Location", "Berlin")}
    [time] = sentence.times
    march, april = (to_datetime(parse(f"2024-0{month}-01T00:00:00Z")) for month in (3, 4))
    assert (time.words, time.kind, time.start, time.stop, time.grain) == ("in March", "point", march, april, "month")
    [stated] = sentence.statements
    assert (stated.op, stated.fact, stated.valid_at, stated.time_words) == (
        "assert",
        "Ana lives in Berlin",
        march,
        "in March",
    )
    assert stated.cue is not None
    assert stated.cue.startswith("<move>")
    assert stated.cue in DEFAULT.relations["lives_in"].starts
    assert sentence.near_misses == ()


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("Do you live in Oslo?", "Do you live in Oslo?", "a question states nothing"),
        ("Maybe I moved to Rome.", "Maybe I moved to Rome.", '"maybe" makes it unsure'),
        ("I live in Rome, I think.", "I live in Rome, I think.", "it is only a guess"),
        ("I should move to Rome.", "should move to Rome.", "it may be only a thought, a wish or a report"),
        ("He works at SAP.", "He", "it is not clear whom it means"),
        ("I asked Zorgon.", "Zorgon", "no type of entity is known for this name"),
        ("I will live in Oslo.", "live in Oslo", "its tense does not say for sure that it holds or ended"),
        ("Lovely weather.", "Lovely weather.", "it has no subject with the verb of a cue, and no noun of a relation"),
    ],
)
def test_what_was_nearly_stated_comes_with_the_words_and_the_reason(text: str, words: str, reason: str) -> None:
    assert (words, reason) in reasons(text)
    assert only(text).statements == ()


def test_a_cue_that_nearly_matched_is_named() -> None:
    near = [(miss.words, miss.relation, miss.cue) for miss in only("I have lived with a dog.").near_misses]

    assert ("lived", "lives_in", "<live> in|near|outside") in near


def test_statements_that_an_ontology_does_not_allow_are_near_misses() -> None:
    relations = DEFAULT.relations
    lives_in = relations["lives_in"].model_copy(update={"pairs": (("Person", "Organization"),)})
    narrow = DEFAULT.model_copy(update={"relation_types": (lives_in,)})

    sentence = only("I live in Oslo.", narrow)

    assert sentence.statements == ()
    assert [miss.reason for miss in sentence.near_misses] == [
        "the types of its ends are none that the ontology relates so"
    ]


def test_a_correction_has_no_cue_and_an_inverse_relation_is_shown_as_its_fact() -> None:
    _, corrected = read("I live in Munich. Sorry, I meant Hamburg.").sentences

    assert [(stated.op, stated.object, stated.cue) for stated in corrected.statements] == [
        ("retract", "Munich", None),
        ("assert", "Hamburg", None),
    ]
    child = next(one for one in read("Zoe is my mother.").statements if one.relation == "parent_of")
    assert (child.subject, child.object) == ("Zoe", "Ana")


def test_a_speaker_without_a_name_is_called_i() -> None:
    [stated] = read("I live in Oslo.", speaker="").statements

    assert (stated.subject, stated.fact) == ("I", "the speaker lives in Oslo")


def test_what_is_too_much_for_a_message_is_too_much_for_a_reading() -> None:
    with pytest.raises(InvalidInput):
        read("I have a dog, a cat and a cow. " * 60_000)
