"""Corrections: "It was Munich, not Berlin", "Sorry, I meant Munich": what an earlier statement should have said.

The statement that is corrected is looked for in this turn, then in the turns before by the same speaker, latest first.
Where none fits, nothing is stated.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from asof_agents.extraction.english.context import Context, Line
from asof_agents.extraction.english.noun_phrases import Phrase, phrase_at
from asof_agents.extraction.ports import Mention, Relationship, Turn

_SAYS = frozenset({"was", "is", "'s", "were", "meant", "mean", "am", "are"})
_TURNING = frozenset({"actually", "sorry", "oops", "correction"})
_MEANT = frozenset({"meant", "mean", "correction"})
_OPENINGS = frozenset(
    "'s , - . : actually bad correction he i is it mean meant mistake my no oops say she sorry that to wait was "
    "we".split()
)

EarlierRelationships = Callable[[Turn], Sequence[Relationship]]
"""The relationships that an earlier turn states by itself."""


def read_correction(context: Context, line: Line, earlier: EarlierRelationships) -> None:
    """Where the sentence corrects an earlier statement, deny that one and state the right one."""
    low = line.sentence.low
    if line.sentence.question:
        return
    wrong: Phrase | None = None
    right: Phrase | None = None
    if "not" in low:
        right, wrong = _contrast(line)
    elif low and (low[0] in _TURNING or not _MEANT.isdisjoint(low)):
        right = _meant(line)
    if right is None:
        return
    corrected = _find(context, line, right, wrong, earlier)
    if corrected is not None:
        _correct(context, line, corrected, right, wrong)


def _contrast(line: Line) -> tuple[Phrase | None, Phrase | None]:
    """The right and the wrong of "it was X, not Y" and of "not Y but X"."""
    low = line.sentence.low
    at = low.index("not")
    wrong = phrase_at(line.sentence, at + 1, line.names, line.timed)
    if wrong is None:
        return None, None
    if at and low[at - 1] == ",":
        starts = [first for first in range(at - 1) if first == 0 or low[first - 1] in _SAYS]
    elif low[wrong.after : wrong.after + 1] in {("but",), (",",)}:
        starts, at = [wrong.after + 1], len(low) + 1
    else:
        return None, None
    for first in reversed(starts):
        if not all(word in _OPENINGS for word in low[: min(first, at)] if at <= len(low)):
            continue
        right = phrase_at(line.sentence, first, line.names, line.timed)
        if right and (right.after == at - 1 or at > len(low)):
            return right, wrong
    return None, None


def _meant(line: Line) -> Phrase | None:
    """The name in "sorry, I meant X", "actually it was X", that ends its sentence."""
    low = line.sentence.low
    at = next((at for at, word in enumerate(low) if word in _SAYS | _MEANT), len(low)) + 1
    while at < len(low) and low[at] in {",", ":", "to", "say", "in", "at"}:
        at += 1
    right = phrase_at(line.sentence, at, line.names, line.timed)
    ends = right is not None and (right.after >= len(low) or not low[right.after][0].isalnum())
    return right if right and right.name and ends and all(word in _OPENINGS for word in low[: at - 1]) else None


def _find(
    context: Context, line: Line, right: Phrase, wrong: Phrase | None, earlier: EarlierRelationships
) -> Relationship | None:
    """The latest statement of the speaker whose object is the wrong one, or could have been the right one."""
    turn = context.turn
    asked = _text(context, line, wrong).casefold() if wrong else None
    kind = context.types.of(_text(context, line, right))
    spoken: list[Sequence[Relationship]] = [context.found.relationships]
    spoken += [
        earlier(other)
        for other in reversed(context.before)
        if (other.role, other.role_type) == (turn.role, turn.role_type)
    ]
    for statements in spoken:
        for found in reversed(statements):
            relation = context.patterns.ontology.relations[found.relation]
            if found.stance != "holds" or (kind is not None and kind not in relation.targets):
                continue
            if asked == found.target.text.casefold() or (
                asked is None and kind is not None and found.target.type == kind
            ):
                return found
    return None


def _correct(context: Context, line: Line, found: Relationship, right: Phrase, wrong: Phrase | None) -> None:
    """State both halves; the times of the first statement stay those of the corrected one."""
    kind = context.types.of(_text(context, line, right)) or found.target.type
    source = _speaker_or(context, found.source)
    target = context.found.mention(kind, *line.sentence.span(right.first, right.last))
    old = found.target
    if wrong:
        old = context.found.mention(old.type, *line.sentence.span(wrong.first, wrong.last))
    span = (line.sentence.start, line.sentence.end)
    denied = replace(
        found,
        source=source,
        target=old,
        stance="denied",
        valid_from=None,
        valid_to=None,
        grain=None,
        time_words=None,
        span=span,
    )
    context.found.add(denied)
    context.found.add(replace(found, source=source, target=target, span=span))


def _speaker_or(context: Context, source: Mention) -> Mention:
    if source.speaker:
        return context.speaker() or source
    return source


def _text(context: Context, line: Line, phrase: Phrase) -> str:
    start, end = line.sentence.span(phrase.first, phrase.last)
    return context.turn.text[start:end]
