"""Attributes: the value that a verb gives its subject, by the attribute cues of the ontology: "the pot weighs 3 kg"."""

from asof_agents.extraction.attribute_values import typed_value
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, CONJUNCTIONS, DETERMINERS, PREPOSITIONS
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.english.patterns import AttributeCue, match_steps
from asof_agents.extraction.english.predicates import Predicate
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.ports import Mention, StatedAttribute
from asof_ontologies.model import AttributeType

_NO_UNIT = ADVERBS | CONJUNCTIONS | PREPOSITIONS
_COMPARED = frozenset({"fewer", "less", "more", "of", "per", "than", "times"})
_RANGES = frozenset({"and", "or", "to", "-", "–", "—", "/"})
_TENSES = frozenset({"present", "perfect", "progressive"})  # what it was like before is no value


def extract_attributes(
    context: TurnContext, parsed: ParsedSentence, subject: Subject, predicate: Predicate
) -> int | None:
    """Add the attribute that a verb gives its subject; return the word after its value, None if there is none."""
    if predicate.negation or predicate.tense not in _TENSES:
        return None
    for cue in context.patterns.attributes.get(parsed.sentence.low[predicate.head], ()):
        mentions = [mention for mention in subject.mentions if _fits(mention, cue)]
        if not mentions or (predicate.form and predicate.form not in cue.forms):
            continue
        context.timed(parsed, ahead=False)  # the words of times are passed over, or are the value
        at = match_steps(cue.steps, parsed.sentence, predicate.after, parsed.timed)
        words = None if at is None else _value(parsed, at, cue.attribute)
        if words is None:
            continue
        span = parsed.sentence.span(*words)
        turn = context.turn
        value = typed_value(cue.attribute, turn.text[slice(*span)], turn.said_at, turn.timezone)
        if value is not None:
            for mention in mentions:
                entity = context.registered(mention, cue.entity_type)
                stated = StatedAttribute(entity, cue.attribute.name, value, subject.confidence, span)
                context.findings.describe(stated)
            return words[1]
    return None


def _fits(mention: Mention, cue: AttributeCue) -> bool:
    if mention.type == UNTYPED:
        return cue.entity_type != "Person" or may_be_person(mention.text)
    return mention.type == cue.entity_type


def _value(parsed: ParsedSentence, at: int, attribute: AttributeType) -> tuple[int, int] | None:
    """Return the words of a value from word `at` on; None: there is none of the kind."""
    low = parsed.sentence.low
    while at < len(low) and (low[at] in ADVERBS or (attribute.choices and low[at] in DETERMINERS)):
        at += 1
    if at >= len(low):
        return None
    if attribute.choices:
        return _only_choice(low, at, attribute.choices)
    if attribute.kind == "number":
        return _number(parsed, at)
    if attribute.kind == "date":
        last = next((last for last in range(at, len(low) + 1) if last not in parsed.timed), at)
        return (at, last) if last > at else None
    phrase = parsed.phrase_at(at)
    return (phrase.first, phrase.last) if phrase and low[phrase.last : phrase.last + 1] != ("or",) else None


def _number(parsed: ParsedSentence, at: int) -> tuple[int, int] | None:
    """Return the words of a number with its unit; None: it is none, or goes on: "3 to 4 kg", "3 kg less than that"."""
    sentence, low = parsed.sentence, parsed.sentence.low
    if not low[at][0].isdigit():
        return None
    end = at + 1
    while (
        end + 1 < len(low)
        and low[end] == ","
        and low[end + 1][0].isdigit()
        and sentence.end_of(end - 1) == sentence.starts[end] == sentence.starts[end + 1] - 1
    ):
        end += 2  # "1,200" is three words
    end += _has_unit(low, end)
    return None if low[end - 1] in _COMPARED or _goes_on(low, end) else (at, end)


def _goes_on(low: tuple[str, ...], at: int) -> bool:
    """Whether a number is part of what it is compared with, of a range, or of a longer number."""
    if at >= len(low) or not (low[at][0].isdigit() or low[at] in _COMPARED or low[at] in _RANGES):
        return False
    following = low[at + 1 : at + 3]
    return low[at] not in _RANGES or (bool(following) and (following[0][0].isdigit() or "half" in following))


def _only_choice(low: tuple[str, ...], at: int, choices: tuple[str, ...]) -> tuple[int, int] | None:
    words = _choice(low, at, choices)
    if words is None or low[words[1] : words[1] + 1] not in {("or",), ("and",)}:
        return words
    other = words[1] + 1
    while other < len(low) and low[other] in DETERMINERS:
        other += 1
    return None if _choice(low, other, choices) else words


def _choice(low: tuple[str, ...], at: int, choices: tuple[str, ...]) -> tuple[int, int] | None:
    lengths = [len(words) for choice in choices if low[at : at + len(words := tuple(choice.split()))] == words]
    return (at, at + max(lengths)) if lengths else None


def _has_unit(low: tuple[str, ...], at: int) -> bool:
    return at < len(low) and (low[at] == "%" or (low[at].isalpha() and low[at] not in _NO_UNIT))
