"""Events that no cue covers: the verb and its object in the words of the text, if a time is stated."""

from itertools import pairwise

from asof_agents.extraction.english.frames import verb_in_frame
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BARE,
    BOUNDARIES,
    CONJUNCTIONS,
    FIRST_PERSON,
    NOT_QUITE,
    ORNAMENTS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
)
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.verbs import PASTS

_WORDS_MAX = 12
# verbs of states, feelings and talk: no events
_NO_DEEDS = frozenset(
    "agreed amazed appeared asked based became bed been believed blessed bred cared caught chatted could cried "
    "decided did embed enjoyed excited expected feed felt guessed happened heard honored hoped hundred indeed "
    "inspired interested kept knew laughed let liked looked loved meant mentioned missed need needed noticed "
    "planned pleased realised realized red relieved remembered reminded said saw seed seemed shared shed sled "
    "smiled sounded sped speed spoke stayed stoked supposed surprised swamped talked thought thrilled tired "
    "told tried understood used wanted was were wished wondered worried".split()
)
_TRANSITIVE = frozenset("got had made took gave found bought brought did saw wrote".split())
_PARTICLES = frozenset({"off", "out", "over", "up"})
_CHOSEN = frozenset("chosen featured hired invited nominated picked promoted selected".split())  # "I was invited to …"
_COMPLETING = frozenset({"away", "down", "off", "out", "over", "up"})  # "broke down"
_ADVERBS = ADVERBS - NOT_QUITE
_NO_PARTICLES = PREPOSITIONS - _PARTICLES
_ALONE = frozenset({"died", "divorced", "eloped", "graduated", "retired"})  # complete without an object
_OWN = frozenset({"my", "our", "a", "an", "the", "another", "this", "these"})
_SAYS_NOTHING = VAGUE | BARE | ADVERBS | PREPOSITIONS | _OWN | ORNAMENTS


def deed_at(sentence: Sentence, at: int) -> tuple[int, int] | None:
    """Return the words of an event, from a past verb at `at` to the end of its clause; None: there is none."""
    low, count = sentence.low, len(sentence.low)
    while at < count and low[at] in _ADVERBS:
        at += 1
    if at + 1 < count and low[at] in {"have", "has"}:  # "I've emailed ten schools"
        at += 1
        while at < count and low[at] in _ADVERBS:
            at += 1
        if at < count and low[at] in {"got", "gotten"}:
            return None
    if at >= count or low[at] in NOT_QUITE:
        return None
    framed = verb_in_frame(low, at)
    chosen = low[at] in {"was", "were", "got"} and not _CHOSEN.isdisjoint(low[at + 1 : at + 2])
    if not (framed or chosen or past_deed(low[at])):
        return None
    end = framed[0] + 1 if framed else at + 1 + chosen
    while end < count and end - at < _WORDS_MAX + 4:
        word = low[end]
        # "St. Mary's": the sentence goes on
        is_abbreviation = word == "." and end + 1 < count and low[end + 1][0].isalnum()
        if word in BOUNDARIES or word in CONJUNCTIONS or not (word[0].isalnum() or word == "'s" or is_abbreviation):
            break
        if word in FIRST_PERSON and end - at > 1:
            break  # "the screenplay I was working on"
        if word != "'s" and ((word in PRONOUNS and word not in _OWN) or word in AUXILIARIES):
            return None
        end += 1
    return (at, end)


def without_times(sentence: Sentence, words: tuple[int, int], times: frozenset[int]) -> tuple[int, int] | None:
    """Return an event without its first time expression, the rest, and loose words; None: too few words are left."""
    first, last = words
    last = next((at for at in range(first, last) if at in times), last)
    low = sentence.low
    kept = first + 1 + (low[first + 1 : first + 2] != () and low[first + 1] in _COMPLETING)
    while last > kept and (low[last - 1] in PREPOSITIONS or low[last - 1] in ADVERBS or low[last - 1] in _OWN):
        last -= 1
    led_to = low[first] in _TRANSITIVE and low[first + 1 : first + 2] and low[first + 1] in _NO_PARTICLES
    if led_to and verb_in_frame(low, first) is None:
        return None  # "the picture I took in Rome"
    if low[first:last] and low[first] in _ALONE:
        return (first, last) if last - first <= _WORDS_MAX else None
    rest = low[first + 1 : last]
    telling = any(word not in _SAYS_NOTHING for word in rest) or any(
        map(BARE.issuperset, pairwise(rest))
    )  # "book club"
    return (first, last) if 2 <= last - first <= _WORDS_MAX and telling else None


def past_deed(word: str) -> bool:
    """Whether a word is a past verb of an event."""
    past = word in PASTS or word.removeprefix("re") in PASTS or (word.endswith("ed") and len(word) > 3)
    return past and word not in _NO_DEEDS
