"""Deeds: the verb and its object in the words used, for what was done at a stated time and no cue covers."""

from asof_agents.extraction.lexicon import ADVERBS, AUXILIARIES, BOUNDARIES, CONJUNCTIONS, PREPOSITIONS, PRONOUNS, VAGUE
from asof_agents.extraction.sentences import Sentence
from asof_agents.extraction.verbs import PASTS

_WORDS_MAX = 8
# states, feelings and talk: no deeds
_NO_DEEDS = frozenset(
    "was were had felt thought knew wanted needed loved liked hoped said told heard asked realized realised remembered tried used "
    "decided seemed looked meant understood enjoyed spoke chatted talked mentioned saw noticed believed wondered planned "
    "expected helped could did been got became kept lost stayed wished appeared sounded happened missed let made gave put came went "
    "struggled worried laughed smiled cried wanted cared agreed caught held guessed stumbled need red bed shared showed hundred".split()
)
_OWN = frozenset({"my", "our", "a", "an", "the"})


def deed_at(sentence: Sentence, at: int) -> tuple[int, int] | None:
    """The words of the deed that a past verb at `at` begins, up to the end of its clause; None where it tells nothing."""
    low, count = sentence.low, len(sentence.low)
    while at < count and low[at] in ADVERBS:
        at += 1
    if at >= count or low[at] in _NO_DEEDS or not (low[at] in PASTS or (low[at].endswith("ed") and len(low[at]) > 4)):
        return None
    end = at + 1
    while end < count and end - at < _WORDS_MAX + 4:
        word = low[end]
        if word in BOUNDARIES or word in CONJUNCTIONS or not (word[0].isalnum() or word == "'s"):
            break
        if (word in PRONOUNS and word not in _OWN | {"'s"}) or word in AUXILIARIES - {"'s"}:
            return None
        end += 1
    return (at, end)


def without_times(sentence: Sentence, words: tuple[int, int], times: frozenset[int]) -> tuple[int, int] | None:
    """The deed cut before its first time expression, without loose words at its end."""
    first, last = words
    last = next((at for at in range(first, last) if at in times), last)
    low = sentence.low
    while last > first and (low[last - 1] in PREPOSITIONS or low[last - 1] in ADVERBS or low[last - 1] in _OWN):
        last -= 1
    vague = last - first == 2 and low[last - 1] in VAGUE
    return (first, last) if 2 <= last - first <= _WORDS_MAX and not vague else None
