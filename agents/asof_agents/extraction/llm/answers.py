"""Parses and validates a model's answer part by part: an invalid part is rejected, and the rest is used. Pure.

Every part must be supported by the text: names, quotes and time words must occur in it, types and relations must be of
the ontology, and ids must be among the entities that the same answer lists.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from asof_agents.extraction.aims import aim_of
from asof_agents.extraction.attribute_values import typed_value
from asof_agents.extraction.english.lexicon import SPEAKER_WORDS
from asof_agents.extraction.llm.schemas import object_of, pieces
from asof_agents.extraction.ports import (
    MOST_GOALS,
    Extraction,
    ImpliedGoal,
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
from asof_streams.instants import from_datetime, parse_moment, to_datetime
from asof_streams.messages import Grain
from asof_streams.timezones import off_wall, zone_of

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+){0,5}")
_WORD: Final = re.compile(r"\w+")
_GRAINS: Final[dict[int, Grain]] = {4: "year", 7: "month", 10: "day"}  # by the length of what was written
_SPEAKER: Final = 0
_LONGEST_GOAL: Final = 500  # characters of its description


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


class ExtractionAnswer(BaseModel):
    """The schema of an answer about a turn."""

    entities: list[EntityAnswered]
    facts: list[FactAnswered]


class OpenExtractionAnswer(ExtractionAnswer):
    """The schema under an ontology that is not closed: it has attributes as well."""

    attributes: list[AttributeAnswered]


class ObjectiveAnswered(BaseModel):
    model_config = ConfigDict(strict=True)

    description: str
    saliency: float
    quote: str


class ChatAnswer(ExtractionAnswer):
    """The schema of an answer about a person's turn of a chat."""

    objectives: list[ObjectiveAnswered]


class OpenChatAnswer(OpenExtractionAnswer):
    """The same, under an ontology that is not closed."""

    objectives: list[ObjectiveAnswered]


_Why = Literal[
    "schema",
    "id",
    "type",
    "span",
    "relation",
    "name",
    "confidence",
    "saliency",
    "description",
    "time",
    "unsaid",
    "choice",
    "number",
    "date",
]


class _Rejected(Exception):
    """A part of an answer that cannot stand. `field`: the attribute of the ontology whose value is not of its kind."""

    def __init__(self, why: _Why, field: str = "") -> None:
        self.why = why
        self.field = field


def parse_answer(answer: str, turn: Turn, before: Sequence[Turn], ontology: Ontology) -> Extraction:
    """Return the valid parts of an answer about a turn, and the reasons of the rejected ones."""
    parser = _AnswerParser(turn, before, ontology)
    fields = object_of(answer) or {}
    for entity in pieces("entity", fields.get("entities"), EntityAnswered, parser.refused):
        parser.entity(entity)
    for fact in pieces("fact", fields.get("facts"), FactAnswered, parser.refused):
        parser.fact(fact)
    if not ontology.closed or ontology.has_attributes:
        for attribute in pieces("attribute", fields.get("attributes", []), AttributeAnswered, parser.refused):
            parser.attribute(attribute)
    if turn.chat:
        for objective in pieces("objective", fields.get("objectives", []), ObjectiveAnswered, parser.refused):
            parser.objective(objective)
    found, refused = tuple(parser.relationships), tuple(parser.refused)
    return Extraction(tuple(parser.used), found, refused, tuple(parser.attributes), tuple(parser.goals))


class _AnswerParser:
    """Parses one answer; it collects the valid parts and the rejected ones."""

    def __init__(self, turn: Turn, before: Sequence[Turn], ontology: Ontology) -> None:
        self.turn = turn
        self.ontology = ontology
        self.earlier = {m.text.casefold(): m for t in before for m in t.mentions if not m.speaker}
        self.mentions: dict[int, Mention] = {}
        self.used: dict[Mention, None] = {}  # mentions of this turn, in order
        self.relationships: list[Relationship] = []
        self.refused: list[RejectedPart] = []
        self.attributes: list[StatedAttribute] = []
        self.goals: list[ImpliedGoal] = []

    def entity(self, answered: EntityAnswered) -> None:
        try:
            mention = self._mention(answered)
        except _Rejected as refused:
            self.refused.append(RejectedPart("entity", refused.why))
            return
        self.mentions[answered.id] = mention
        if mention.episode_id == self.turn.episode_id:
            self.used[mention] = None

    def fact(self, answered: FactAnswered) -> None:
        try:
            self.relationships.append(self._relationship(answered))
        except _Rejected as refused:
            self.refused.append(RejectedPart("fact", refused.why))

    def attribute(self, answered: AttributeAnswered) -> None:
        try:
            self.attributes.append(self._attribute(answered))
        except _Rejected as refused:
            part = f"attribute {refused.field}" if refused.field else "attribute"
            self.refused.append(RejectedPart(part, refused.why))

    def objective(self, answered: ObjectiveAnswered) -> None:
        try:
            self.goals.append(self._goal(answered))
        except _Rejected as refused:
            self.refused.append(RejectedPart("objective", refused.why))

    def _goal(self, answered: ObjectiveAnswered) -> ImpliedGoal:
        span = find_span(answered.quote, self.turn.text)
        if span is None:
            raise _Rejected("span")
        if not 0.0 <= answered.saliency <= 1.0:
            raise _Rejected("saliency")
        description = aim_of(" ".join(answered.description.split()).rstrip(".!… "))
        if not description or len(description) > _LONGEST_GOAL or not description.isprintable():
            raise _Rejected("description")
        if len(self.goals) == MOST_GOALS:
            raise _Rejected("number")
        return ImpliedGoal(description, answered.saliency, span)

    def _mention(self, answered: EntityAnswered) -> Mention:
        if answered.id == _SPEAKER or answered.id in self.mentions:
            raise _Rejected("id")
        if answered.type not in self.ontology.entities:
            raise _Rejected("type")
        span = find_span(answered.text, self.turn.text)
        if span:
            return Mention(self.turn.episode_id, answered.type, self.turn.text[slice(*span)], span[0])
        if answered.text.casefold() in self.earlier:
            return self.earlier[answered.text.casefold()]
        raise _Rejected("span")

    def _relationship(self, answered: FactAnswered) -> Relationship:
        span = find_span(answered.quote, self.turn.text)
        if span is None:
            raise _Rejected("span")
        if not 0.0 <= answered.confidence <= 1.0:
            raise _Rejected("confidence")
        source, target = self._end(answered.subject, span), self._end(answered.object, span)
        if source == target:
            raise _Rejected("id")
        self._check_relation(answered.relation, source, target)
        start, end, grain, words = self._times(answered)
        for mention in (source, target):
            if mention.speaker:
                self.used[mention] = None
        return Relationship(
            source, answered.relation, target, answered.stance, start, end, grain, words, answered.confidence, span
        )

    def _attribute(self, answered: AttributeAnswered) -> StatedAttribute:
        span = find_span(answered.value, self.turn.text)
        if span is None:
            raise _Rejected("span")
        if not _NAME.fullmatch(answered.name) or answered.name == GIVEN:
            raise _Rejected("name")
        if not 0.0 <= answered.confidence <= 1.0:
            raise _Rejected("confidence")
        mention = self._end(answered.entity, span)
        value = self._value(mention, answered.name, self.turn.text[slice(*span)])
        if mention.speaker:
            self.used[mention] = None
        return StatedAttribute(mention, answered.name, value, answered.confidence, span)

    def _value(self, mention: Mention, name: str, words: str) -> str:
        """Return the words as a value of an attribute; any will do for one that an open ontology does not declare."""
        kind = self.ontology.entities.get(mention.type)
        declared = kind.attribute(name) if kind else None
        if declared is None:
            if self.ontology.closed:
                raise _Rejected("name")
            return words
        value = typed_value(declared, words, self.turn.said_at, self.turn.timezone)
        if value is None:
            raise _Rejected(
                "number" if declared.kind == "number" else "date" if declared.kind == "date" else "choice", name
            )
        return value

    def _end(self, entity: int, quote: tuple[int, int]) -> Mention:
        if entity != _SPEAKER:
            if entity not in self.mentions:
                raise _Rejected("id")
            return self.mentions[entity]
        if _SPEAKER not in self.mentions:
            words = list(_WORD.finditer(self.turn.text))
            inside = [word for word in words if quote[0] <= word.start() < quote[1]] or words[:1]
            if not inside:
                raise _Rejected("span")
            word = next((word for word in words if word[0].lower() in SPEAKER_WORDS), inside[0])
            self.mentions[_SPEAKER] = Mention(self.turn.episode_id, "Person", word[0], word.start(), speaker=True)
        return self.mentions[_SPEAKER]

    def _check_relation(self, name: str, source: Mention, target: Mention) -> None:
        relation = self.ontology.relations.get(name)
        if relation is None:
            if self.ontology.closed or not _NAME.fullmatch(name):
                raise _Rejected("relation")
        elif source.type not in relation.sources or target.type not in relation.targets:
            raise _Rejected("type")

    def _times(self, answered: FactAnswered) -> tuple[int | None, int | None, Grain | None, str | None]:
        """Return from, to, the grain and the words. A time that the text does not state is rejected, not its fact."""
        if answered.valid_from is None and answered.valid_to is None:
            return None, None, None, None
        span = find_span(answered.time_words or "", self.turn.text)
        if span is None:
            self.refused.append(RejectedPart("time", "unsaid"))
            return None, None, None, None
        try:
            start, end = (None if t is None else self._moment(t) for t in (answered.valid_from, answered.valid_to))
        except InvalidInput:
            raise _Rejected("time") from None
        if start is not None and end is not None and start >= end:
            raise _Rejected("time")
        grain = _GRAINS.get(len(answered.valid_from or answered.valid_to or ""), "second")
        return start, end, grain, self.turn.text[slice(*span)]

    def _moment(self, answered: str) -> int:
        """Return a time of an answer; a date is that of the speaker's wall clock. InvalidInput: it is none."""
        moment = parse_moment(answered)
        if len(answered) not in _GRAINS:
            return moment
        return from_datetime(off_wall(to_datetime(moment), zone_of(self.turn.timezone)))


def find_span(words: str, text: str) -> tuple[int, int] | None:
    """Return the span of whole words in a text, whatever their spacing and capitals; None: they are not in it."""
    parts = words.split()
    if not parts:
        return None
    spaced = r"\s+".join(map(re.escape, parts))
    left, right = r"(?<!\w)" if parts[0][0].isalnum() else "", r"(?!\w)" if parts[-1][-1].isalnum() else ""
    match = re.search(left + spaced + right, text, re.IGNORECASE)
    return match.span() if match else None
