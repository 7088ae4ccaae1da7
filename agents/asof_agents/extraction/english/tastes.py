"""Tastes that begin with what is liked: "Pottery brings me joy", "Family means a lot to me"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FOREIGN_DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
    VAGUE_GERUNDS,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.patterns import CueEntry, match_steps, next_words

_WORDS_MAX: Final = 4
_NO_PART: Final = AUXILIARIES | CONJUNCTIONS | DETERMINERS | FOREIGN_DETERMINERS | PREPOSITIONS | PRONOUNS
_ANYBODY: Final = frozenset(
    "community family friendship health honesty kindness mental teamwork".split()
)  # who does not
_BE: Final = frozenset({"am", "'m", "'s", "been"})
_SUCH: Final = frozenset("a an big die-hard giant great huge lifelong major massive real such total true".split())
_FANS: Final = frozenset("addict aficionado buff enthusiast fan fanatic freak geek junkie lover nerd nut".split())
_LOVED: Final = frozenset({"adore", "adored", "enjoy", "enjoyed", "love", "loved"})
_OF_MINE: Final = frozenset({"hobby", "love", "obsession", "passion"})
_IS: Final = frozenset({"is", "'s", "been"})
_CONFIDENCE: Final = 0.85


def extract_taste(context: TurnContext, parsed: ParsedSentence, at: int) -> int | None:
    """Add what the speaker likes, if the words from `at` on say so of it; return the word after the cue."""
    low, tastes = parsed.sentence.low, context.patterns.tastes
    if tastes.keys().isdisjoint(low[at + 1 : at + _WORDS_MAX + 1]):
        return None
    for head in range(at + 1, min(at + _WORDS_MAX + 1, len(low))):
        cues = tastes.get(low[head])
        for entry in cues.before(next_words(parsed.sentence, head + 1, parsed.timed)) if cues else ():
            end = match_steps(entry.steps, parsed.sentence, head + 1, parsed.timed)
            if end is not None and _is_kind(low[at:head]):
                return _add(context, parsed, entry, (at, head), end)
        end = _told_as_mine(low, head)
        fond = _fond(context) if end and _is_kind(low[at:head]) else None
        if end and fond:
            return _add(context, parsed, fond, (at, head), end)
        if low[head] in _NO_PART or not low[head][0].isalnum():
            return None
    return None


def extract_fandom(context: TurnContext, parsed: ParsedSentence, at: int) -> int | None:
    """Add what the speaker is a fan of, from the verb on: "a huge Star Wars fan"; return the word after."""
    low = parsed.sentence.low
    while at < len(low) and (low[at] in ADVERBS or low[at] == "have"):
        at += 1
    if low[at : at + 1] == () or low[at] not in _BE:
        return None
    first = at + 1
    while first < len(low) and (low[first] in ADVERBS or low[first] in _SUCH):
        first += 1
    last = next((last for last in range(first + 1, min(first + _WORDS_MAX, len(low))) if low[last] in _FANS), first)
    fond = _fond(context)
    if last == first or fond is None or not _is_kind(low[first:last]):
        return None
    return _add(context, parsed, fond, (first, last), last + 1)


def _fond(context: TurnContext) -> CueEntry | None:
    return next(
        (entry for entry in context.patterns.heads.get("love", ()) if entry.kind == "cue" and not entry.steps), None
    )


def _told_as_mine(low: tuple[str, ...], at: int) -> int | None:
    """Return the word after "is something I've always loved" or "has been a passion of mine"; None: it is not said."""
    if at < len(low) and low[at] == "has":
        at += 1
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    if at >= len(low) or low[at] not in _IS:
        return None
    at += 1
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    if low[at : at + 1] == ("a",) and low[at + 2 : at + 4] == ("of", "mine"):
        return at + 4 if low[at + 1] in _OF_MINE else None
    if low[at : at + 2] not in {("something", "i"), ("something", "we")}:
        return None
    at += 2
    while at < len(low) and (low[at] in ADVERBS or low[at] in {"have", "'ve"}):
        at += 1
    return at + 1 if at < len(low) and low[at] in _LOVED else None


def _is_kind(words: tuple[str, ...]) -> bool:
    """Whether words are a kind of thing by themselves: "dance", "painting landscapes"."""
    light = words[-1] in VAGUE or words[-1] in _ANYBODY or (len(words) == 1 and words[0] in VAGUE_GERUNDS)
    return not (light or words[0][:1].isdigit()) and _NO_PART.isdisjoint(words) and len(words[-1]) > 2


def _add(context: TurnContext, parsed: ParsedSentence, entry: CueEntry, words: tuple[int, int], end: int) -> int | None:
    speaker, targets = context.speaker(), entry.relation.targets
    if speaker is None:
        return None
    start, stop = parsed.sentence.span(*words)
    known = context.types.of(context.turn.text[start:stop])
    kinds = [known, *context.patterns.types_of_words(parsed.sentence.low[slice(*words)])]
    kind = next((kind for kind in kinds if kind in targets), None) or targets[0]
    target = context.findings.mention(kind, start, stop)
    context.findings.relate(
        speaker, entry.relation.name, target, Meaning("holds"), None, parsed.sentence, _CONFIDENCE, entry.text
    )
    return end
