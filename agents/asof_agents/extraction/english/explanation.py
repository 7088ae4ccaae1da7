"""A report of an extraction by the English rules: findings and near misses of each sentence, without a memory.

It is the extraction itself, asked to keep what it otherwise drops. No name is resolved: the text is all that is known.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Mention, Relationship, TimeHint, Turn
from asof_agents.extraction.registry import SchemaFilter, is_restricted
from asof_ontologies.model import Ontology
from asof_projections.model.answers import Answer, Confidence, Instant, Name, Relation, answer, time_of

T = TypeVar("T")

_OPS: dict[str, Literal["assert", "end", "retract"]] = {"holds": "assert", "ended": "end", "denied": "retract"}
_UNNAMED, _SPEAKER = "I", "the speaker"  # of whom no name is given
_NO_CLAUSE = "it has no subject with the verb of a cue, and no noun of a relation"
_TYPES_DO_NOT_FIT = "the types of its ends are none that the ontology relates so"


@answer
class ReadMention(Answer):
    """An entity as worded."""

    type: Annotated[str, Field(examples=["Location"])]
    text: Annotated[str, Field(examples=["Berlin"])]


@answer
class ReadTime(Answer):
    """Words of time, and the period that they mean for a message said at that time."""

    words: Annotated[str, Field(examples=["in March"])]
    kind: Annotated[str, Field(examples=["point"], description="point, since, until or during.")]
    start: Annotated[Instant | None, Field(description="Null: no start is stated.")]
    stop: Annotated[Instant | None, Field(description="Null: no end is stated.")]
    grain: Annotated[str, Field(examples=["month"])]


@answer
class ReadStatement(Answer):
    """A statement as it would be made of the text: the fact that it asserts, ends or retracts."""

    op: Literal["assert", "end", "retract"]
    subject: Name
    relation: Relation
    object: Annotated[str, Field(examples=["Berlin"])]
    fact: Annotated[str, Field(examples=["Ana lives in Berlin"], description="Its sentence.")]
    valid_at: Annotated[Instant | None, Field(description="Null: none is stated, so it is when it was said.")]
    invalid_at: Annotated[Instant | None, Field(description="Null: none is stated.")]
    time_words: Annotated[str | None, Field(examples=["in March"])]
    confidence: Confidence
    cue: Annotated[str | None, Field(examples=["<move> to"], description="Null: it corrects an earlier statement.")]


@answer
class ReadAttribute(Answer):
    """A value that the text states of an entity."""

    entity: Name
    name: Annotated[str, Field(examples=["weight"])]
    value: Annotated[str, Field(examples=["3 kg"])]


@answer
class NearMiss(Answer):
    """Words that nearly stated something, and why they did not."""

    words: Annotated[str, Field(examples=["might move to"])]
    reason: Annotated[str, Field(examples=["a question states nothing"])]
    relation: Relation | None
    cue: Annotated[str | None, Field(examples=["<move> to"], description="The cue that nearly matched, if one did.")]


@answer
class ReadSentence(Answer):
    """One sentence, or one field of a JSON document, and what was found in it."""

    text: Annotated[str, Field(examples=["I moved to Berlin in March."])]
    mentions: tuple[ReadMention, ...]
    times: tuple[ReadTime, ...]
    statements: tuple[ReadStatement, ...]
    attributes: tuple[ReadAttribute, ...]
    near_misses: tuple[NearMiss, ...]


@answer
class ExtractionReport(Answer):
    """The findings of the rules in a text under an ontology."""

    ontology: Annotated[str, Field(examples=["default"])]
    sentences: tuple[ReadSentence, ...]

    @property
    def statements(self) -> tuple[ReadStatement, ...]:
        """All statements, in the order of the text."""
        return tuple(statement for sentence in self.sentences for statement in sentence.statements)

    @property
    def attributes(self) -> tuple[ReadAttribute, ...]:
        """All attributes, in the order of the text."""
        return tuple(attribute for sentence in self.sentences for attribute in sentence.attributes)


def explain(
    text: str, ontology: Ontology, said_at: int, speaker: str = "", *, is_json: bool = False
) -> ExtractionReport:
    """Return what the rules find in a text that somebody says at a time (microseconds, UTC), and what they miss.

    is_json: it is read as a JSON document, if it is one. InvalidInput: it is too much for one message.
    """
    turn = Turn("", speaker, "user", text, said_at, is_json=is_json)
    extractor = EnglishExtractor(ontology, find_times)
    context = extractor.explain(turn)
    found = context.findings.extraction()
    kept = SchemaFilter(extractor, ontology).restrict(found) if is_restricted(ontology) else found
    sentences = _Sentences(context, found, kept)
    read = [(parsed.sentence.start, sentences.of(parsed)) for parsed in context.sentences]
    read += [(start, sentences.of_field(start, end)) for start, end in context.fields]
    return ExtractionReport(ontology.id, tuple(each for _, each in sorted(read, key=itemgetter(0))))


class _Sentences:
    """The sentences of a text, with the findings grouped by the start of theirs."""

    def __init__(self, context: TurnContext, found: Extraction, kept: Extraction) -> None:
        starts = sorted(
            [parsed.sentence.start for parsed in context.sentences] + [start for start, _ in context.fields]
        )
        self._context = context
        self._mentions = _grouped(kept.mentions, lambda mention: starts[bisect_right(starts, mention.start) - 1])
        self._kept = _grouped(kept.relationships, lambda stated: stated.span[0])
        self._stated = _grouped(found.relationships, lambda stated: stated.span[0])
        self._attributes = _grouped(kept.attributes, lambda stated: starts[bisect_right(starts, stated.span[0]) - 1])
        self._misses = _grouped(dict.fromkeys(context.misses or ()), lambda miss: miss.sentence)

    def of(self, parsed: ParsedSentence) -> ReadSentence:
        start, context = parsed.sentence.start, self._context
        words = context.turn.text[start : parsed.sentence.end]
        misses = [NearMiss(miss.words, miss.reason, miss.relation, miss.cue) for miss in self._misses[start]]
        if not (self._stated[start] or self._attributes[start] or misses):
            misses.append(NearMiss(words, _NO_CLAUSE, None, None))
        return self._read(start, words, tuple(map(_time, parsed.ahead or context.timed(parsed, ahead=False))), misses)

    def of_field(self, start: int, end: int) -> ReadSentence:
        return self._read(start, self._context.document[start:end], (), [])

    def _read(self, start: int, words: str, times: tuple[ReadTime, ...], misses: list[NearMiss]) -> ReadSentence:
        context, kept, attributes = self._context, self._kept[start], self._attributes[start]
        stated = self._stated[start]
        misses += [NearMiss(words, _TYPES_DO_NOT_FIT, one.relation, one.cue) for one in stated if one not in kept]
        return ReadSentence(
            words,
            tuple(ReadMention(mention.type, mention.text) for mention in self._mentions[start]),
            times,
            tuple(_statement(one, context.patterns.ontology, context.turn.role) for one in kept),
            tuple(ReadAttribute(_name(one.mention, context.turn.role), one.name, one.value) for one in attributes),
            tuple(misses),
        )


def _grouped(found: Iterable[T], sentence: Callable[[T], int]) -> Mapping[int, list[T]]:
    groups = defaultdict[int, list[T]](list)
    for one in found:
        groups[sentence(one)].append(one)
    return groups


def _time(hint: TimeHint) -> ReadTime:
    return ReadTime(hint.words, hint.kind, time_of(hint.start), time_of(hint.end), hint.grain)


def _statement(stated: Relationship, ontology: Ontology, speaker: str) -> ReadStatement:
    relation, flipped = ontology.canonical(stated.relation)
    ends = [_name(mention, speaker) for mention in (stated.source, stated.target)]
    subject, obj = reversed(ends) if flipped else ends
    said = [_SPEAKER if name == _UNNAMED else name for name in (subject, obj)]
    kind = ontology.relation(relation)
    sentence = kind.said(relation, *said) if kind else " ".join((said[0], relation, said[1]))
    return ReadStatement(
        _OPS[stated.stance],
        subject,
        relation,
        obj,
        sentence,
        None if stated.valid_from is None else time_of(stated.valid_from),
        None if stated.valid_to is None else time_of(stated.valid_to),
        stated.time_words,
        stated.confidence,
        stated.cue,
    )


def _name(mention: Mention, speaker: str) -> str:
    return (speaker or _UNNAMED) if mention.speaker else mention.text
