"""Extractors of rules and a model together."""

from typing import Any

from asof_agents.extraction.hybrid import FallbackExtractor, merge
from asof_agents.extraction.ports import Extraction, Mention, Relationship, StatedAttribute, Turn


def mention(text: str, type_: str = "Thing", *, speaker: bool = False) -> Mention:
    return Mention("e", type_, text, 0, speaker)


SELF, ME = mention("I", "Person", speaker=True), mention("me", "Person", speaker=True)
CAR, TOOL = mention("car"), mention("Car", "Tool")


def extraction(*stated: Relationship, attributes: tuple[StatedAttribute, ...] = ()) -> Extraction:
    return Extraction(tuple(m for r in stated for m in (r.source, r.target)), stated, attributes=attributes)


def test_what_a_model_says_of_words_that_the_rules_found_is_of_their_mentions() -> None:
    sure = extraction(Relationship(SELF, "owns", CAR))
    more = extraction(Relationship(ME, "likes", TOOL), Relationship(TOOL, "likes", ME))

    both = merge(sure, more)

    assert both.mentions == (SELF, CAR)
    assert both.relationships[1:] == (Relationship(SELF, "likes", CAR), Relationship(CAR, "likes", SELF))


def test_a_name_is_no_speaker_of_the_same_word_and_a_speaker_whom_the_rules_did_not_find_is_new() -> None:
    name = mention("me", "Tool")
    both = merge(extraction(Relationship(name, "likes", CAR)), extraction(Relationship(ME, "owns", CAR)))

    assert both.mentions == (name, CAR, ME)
    assert both.relationships[1].source == ME


def test_the_same_two_have_a_relation_once_however_the_speaker_is_called() -> None:
    sure = extraction(Relationship(SELF, "owns", CAR, confidence=0.9))

    assert merge(sure, extraction(Relationship(ME, "owns", TOOL))).relationships == sure.relationships
    others = Relationship(CAR, "owns", ME), Relationship(ME, "owns", mention("bus")), Relationship(ME, "likes", CAR)
    assert len(merge(sure, extraction(*others)).relationships) == 4


def test_a_mention_has_an_attribute_once() -> None:
    red, color = StatedAttribute(CAR, "color", "red"), StatedAttribute(TOOL, "color", "blue")
    size = StatedAttribute(TOOL, "size", "big")
    sure = extraction(Relationship(SELF, "owns", CAR), attributes=(red,))

    more = merge(sure, extraction(attributes=(color, size)))
    assert more.attributes == (red, StatedAttribute(CAR, "size", "big"))


class Named:
    """Finds a mention of its own name in every turn."""

    version = "named-1"

    def __init__(self, name: str) -> None:
        self._name = name

    def extract(self, *_: Any) -> Extraction:
        return Extraction((mention(self._name),))


def test_without_an_answer_of_the_model_the_rules_are_asked() -> None:
    extractor, turn = FallbackExtractor(Named("rules"), Named("model")), Turn("e", "Ana", "user", "Hm.", 0)

    found = [extractor.extract(turn, (), lambda _: {}, answer).mentions[0].text for answer in (None, "", "{}")]
    assert found == ["rules", "model", "model"]
