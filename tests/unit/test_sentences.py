"""The sentences of an episode: addressable parts, derived from its content whenever they are asked for."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from asof_projections.sentences import sentence_at, sentence_count, sentence_id, sentence_spans


def texts(content):
    return [content[start:end] for start, end in sentence_spans(content)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Juan lives in Madrid. He works at SAP.", ["Juan lives in Madrid.", "He works at SAP."]),
        ("Really?! Yes... version 3.2 is out", ["Really?!", "Yes...", "version 3.2 is out"]),
        ("one line\n\n  another line.  \n", ["one line", "another line."]),
        ("", []),
        (" \n ", []),
        ("。", ["。"]),
    ],
)
def test_a_sentence_ends_at_punctuation_before_a_space_or_with_its_line(content, expected):
    assert texts(content) == expected


@given(st.text(alphabet="aß .!?\n\t"))
def test_sentences_keep_every_letter_in_order_and_have_no_space_around_them(content):
    found = texts(content)

    assert "".join("".join(found).split()) == "".join(content.split())
    assert all(sentence and sentence == sentence.strip() for sentence in found)


@given(st.text(alphabet="aß .!?\n\t"))
@example("k")
def test_as_many_sentences_are_counted_as_there_are(content):
    assert sentence_count(content) == len(sentence_spans(content))


def test_an_offset_is_in_one_sentence_or_between_two():
    spans = sentence_spans("Ana left.  Ben came.")

    assert [sentence_at(spans, at) for at in (0, 8, 9, 11, 19, 20)] == [0, 0, None, 1, 1, None]
    assert sentence_at([], 0) is None


def test_a_sentence_is_addressed_by_its_episode_and_its_number():
    assert sentence_id("some-episode", 2) == "some-episode:2"
