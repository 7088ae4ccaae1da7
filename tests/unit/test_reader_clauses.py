"""The reader's candidates: which clauses of a text may be worth keeping, and what each of them states."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, RejectedPart, Turn
from asof_agents.extraction.reader.extractor import RulesAndReader
from asof_agents.extraction.reader.features import NAMES, features
from asof_agents.extraction.reader.head import FILE, head, version
from asof_agents.extraction.reader.reader import clauses_of, context_of
from asof_agents.extraction.reader.statements import statement
from asof_ontologies.registry import load
from asof_projections.embedding import weights
from asof_projections.embedding.minilm import DIMENSIONS
from asof_streams.instants import parse, render

DAY = "2024-05-15T12:00:00Z"
WHOLE = 1_000_000  # bytes that the weights may take
CONVERSATIONS = Path(__file__).parents[2] / "bench" / "conversations"


def turn(text: str, *, is_json: bool = False) -> Turn:
    return Turn("g/1", "Ana", "user", text, parse(DAY), is_json=is_json)


def clauses(text: str) -> list[str]:
    said = turn(text)
    return [text[slice(*each.span)] for each in clauses_of(context_of(said, find_times))]


def answer_of(text: str, probable: float = 0.9) -> str:
    said = turn(text)
    spans = [[*each.span, probable] for each in clauses_of(context_of(said, find_times))]
    return f'{{"clauses": {spans}}}'


def both() -> RulesAndReader:
    ontology = load("default")
    return RulesAndReader(EnglishExtractor(ontology, find_times), ontology, find_times)


def read(text: str, answer: str | None) -> Extraction:
    return both().extract(turn(text), (), lambda _: {}, answer)


def stated(text: str) -> list[tuple[str, str, str]]:
    """What each candidate states: the relation, the object, and the day of its time."""
    said = turn(text)
    context = context_of(said, find_times)
    told = [(each, statement(context, each.parsed, each.candidate)) for each in clauses_of(context)]
    return [
        (
            one.relation,
            text[slice(*each.parsed.sentence.span(one.first, one.last))],
            str(render(one.hint.start))[:10] if one.hint else "",
        )
        for each, one in told
        if one is not None
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sorted the attic and labelled forty boxes.", ["I sorted the attic", "labelled forty boxes"]),
        ("My uncle, who raised me, has a limp.", ["My uncle, who raised me, has a limp"]),
        ("Got a rusty tandem from the dump!", ["Got a rusty tandem from the dump"]),
        ("Still sanding the hull of our dinghy.", ["Still sanding the hull of our dinghy"]),
        ("Ben snores, so I sleep in the den.", ["I sleep in the den"]),  # "Ben snores" is one word too few
        ("deadline is 15 November", ["deadline is 15 November"]),
        ("I glazed a vase for Jo - want to see a picture?", ["I glazed a vase for Jo"]),
        ("I can tell you I sold the barn to Jo.", ["I sold the barn to Jo"]),
        ("I burned the soup, haha.", ["I burned the soup"]),
        ("I sold two goats by the way.", ["I sold two goats"]),
        ("I rowed to Capri, 'cause it is near.", ["I rowed to Capri"]),
        ("I wove a rug that's nine feet long.", ["I wove a rug that's nine feet long"]),
        ("My twins wash their pony.", ["My twins wash their pony"]),
        ("Dana's given me a kayak.", ["Dana's given me a kayak"]),
        ("I'm allergic to kiwis because of a gene.", ["I'm allergic to kiwis"]),
    ],
)
def test_a_clause_of_the_speaker_their_own_or_a_name_is_a_candidate(text: str, expected: list[str]) -> None:
    assert clauses(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do I own a boat?",
        "If I win, I sail to Crete.",
        'It said "I sold the farm to Jo".',
        "I could sell the barn to Jo.",
        "Hopefully I sell the barn to Jo.",
        "I love your new kitchen.",
        "I took it to the cobbler.",
        "Painting the fence helps me relax.",
        "That was the trip we took in May.",
        "We met up last week.",
        "Did I sort the attic - or the shed?",
        "I'm sorry about the barn.",
        "There are things that we will sell to Jo.",
    ],
)
def test_what_is_asked_supposed_quoted_only_possible_or_unclear_is_none(text: str) -> None:
    assert not clauses(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sorted the attic yesterday.", ("did", "sorted the attic", "2024-05-14")),
        ("I've been sanding the hull of a dinghy.", ("engaged_in", "sanding the hull of a dinghy", "")),
        ("I'm sorting the attic on Sunday.", ("plans", "sorting the attic", "2024-05-19")),
        ("I'd love to raise some goats.", ("wants", "to raise some goats", "")),
        ("I jar plums every autumn.", ("has_habit", "jar plums every autumn", "")),
        ("My neighbour keeps bees on the roof.", ("says", "My neighbour keeps bees on the roof", "")),
        ("My neighbour sold the bees in May.", ("tells", "My neighbour sold the bees in May", "2024-05-01")),
        ("My neighbour is coming on Sunday.", ("tells", "My neighbour is coming on Sunday", "2024-05-19")),
        ("I do not eat shellfish.", ("says", "I do not eat shellfish", "")),
        ("I've gone camping a few times.", ("says", "I've gone camping a few times", "")),
        ("I'd love to leave the city and raise a goat.", ("wants", "raise a goat", "")),
    ],
)
def test_a_clause_is_told_in_its_own_words_by_a_relation_to_a_deed(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in stated(text)


def test_what_hangs_on_another_verb_states_nothing() -> None:
    assert len(stated("Music helps me relax and paint the shed.")) < 2
    assert not any(words.split()[0] == "paint" for _, words, _ in stated("Music helps me relax and paint the shed."))


def test_what_the_reader_keeps_is_a_fact_of_the_speaker_with_its_probability() -> None:
    text = "My neighbour keeps bees on the roof."
    [one] = read(text, answer_of(text, 0.87)).relationships

    words = "Ana's neighbour keeps bees on the roof"
    assert (one.source.speaker, one.relation, one.target.text) == (True, "says", words)
    assert (one.confidence, one.cue, one.stance) == (0.87, "reader", "holds")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm on sick leave until the end of June.", "Ana is on sick leave until the end of June"),
        ("I don't trust ladders in my shed.", "Ana does not trust ladders in her shed"),
        ("We've had builders in our kitchen since March.", "Ana has had builders in their kitchen since March"),
        ("We all meet at our shed on Sundays.", "Ana and others all meet at their shed on Sundays"),
        ("I can't lift crates until 1 June.", "Ana can not lift crates until 1 June"),
        ("I need new boots for the farm.", "Ana needs new boots for the farm"),
        ("I'll always remember our cabin in Norway.", "Ana will always remember their cabin in Norway"),
        ("I usually jar plums with my aunt every autumn.", "to jar plums with her aunt every autumn"),
        ("I hope to plant a hedge and cut a path to the shed.", "to cut a path to the shed"),
        ("I grow beans behind my shed.", "Ana grows beans behind her shed"),
        ("I'd been wanting to try yoga for a while.", "Ana had been wanting to try yoga for a while"),
        ("Our landlord gave me a key.", "Ana's landlord gave her a key"),
        ("Dana sewed the curtains for us.", "sewed the curtains for them"),
        ("Me and my brother were in the attic of a mill.", "Ana and her brother were in the attic of a mill"),
        ("I came across this odd lamp near my house.", "came across an odd lamp near her house"),
        ("Gonna continue my edu and check out careers!", "to continue her edu and check out careers"),
        ("Restoring that old piano of my aunt.", "restoring that old piano of her aunt"),
        ("I have never been this good at chess.", "Ana has never been this good at chess"),
    ],
)
def test_what_is_kept_is_told_in_the_third_person(text: str, expected: str) -> None:
    assert expected in [one.target.text for one in read(text, answer_of(text)).relationships]


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("Ben", "Ben's aunt gave him his first violin"),
        ("Ana Silva", "Ana Silva's aunt gave her her first violin"),
        ("Quux", "Quux's aunt gave them their first violin"),
        ("", "My aunt gave me my first violin"),
    ],
)
def test_the_speaker_is_named_and_meant_by_the_pronoun_of_their_first_name(role: str, expected: str) -> None:
    text = "My aunt gave me my first violin."
    found = both().extract(replace(turn(text), role=role), (), lambda _: {}, answer_of(text))
    assert [one.target.text for one in found.relationships if one.relation == "tells"] == [expected]


def test_what_the_rules_tell_in_the_words_of_the_text_is_told_in_the_third_person_too() -> None:
    text = "My aunt moved to Spain last year. I painted my old fence with Ben yesterday."
    targets = {one.target.text for one in read(text, '{"clauses": []}').relationships if one.target.type == "Deed"}
    assert targets == {"Ana's aunt moved to Spain", "painted her old fence with Ben"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I found a studio in the old cannery. It has a skylight.", "the studio has a skylight"),
        ("My aunt believed in boats. She taught me to sail.", "Ana's aunt taught her to sail"),
        ("We hired a coach. Her room has a view of the harbour.", "the coach's room has a view of the harbour"),
        ("My parents moved in. They brought two cats and painted the fence.", "Ana's parents painted the fence"),
        ("My boots are wet. Their soles came off in the bog.", "Ana's boots' soles came off in the bog"),
    ],
)
def test_a_pronoun_becomes_the_words_that_it_means(text: str, expected: str) -> None:
    assert expected in [one.target.text for one in read(text, answer_of(text)).relationships]


@pytest.mark.parametrize(
    "text",
    [
        "It has a skylight and a stove.",
        "I found a studio. I slept. It has a skylight.",
        "My aunt and my sister sail. She taught me to sew.",
        "I'm his agent in Rome.",
        "I slept in her barn in May.",
    ],
)
def test_what_no_word_of_the_message_names_is_told_of_nobody(text: str) -> None:
    words = " ".join(one.target.text for one in read(text, answer_of(text)).relationships if one.cue == "reader")
    assert not {"skylight", "sew", "agent", "barn"} & set(words.split())


def test_a_sister_whom_the_rules_note_hides_nothing_that_is_told_of_her() -> None:
    text = "My sister works in a shop."
    assert {one.relation for one in read(text, answer_of(text)).relationships} == {"has_family", "says"}


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        ("I found a lamp for my store.", ("runs", "store"), ("did", "found a lamp for her store")),
        ("I ran a charity race for Jo in May.", ("attended", "charity race"), ("did", "ran a charity race for Jo")),
    ],
)
def test_a_part_that_the_rules_tell_does_not_hide_the_whole(
    text: str, part: tuple[str, str], whole: tuple[str, str]
) -> None:
    found = {(one.relation, one.target.text) for one in read(text, answer_of(text)).relationships}
    assert whole in found
    assert part in {(one.relation, one.target.text) for one in read(text, None).relationships}


def test_a_plain_word_is_left_out_where_the_whole_clause_is_told_but_what_ended_stays() -> None:
    text = "I took my kids to the museum yesterday."
    assert ("visited", "museum") in {(one.relation, one.target.text) for one in read(text, None).relationships}
    assert {one.relation for one in read(text, answer_of(text)).relationships} == {"did", "has_family"}

    sold = "I donated my car to a shelter yesterday."
    assert ("owns", "holds") not in {(one.relation, one.stance) for one in read(sold, answer_of(sold)).relationships}
    assert {one.relation for one in read(sold, answer_of(sold)).relationships} == {"did", "owns"}


def test_what_is_said_in_passing_is_left_out_of_a_worthless_clause_but_not_what_changes() -> None:
    text = "My husband laughed at the film. I moved to Oslo in May."
    assert {one.relation for one in read(text, answer_of(text, 0.1)).relationships} == {"lives_in"}


def test_an_ontology_that_has_no_states_in_words_tells_them_as_news() -> None:
    ontology = load("default")
    known = tuple(relation for relation in ontology.relation_types if relation.name != "says")
    older = ontology.model_copy(update={"relation_types": known})
    extractor = RulesAndReader(EnglishExtractor(older, find_times), older, find_times)
    text = "My neighbour keeps bees on the roof."
    [one] = extractor.extract(turn(text), (), lambda _: {}, answer_of(text)).relationships
    assert one.relation == "tells"


def test_a_state_holds_until_its_time() -> None:
    text = "I'm on sick leave until 1 June."
    [one] = read(text, answer_of(text)).relationships
    assert (one.relation, one.valid_from, (render(one.valid_to) or "")[:10]) == ("says", None, "2024-06-02")


def test_a_clause_that_is_probably_worth_nothing_is_told_by_nobody() -> None:
    text = "I painted the old fence with Ben yesterday. My neighbour keeps bees on the roof. I live in Oslo."
    alone = read(text, None)
    assert [one.relation for one in alone.relationships] == ["did", "lives_in"]

    assert [one.relation for one in read(text, answer_of(text, 0.1)).relationships] == ["lives_in"]
    assert "Deed" not in {mention.type for mention in read(text, answer_of(text, 0.1)).mentions}
    assert read(text, answer_of(text, 0.44)) == alone
    assert [one.relation for one in read(text, answer_of(text, 0.7)).relationships] == ["did", "lives_in", "says"]


def test_a_clause_that_the_rules_read_is_not_read_again() -> None:
    text = "I moved to Berlin in March."
    assert clauses(text)
    assert read(text, answer_of(text)) == read(text, None)


def test_without_an_answer_the_rules_read_alone_and_a_broken_one_is_refused() -> None:
    text = "I live in Oslo. I sorted the attic."
    alone = EnglishExtractor(load("default"), find_times).extract(turn(text), (), lambda _: {})

    assert read(text, None) == alone
    assert read(text, '{"clauses": []}') == alone
    broken = read(text, '{"clauses": "all"}')
    assert (broken.relationships, broken.refused) == (alone.relationships, (RejectedPart("answer", "schema"),))


def test_a_clause_of_an_answer_that_is_not_in_the_text_is_left_out() -> None:
    assert read("I sorted the attic.", '{"clauses": [[3, 700, 0.9]]}') == read("I sorted the attic.", None)


@pytest.mark.parametrize(
    "said", [turn('{"note": "I sorted the attic"}', is_json=True), replace(turn("I sorted it."), role_type="assistant")]
)
def test_of_a_document_or_an_assistant_nothing_is_asked(said: Turn) -> None:
    assert both().request(said, ()) is None


@pytest.mark.parametrize(
    "text",
    [
        "I sorted the attic and " * 400,
        "and " * 2_000 + "I sorted the attic",
        "my " * 2_000,
        "got a dog and " * 500,
        '"' * 2_000,
        "I'd love to see Oslo, and " * 300,
        "Ana " * 2_000,
    ],
)
def test_of_a_text_of_any_shape_a_bounded_number_of_clauses_is_read(text: str) -> None:
    assert len(stated(text)) <= len(clauses(text)) <= 200


def test_every_candidate_has_the_features_that_the_head_weighs() -> None:
    said = turn("I sorted the attic yesterday, and my sister's moving to Rome!")
    context = context_of(said, find_times)
    rows = [features(context, each.parsed, each.candidate) for each in clauses_of(context)]

    assert len(rows) == 2
    assert all(len(row) == len(NAMES) for row in rows)
    assert head().features == NAMES
    assert len(head().weights) == DIMENSIONS + len(NAMES)


def test_the_weights_name_what_they_were_learned_on_and_are_a_part_of_the_version() -> None:
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in CONVERSATIONS.glob("*.jsonl")}

    assert head().learned_on == digests
    assert head().embedder == weights.MINILM_ID
    assert version() == f"reader-3@{hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]}"
    assert FILE.stat().st_size < WHOLE
