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
        return _choice(low, at, attribute.choices)
    if attribute.kind == "number":
        return (at, at + 1 + _has_unit(low, at + 1)) if low[at][0].isdigit() else None
    if attribute.kind == "date":
        last = next((last for last in range(at, len(low) + 1) if last not in parsed.timed), at)
        return (at, last) if last > at else None
    phrase = parsed.phrase_at(at)
    return (phrase.first, phrase.last) if phrase else None


def _choice(low: tuple[str, ...], at: int, choices: tuple[str, ...]) -> tuple[int, int] | None:
    lengths = [len(words) for choice in choices if low[at : at + len(words := tuple(choice.split()))] == words]
    return (at, at + max(lengths)) if lengths else None


def _has_unit(low: tuple[str, ...], at: int) -> bool:
    return at < len(low) and (low[at] == "%" or (low[at].isalpha() and low[at] not in _NO_UNIT))
