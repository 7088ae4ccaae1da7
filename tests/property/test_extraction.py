"""On any text the rules answer, answer the same again, and point into the text they read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.english.sentences import blank_markup, parse_sentences
from asof_agents.extraction.ports import Extraction, Mention, Turn
from asof_ontologies.registry import load
from asof_streams.instants import parse

SAID_AT = parse("2024-05-15T10:00:00Z")
EXTRACTORS = [EnglishExtractor(load(name), find_times) for name in ("default", "agent_memory_v1")]

WORDS = st.sampled_from(
    "I i'm I've we my our she he they Ana Ben Berlin SAP Max moved lives live to in at from works work quit left "
    "not never no longer anymore don't used love hate eating meat dog sister named is was a an the and but "
    ", . ! ? \" “ ” ' - — : ; ( ) [ ] last next week March 2019 since until for three years maybe if said that "
    "actually meant sorry favorite one of started stopped going will 've 's \n é 🙂 of two".split(" ")
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(WORDS, max_size=30).map(" ".join))


def answer(extractor: EnglishExtractor, texts: list[str]) -> list[Extraction]:
    before: list[Turn] = []
    found = []
    for number, text in enumerate(texts):
        turn = Turn(f"e{number}", "Kim", "user", text, SAID_AT)
        found.append(extractor.extract(turn, before, lambda asked: {name: "Location" for name in asked if "B" in name}))
        before = [*before[-3:], Turn(turn.episode_id, "Kim", "user", text, SAID_AT, found[-1].mentions)]
    return found


@pytest.mark.parametrize("extractor", EXTRACTORS, ids=["default", "agent_memory_v1"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
@example(texts=[":A00;b", "A00'QUIT"])  # of an attribute that the ontology does not name
def test_every_answer_points_into_the_text_and_is_of_the_ontology(
    extractor: EnglishExtractor, texts: list[str]
) -> None:
    ontology = load("default" if extractor is EXTRACTORS[0] else "agent_memory_v1")
    given_before: set[Mention] = set()
    for text, found in zip(texts, answer(extractor, texts), strict=True):
        for mention in found.mentions:
            assert text[mention.start : mention.start + len(mention.text)] == mention.text != ""
            assert mention.type in ontology.entities
        assert len({(each.type, each.text) for each in found.mentions if not each.speaker}) == len(
            [each for each in found.mentions if not each.speaker]
        )
        assert sum(mention.speaker for mention in found.mentions) <= 1
        given_before |= set(found.mentions)
        for relationship in found.relationships:
            start, end = relationship.span
            assert 0 <= start < end <= len(text)
            assert ontology.relation(relationship.relation) is not None
            assert {relationship.source, relationship.target} <= given_before
            assert 0 < relationship.confidence <= 1
            if relationship.valid_from is not None and relationship.valid_to is not None:
                assert relationship.valid_from < relationship.valid_to


@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_the_same_turns_give_the_same_answer(texts: list[str]) -> None:
    again = EnglishExtractor(load("default"), find_times)
    assert answer(EXTRACTORS[0], texts) == answer(again, texts)


@given(text=TEXTS)
@example(text="0 0 0,0 0 MAYBE")  # a question or a condition behind a comma, which is of neither sentence
def test_sentences_lie_in_order_and_leave_no_word_out(text: str) -> None:
    clean = blank_markup(text)
    sentences = list(parse_sentences(text))
    ends = [0, *(sentence.end for sentence in sentences)]
    starts = [*(sentence.start for sentence in sentences), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert all(sentence.start < sentence.end for sentence in sentences)
    left_out = {clean[end:start].strip() for end, start in zip(ends, starts, strict=True)}
    assert left_out <= {"", ","}
