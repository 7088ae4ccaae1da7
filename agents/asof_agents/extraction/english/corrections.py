"""Corrections of an earlier statement: "It was Munich, not Berlin", "Sorry, I meant Munich".

The corrected statement is searched for in this turn, then in the earlier turns of the same speaker, latest first. If
none fits, nothing is extracted.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, islice

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.noun_phrases import Phrase
from asof_agents.extraction.ports import Mention, Relationship, Turn

_LATEST = 256  # statements of a turn among which the corrected one is searched for
_SAYS = frozenset({"was", "is", "'s", "were", "meant", "mean", "am", "are"})
_TURNING = frozenset({"actually", "sorry", "oops", "correction"})
_MEANT = frozenset({"meant", "mean", "correction"})
_OPENINGS = frozenset(
    "'s , - . : actually bad correction he i is it mean meant mistake my no oops say she sorry that to wait was "
    "we".split()
)

EarlierRelationships = Callable[[Turn], Iterable[Relationship]]
"""The relationships that an earlier turn states by itself, the latest first."""


def extract_correction(context: TurnContext, parsed: ParsedSentence, earlier: EarlierRelationships) -> None:
    """If the sentence corrects an earlier statement, deny that one and add the right one."""
    low = parsed.sentence.low
    if parsed.sentence.question:
        return
    wrong: Phrase | None = None
    right: Phrase | None = None
    if "not" in low and low.index("not") in parsed.taken:
        return  # "use tabs, not spaces" was read as it stands
    if "not" in low:
        right, wrong = _contrast(parsed)
    elif low and (low[0] in _TURNING or not _MEANT.isdisjoint(low)):
        right = _meant(parsed)
    if right is None:
        return
    corrected = _find(context, parsed, right, wrong, earlier)
    if corrected is not None:
        _correct(context, parsed, corrected, right, wrong)


def _contrast(parsed: ParsedSentence) -> tuple[Phrase | None, Phrase | None]:
    """Return the right and the wrong object of "it was X, not Y" or "not Y but X"."""
    low = parsed.sentence.low
    at = low.index("not")
    opening = next((first for first, word in enumerate(low) if word not in _OPENINGS), len(low))
    wrong = parsed.phrase_at(at + 1)
    if wrong is None:
        return None, None
    if at and low[at - 1] == ",":
        starts = [first for first in range(min(at - 1, opening + 1)) if first == 0 or low[first - 1] in _SAYS]
    elif low[wrong.after : wrong.after + 1] in {("but",), (",",)}:
        starts, at = [wrong.after + 1], len(low) + 1  # what comes before is the wrong one
    else:
        return None, None
    for first in reversed(starts):
        right = parsed.phrase_at(first)
        if right and (right.after == at - 1 or at > len(low)):
            return right, wrong
    return None, None


def _meant(parsed: ParsedSentence) -> Phrase | None:
    """Return the name that ends "sorry, I meant X" or "actually it was X"."""
    low = parsed.sentence.low
    at = next((at for at, word in enumerate(low) if word in _SAYS or word in _MEANT), len(low)) + 1
    while at < len(low) and low[at] in {",", ":", "to", "say", "in", "at"}:
        at += 1
    right = parsed.phrase_at(at)
    ends = right is not None and (right.after >= len(low) or not low[right.after][0].isalnum())
    return right if right and right.name and ends and all(word in _OPENINGS for word in low[: at - 1]) else None


def _find(
    context: TurnContext, parsed: ParsedSentence, right: Phrase, wrong: Phrase | None, earlier: EarlierRelationships
) -> Relationship | None:
    """Return the speaker's latest statement with the wrong object, or with one of the right object's type."""
    turn = context.turn
    asked = _text(context, parsed, wrong).casefold() if wrong else None
    kind = context.types.of(_text(context, parsed, right))
    spoken = (
        earlier(other)
        for other in reversed(context.before)
        if (other.role, other.role_type) == (turn.role, turn.role_type)
    )
    for statements in chain([context.findings.relationships_reversed()], spoken):
        for found in islice(statements, _LATEST):
            relation = context.patterns.ontology.relation(found.relation)
            if relation is None or found.stance != "holds" or (kind is not None and kind not in relation.targets):
                continue
            if asked == found.target.text.casefold() or (
                asked is None and kind is not None and found.target.type == kind
            ):
                return found
    return None


def _correct(
    context: TurnContext, parsed: ParsedSentence, found: Relationship, right: Phrase, wrong: Phrase | None
) -> None:
    """Add the denial and the correction, which keeps the times of the earlier statement."""
    kind = context.types.of(_text(context, parsed, right)) or found.target.type
    source = _speaker_or(context, found.source)
    target = context.findings.mention(kind, *parsed.sentence.span(right.first, right.last))
    old = found.target
    if wrong:
        old = context.findings.mention(old.type, *parsed.sentence.span(wrong.first, wrong.last))
    span = (parsed.sentence.start, parsed.sentence.end)
    denied = replace(
        found,
        source=source,
        target=old,
        stance="denied",
        valid_from=None,
        valid_to=None,
        grain=None,
        time_words=None,
        granule=None,
        planned=False,
        span=span,
        cue=None,
    )
    context.findings.add(denied)
    context.findings.add(replace(found, source=source, target=target, span=span, cue=None))


def _speaker_or(context: TurnContext, source: Mention) -> Mention:
    if source.speaker:
        return context.speaker() or source
    return source


def _text(context: TurnContext, parsed: ParsedSentence, phrase: Phrase) -> str:
    start, end = parsed.sentence.span(phrase.first, phrase.last)
    return context.turn.text[start:end]
