"""A model's answer, read piece by piece: what cannot stand is refused for itself, and the rest taken. Pure.

Nothing in an answer is believed that the text does not bear out: names, quotes and time words must stand in it, types
and relations in the ontology, ids among the entities that the same answer lists.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from asof_agents.extraction.english.lexicon import SPEAKER_WORDS
from asof_agents.extraction.llm.schemas import object_of, pieces, schema_of
from asof_agents.extraction.ports import (
    Extraction,
    Grain,
    Mention,
    RejectedPart,
    Relationship,
    Stance,
    StatedAttribute,
    Turn,
)
from asof_ontologies.model import Ontology
from asof_projections.queries.summaries import GIVEN
from asof_streams.errors import InvalidInput
from asof_streams.instants import parse_moment

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+){0,5}")
_WORD: Final = re.compile(r"\w+")
_GRAINS: Final[dict[int, Grain]] = {4: "year", 7: "month", 10: "day"}  # by the length of what was written
_SPEAKER: Final = 0


class EntityAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    id: int
    text: str
    type: str


class FactAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    subject: int
    relation: str
    object: int
    stance: Stance
    quote: str
    valid_from: str | None
    valid_to: str | None
    time_words: str | None
    confidence: float


class AttributeAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    entity: int
    name: str
    value: str
    confidence: float


class Answer(BaseModel):
    """What a model is asked to give."""

    entities: list[EntityAnswered]
    facts: list[FactAnswered]


class Description(Answer):
    """The same, with what things are like: under an ontology that leaves room for what it does not name."""

    attributes: list[AttributeAnswered]


SCHEMA: Final = schema_of(Answer)
SCHEMA_WITH_ATTRIBUTES: Final = schema_of(Description)
_Why = Literal["schema", "id", "type", "span", "relation", "name", "confidence", "time", "unsaid"]


class _Refused(Exception):
    def __init__(self, why: _Why) -> None:
        self.why = why


def read(answer: str, turn: Turn, before: Sequence[Turn], ontology: Ontology) -> Extraction:
    """Return what of an answer about a turn can stand, and what was refused."""
    reading = _Reading(turn, before, ontology)
    given = object_of(answer) or {}
    for entity in pieces("entity", given.get("entities"), EntityAnswered, reading.refused):
        reading.entity(entity)
    for fact in pieces("fact", given.get("facts"), FactAnswered, reading.refused):
        reading.fact(fact)
    if not ontology.closed:
        for attribute in pieces("attribute", given.get("attributes", []), AttributeAnswered, reading.refused):
            reading.attribute(attribute)
    found, refused = tuple(reading.relationships), tuple(reading.refused)
    return Extraction(tuple(reading.used), found, refused, tuple(reading.attributes))


class _Reading:
    """One answer being read."""

    def __init__(self, turn: Turn, before: Sequence[Turn], ontology: Ontology) -> None:
        self.turn = turn
        self.ontology = ontology
        self.earlier = {m.text.casefold(): m for t in before for m in t.mentions if not m.speaker}
        self.mentions: dict[int, Mention] = {}
        self.used: dict[Mention, None] = {}  # mentions of this turn, in order
        self.relationships: list[Relationship] = []
        self.refused: list[RejectedPart] = []
        self.attributes: list[StatedAttribute] = []

    def entity(self, given: EntityAnswered) -> None:
        try:
            mention = self._mention(given)
        except _Refused as refused:
            self.refused.append(RejectedPart("entity", refused.why))
            return
        self.mentions[given.id] = mention
        if mention.episode_id == self.turn.episode_id:
            self.used[mention] = None

    def fact(self, given: FactAnswered) -> None:
        try:
            self.relationships.append(self._relationship(given))
        except _Refused as refused:
            self.refused.append(RejectedPart("fact", refused.why))

    def attribute(self, given: AttributeAnswered) -> None:
        try:
            self.attributes.append(self._attribute(given))
        except _Refused as refused:
            self.refused.append(RejectedPart("attribute", refused.why))

    def _mention(self, given: EntityAnswered) -> Mention:
        if given.id == _SPEAKER or given.id in self.mentions:
            raise _Refused("id")
        if given.type not in self.ontology.entities:
            raise _Refused("type")
        span = find(given.text, self.turn.text)
        if span:
            return Mention(self.turn.episode_id, given.type, self.turn.text[slice(*span)], span[0])
        if given.text.casefold() in self.earlier:
            return self.earlier[given.text.casefold()]
        raise _Refused("span")

    def _relationship(self, given: FactAnswered) -> Relationship:
        span = find(given.quote, self.turn.text)
        if span is None:
            raise _Refused("span")
        if not 0.0 <= given.confidence <= 1.0:
            raise _Refused("confidence")
        source, target = self._end(given.subject, span), self._end(given.object, span)
        if source == target:
            raise _Refused("id")
        self._check_relation(given.relation, source, target)
        start, end, grain, words = self._times(given)
        for mention in (source, target):
            if mention.speaker:
                self.used[mention] = None
        return Relationship(
            source, given.relation, target, given.stance, start, end, grain, words, given.confidence, span
        )

    def _attribute(self, given: AttributeAnswered) -> StatedAttribute:
        span = find(given.value, self.turn.text)
        if span is None:
            raise _Refused("span")
        if not _NAME.fullmatch(given.name) or given.name == GIVEN:
            raise _Refused("name")
        if not 0.0 <= given.confidence <= 1.0:
            raise _Refused("confidence")
        mention = self._end(given.entity, span)
        if mention.speaker:
            self.used[mention] = None
        return StatedAttribute(mention, given.name, self.turn.text[slice(*span)], given.confidence, span)

    def _end(self, given: int, quote: tuple[int, int]) -> Mention:
        if given != _SPEAKER:
            if given not in self.mentions:
                raise _Refused("id")
            return self.mentions[given]
        if _SPEAKER not in self.mentions:
            words = list(_WORD.finditer(self.turn.text))
            inside = [word for word in words if quote[0] <= word.start() < quote[1]] or words[:1]
            if not inside:
                raise _Refused("span")
            word = next((word for word in words if word[0].lower() in SPEAKER_WORDS), inside[0])
            self.mentions[_SPEAKER] = Mention(self.turn.episode_id, "Person", word[0], word.start(), speaker=True)
        return self.mentions[_SPEAKER]

    def _check_relation(self, name: str, source: Mention, target: Mention) -> None:
        relation = self.ontology.relations.get(name)
        if relation is None:
            if self.ontology.closed or not _NAME.fullmatch(name):
                raise _Refused("relation")
        elif source.type not in relation.sources or target.type not in relation.targets:
            raise _Refused("type")

    def _times(self, given: FactAnswered) -> tuple[int | None, int | None, Grain | None, str | None]:
        """Return from, to, the grain and the words; a time that the text does not speak of is refused for itself."""
        if given.valid_from is None and given.valid_to is None:
            return None, None, None, None
        span = find(given.time_words or "", self.turn.text)
        if span is None:
            self.refused.append(RejectedPart("time", "unsaid"))
            return None, None, None, None
        try:
            start, end = (None if t is None else parse_moment(t) for t in (given.valid_from, given.valid_to))
        except InvalidInput:
            raise _Refused("time") from None
        if start is not None and end is not None and start >= end:
            raise _Refused("time")
        grain = _GRAINS.get(len(given.valid_from or given.valid_to or ""), "second")
        return start, end, grain, self.turn.text[slice(*span)]


def find(words: str, text: str) -> tuple[int, int] | None:
    """Return where words stand in a text, whole, however they are spaced or capitalised; None where they do not."""
    parts = words.split()
    if not parts:
        return None
    spaced = r"\s+".join(map(re.escape, parts))
    left, right = r"(?<!\w)" if parts[0][0].isalnum() else "", r"(?!\w)" if parts[-1][-1].isalnum() else ""
    found = re.search(left + spaced + right, text, re.IGNORECASE)
    return found.span() if found else None
