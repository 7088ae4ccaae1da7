"""The favorite of each kind: "my favorite band is Blur", "Blur is my new favorite band". A new one ends the old."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, CONJUNCTIONS, PREPOSITIONS, PRONOUNS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.noun_phrases import Phrase
from asof_agents.extraction.english.work import WORD

_BE: Final = frozenset({"is", "'s"})
_WHOSE: Final = frozenset({"my", "his", "her"})
_NEW: Final = frozenset({"new", "current", "absolute", "all-time", "latest"})
_LATELY: Final = (("these", "days"), ("right", "now"), ("at", "the", "moment"), ("of", "all", "time"), ("so", "far"))
_NO_KIND: Final = ADVERBS | CONJUNCTIONS | PREPOSITIONS | PRONOUNS | {"and", "thing", "part", "one", "not", "is", "was"}
_AFTER_KIND: Final = ADVERBS | {"and", "these", "of"}
_AMERICAN: Final = {"colour": "color", "colours": "colors", "flavour": "flavor", "theatre": "theater"}  # one kind each
_KIND_WORDS_MAX: Final = 3
_OPENING_WORDS_MAX: Final = 12  # of a sentence that ends in "is my favorite band"


def extract_favorites(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the favorites of a sentence, which is no question, and note their words: they are no mere liking."""
    relation = context.patterns.values.get("favorite")
    low = parsed.sentence.low
    if relation is None or context.patterns.favorites.isdisjoint(low):
        return
    for at, word in enumerate(low):
        if word not in context.patterns.favorites:
            continue
        whose = at - 1
        while whose > 0 and low[whose] in _NEW:
            whose -= 1
        kind = _kind(low, at + 1)
        if whose < 0 or low[whose] not in _WHOSE or kind is None:
            continue
        context.work.spend(WORD)
        found = _after(parsed, kind) or _before(parsed, whose, kind)
        person = (
            context.speaker()
            if low[whose] == "my"
            else context.people.resolve_pronoun(low[whose], parsed.sentence.starts[whose])
        )
        if found is None or person is None:
            continue
        parsed.taken.update((whose, *range(at, kind)))
        first = found.first - (found.name and found.first > 1 and parsed.sentence.raw[found.first - 1] == "The")
        target = context.findings.mention(
            _type(context, parsed, found, relation.targets), *parsed.sentence.span(first, found.last)
        )
        name = relation.of_noun(" ".join(_AMERICAN.get(each, each) for each in low[at + 1 : kind]))
        context.findings.relate(person, name, target, Meaning("holds"), None, parsed.sentence, 0.95, word)


def _kind(low: tuple[str, ...], at: int) -> int | None:
    """Return the word after the kind that begins at a word: "band", "ice cream flavor"; None: there is none."""
    end = at
    while end < len(low) and end - at < _KIND_WORDS_MAX and low[end].isalpha() and low[end] not in _NO_KIND:
        end += 1
    return end if end > at else None


def _after(parsed: ParsedSentence, at: int) -> Phrase | None:
    """Return what comes after "is": "my favorite band these days is Blur"."""
    low = parsed.sentence.low
    at = next((at + len(words) for words in _LATELY if low[at : at + len(words)] == words), at)
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    if low[at : at + 1] == () or low[at] not in _BE:
        return None
    at += 1
    phrase = parsed.phrase_at(at)
    return phrase if phrase and low[at] not in {"not", "when", "how"} else None


def _before(parsed: ParsedSentence, whose: int, kind: int) -> Phrase | None:
    """Return what comes before "is": "Blur is my favorite band now"."""
    low = parsed.sentence.low
    be = whose - 1
    while be > 0 and low[be] in ADVERBS:
        be -= 1
    ends = kind == len(low) or not low[kind][0].isalnum() or low[kind] in _AFTER_KIND
    if be < 1 or low[be] not in _BE or not ends:
        return None
    name = parsed.names_by_end.get(be)
    if name is None and be > _OPENING_WORDS_MAX:
        return None
    phrase = parsed.phrase_at(name.first if name else 0)
    return phrase if phrase and phrase.after == be else None


def _type(context: TurnContext, parsed: ParsedSentence, phrase: Phrase, wanted: tuple[str, ...]) -> str:
    text = context.turn.text[slice(*parsed.sentence.span(phrase.first, phrase.last))]
    words = context.patterns.types_of_words(parsed.sentence.low[phrase.first : phrase.last])
    found = (context.types.of(text) if phrase.name else None, *words)
    return next((kind for kind in found if kind in wanted), wanted[0])
