"""Corrections of an earlier statement: "It was Munich, not Berlin", "Sorry, I meant Munich", "Actually it's May 5".

The corrected statement is searched for in this turn, then in the earlier turns of the same speaker, latest first. If
none fits, nothing is extracted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import itemgetter
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.noun_phrases import Phrase
from asof_agents.extraction.ports import Mention, Relationship, Turn
from asof_projections.spelling import jaro_winkler

_LATEST = 256  # statements of a turn among which the corrected one is searched for
_SLIP = 0.7  # how alike a name that was said by mistake is to the right one, at least
_VALUE_WORDS = 6
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_PART: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]")
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th", ".", ","})
_COUNTS: Final = frozenset({"0", "month"})
_TURNING_PAIRS: Final = frozenset({("no", "wait"), ("wait", "no"), ("wait", ",")})
_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec".split()
)
_CHANGED: Final = frozenset("again also another anymore else longer more now other since second too until used".split())
_SAYS = frozenset({"was", "is", "'s", "were", "meant", "mean", "am", "are"})
_TURNING = frozenset({"actually", "sorry", "oops", "correction"})
_MEANT = frozenset({"meant", "mean", "correction"})
_CUES = _TURNING | _MEANT | {"not", "wait"}  # one of these is in every sentence that corrects
_OPENINGS = frozenset(
    "'s , - . : actually bad correction he i is it mean meant mistake my no oops say she sorry that to wait was "
    "we".split()
)

EarlierRelationships = Callable[[Turn], Iterable[Relationship]]
"""The relationships that an earlier turn states by itself, the latest first."""


def extract_correction(context: TurnContext, parsed: ParsedSentence, earlier: EarlierRelationships) -> None:
    """If the sentence corrects an earlier statement, deny that one and add the right one."""
    low = parsed.sentence.low
    if parsed.sentence.question or _CUES.isdisjoint(low):
        return
    turns = low[0] in _TURNING or not _MEANT.isdisjoint(low)
    wrong: Phrase | None = None
    right: Phrase | None = None
    if "not" in low and low.index("not") in parsed.taken:
        return  # "use tabs, not spaces" was read as it stands
    if "not" in low:
        right, wrong = _contrast(parsed)
    elif turns:
        right = _meant(parsed)
    corrected = right and _find(context, parsed, right, wrong, earlier)
    if right and corrected:
        _correct(context, parsed, corrected, right, wrong)
    elif turns and _correct_value(context, parsed, earlier):
        return
    elif "not" in low or low[0] in _TURNING or low[:2] in _TURNING_PAIRS:
        _correct_statements(context, parsed, earlier)


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
    asked = _text(context, parsed, wrong).casefold() if wrong else None
    text = _text(context, parsed, right)
    kind = context.types.of(text)
    spoken = _spoken(context, parsed, earlier)
    if asked is None and kind is None:
        return _alike(context, spoken, text)
    for found in chain.from_iterable(spoken):
        if _may_have(context, found, kind):
            if asked is None and found.target.type == kind:
                return found
            if asked == found.target.text.casefold():
                return found
    return None


def _alike(context: TurnContext, spoken: Iterable[Sequence[Relationship]], text: str) -> Relationship | None:
    """Return the statement that a name of no known type corrects: of the name most alike, or the one just said."""
    named = [
        [found for found in statements if _may_have(context, found, None) and found.target.text[:1].isupper()]
        for statements in islice(spoken, 1 + len(context.before))
    ]
    scored = [(jaro_winkler(each.target.text, text), each) for each in chain.from_iterable(named)]
    score, best = max(scored, key=itemgetter(0), default=(0.0, None))
    if score >= _SLIP:
        return best
    latest = next((statements for statements in named[:2] if statements), [])
    return latest[0] if len({found.target.text for found in latest}) == 1 else None


def _spoken(
    context: TurnContext, parsed: ParsedSentence, earlier: EarlierRelationships
) -> Iterator[Sequence[Relationship]]:
    """Yield what the speaker said to hold, the latest first: before this sentence, then in each of the turns before."""
    turn, start = context.turn, parsed.sentence.start
    yield _holding(found for found in context.findings.relationships_reversed() if found.span[0] < start)
    for other in reversed(context.before):
        if (other.role, other.role_type) == (turn.role, turn.role_type):
            yield _holding(earlier(other))


def _holding(statements: Iterable[Relationship]) -> list[Relationship]:
    return [found for found in islice(statements, _LATEST) if found.stance == "holds"]


def _may_have(context: TurnContext, found: Relationship, kind: str | None) -> bool:
    relation = context.patterns.ontology.relation(found.relation)
    return relation is not None and (kind is None or kind in relation.targets)


def _correct(
    context: TurnContext, parsed: ParsedSentence, found: Relationship, right: Phrase, wrong: Phrase | None
) -> None:
    """Add the denial and the correction, which keeps the times of the earlier statement."""
    kind = context.types.of(_text(context, parsed, right)) or found.target.type
    target = context.findings.mention(kind, *parsed.sentence.span(right.first, right.last))
    old = found.target
    if wrong:
        old = context.findings.mention(old.type, *parsed.sentence.span(wrong.first, wrong.last))
    denied = _deny(context, parsed, replace(found, target=old))
    context.findings.add(replace(found, source=denied.source, target=target, span=denied.span, cue=None))


def _correct_value(context: TurnContext, parsed: ParsedSentence, earlier: EarlierRelationships) -> bool:
    """Correct the latest value of the same form: "May 4" by "it's May 5", "900 euros" by "950 euros" or "950"."""
    first, last = _value(parsed)
    start, end = parsed.sentence.span(first, last) if first < last else (0, 0)
    text = context.turn.text[start:end]
    form = _form(text)
    if form.isdisjoint(_COUNTS):
        return False
    for found in chain.from_iterable(_spoken(context, parsed, earlier)):
        old = found.target.text
        words = _NUMBER.sub(text, old) if form == {"0"} and len(_NUMBER.findall(old)) == 1 else text
        if _form(old) == _form(words) and words.casefold() != old.casefold():
            denied = _deny(context, parsed, found)
            target = context.findings.mention(found.target.type, start, end, words)
            context.findings.add(replace(found, source=denied.source, target=target, span=denied.span, cue=None))
            return True
    return False


def _value(parsed: ParsedSentence) -> tuple[int, int]:
    """Return the words that end "sorry, May 5" or "actually it was 950 euros", which may be none."""
    low, last = parsed.sentence.low, parsed.last_word
    first = next((at for at, word in enumerate(low) if word not in _OPENINGS), last)
    return (first, last) if last - first <= _VALUE_WORDS else (last, last)


def _form(value: str) -> frozenset[str]:
    """Return the words of a value, with one sign for all numbers and one for all months."""
    said = (part.casefold() for part in _PART.findall(value))
    return frozenset("0" if part[0].isdigit() else "month" if part in _MONTHS else part for part in said) - _ORDINALS


def _correct_statements(context: TurnContext, parsed: ParsedSentence, earlier: EarlierRelationships) -> None:
    """Correct by what this sentence states: "No wait, I live in Bergen", "I'm allergic to walnuts, not peanuts".

    Of a relation that may have several objects only what is denied was wrong.
    """
    low, start = parsed.sentence.low, parsed.sentence.start
    if not _CHANGED.isdisjoint(low):
        return
    turned = low[0] in _TURNING or low[:2] in _TURNING_PAIRS
    denied = parsed.phrase_at(low.index("not") + 1) if "not" in low else None
    wrong = _text(context, parsed, denied).casefold() if denied else None
    here = [
        said
        for said in context.findings.relationships
        if said.span[0] == start and said.valid_from is None and said.valid_to is None
    ]
    here = [said for said in here if _may_correct(context, said, turned=turned, denies=wrong is not None)]
    if not here:
        return  # before the earlier turns are read once more
    before = list(chain.from_iterable(_spoken(context, parsed, earlier)))
    for said in here:
        target = said.target.text.casefold()
        known = [found for found in before if _slot(found) == _slot(said)]
        if said.stance == "ended":
            meant = [found for found in known if found.target.text.casefold() == target]
        elif wrong is not None:
            meant = [found for found in known if found.target.text.casefold() == wrong]
        else:
            meant = [found for found in known[:1] if found.target.text.casefold() != target]
        for found in meant[:1]:
            _deny(context, parsed, found)


def _may_correct(context: TurnContext, said: Relationship, *, turned: bool, denies: bool) -> bool:
    """Whether a statement can say of an earlier one that it was wrong; `denies`: words of its sentence are denied."""
    if said.stance == "ended":
        return turned
    return said.stance == "holds" and (denies or (turned and _has_one(context, said)))


def _has_one(context: TurnContext, said: Relationship) -> bool:
    relation = context.patterns.ontology.relation(said.relation)
    return relation is not None and relation.cardinality == "one"


def _slot(found: Relationship) -> tuple[str, str]:
    return "" if found.source.speaker else found.source.text, found.relation


def _deny(context: TurnContext, parsed: ParsedSentence, found: Relationship) -> Relationship:
    """Add the denial of an earlier statement of the speaker, and return it."""
    denied = replace(
        found,
        source=_speaker_or(context, found.source),
        stance="denied",
        valid_from=None,
        valid_to=None,
        grain=None,
        time_words=None,
        granule=None,
        planned=False,
        span=(parsed.sentence.start, parsed.sentence.end),
        cue=None,
    )
    context.findings.add(denied)
    return denied


def _speaker_or(context: TurnContext, source: Mention) -> Mention:
    if source.speaker:
        return context.speaker() or source
    return source


def _text(context: TurnContext, parsed: ParsedSentence, phrase: Phrase) -> str:
    start, end = parsed.sentence.span(phrase.first, phrase.last)
    return context.turn.text[start:end]
