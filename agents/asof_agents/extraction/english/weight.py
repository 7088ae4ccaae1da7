"""The weight of a deed: whether its words hold on to something, so that a reader would want to know of it later.

A name, a number, a thing of one's own or a thing of a known kind does; "raised awareness", "met some people" and
"watched the sunset" do not.
"""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.frames import verb_in_frame
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    BARE,
    CONJUNCTIONS,
    FOREIGN_DETERMINERS,
    FUNCTION_WORDS,
    ORNAMENTS,
    PREPOSITIONS,
    VAGUE,
)
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.verbs import LEMMAS, forms

_OWN: Final = frozenset({"my", "our"})
_ONE: Final = frozenset({"a", "an", "another", "one"})
_NUMBERS: Final = frozenset({"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
_COMPARED: Final = frozenset("farther faster harder healthier higher longer stronger de-stress destress".split())
_SOME: Final = frozenset("any enough few lots many more most much plenty several some tons various".split())
_THAT: Final = frozenset({"the", "this", "that", "these", "those"}) | FOREIGN_DETERMINERS
_BEFORE_NOUN: Final = _THAT | ORNAMENTS | ADVERBS
_OPENS: Final = _OWN | _ONE | _NUMBERS | _SOME | _THAT
_GENERAL: Final = frozenset(
    "buddies bunch chapter city communities community companies company crowd details dude efforts family future "
    "gang heart house humanity jobs journey loved mood nature outcome passion passions path potential process "
    "public scene society stuff team thought train universe weekend workmates youth".split()
)
_ABSTRACT: Final = ("ness", "tion", "sion", "ment", "ity", "ance", "ence", "ship", "ism")
_BEFORE_GERUND: Final = frozenset({"after", "by", "for", "from", "of", "on", "time", "to", "towards", "with"})
_SHORT: Final = 6  # letters: "fence" is no abstract noun
_EMPTY: Final = (FUNCTION_WORDS | ORNAMENTS | VAGUE | BARE | _GENERAL) | frozenset(
    "burning couple go group lot pick put take to try unexpected".split()
)
_EMPTIED: Final = VAGUE - ORNAMENTS - {"own"}
_CONTENT_MIN: Final = 2  # words, where none of them is a name, a number or one's own
GOT: Final = frozenset({"got", "was"})
MILESTONES: Final = frozenset("accepted engaged expelled fired hired promoted rejected".split())
_SKILLS: Final = frozenset(
    "bake code cook crochet dance dive draw drive fly juggle knit paint program ride sail sew sing skate ski surf swim "
    "weave".split()
)
_HEAVY: Final = frozenset(
    word
    for lemma in "adopt divorce elope emigrate enlist graduate immigrate propose quit relocate resign retire".split()
    for word in forms(lemma)
)
_DONE: Final = frozenset("completed finished published released submitted".split())  # "finished the screenplay"


def has_weight(parsed: ParsedSentence, first: int, last: int, patterns: Patterns, *, ahead: bool = False) -> bool:
    """Whether the words [first, last), a verb and what follows it, tell of something in particular.

    ahead: of what is not done yet a thing that only the speaker can point at is enough: "to paint the fence".
    """
    low = parsed.sentence.low
    framed = verb_in_frame(low, first)
    if framed and framed[0] < last:
        first, ahead = framed[0], True
    ahead = ahead or low[first] in _DONE
    if low[first] in _HEAVY and not (low[first + 1 : first + 2] and low[first + 1] in PREPOSITIONS):
        return True
    if low[first].startswith("learn") and not _SKILLS.isdisjoint(low[first + 1 : min(last, first + 4)]):
        return True  # "learn how to sail"
    if low[first] in GOT and first + 1 < last and low[first + 1] in MILESTONES:
        return True
    content = 0
    held = False
    for at in range(first + 1, last):
        word = low[at]
        if at in parsed.names and not parsed.names[at].spoken_to:
            return True
        if word[0].isdigit() and at not in parsed.timed:
            return True
        if word == "family" and low[at - 1] == "own":
            return True
        if word == "my" and _is_thing(low[at + 1 : last][:2], patterns):
            return True  # "my job", though a job is nothing by itself
        compound = word in BARE and low[at - 1] in BARE  # "book club"
        if (word in _EMPTY and not compound) or not word[0].isalpha() or at in parsed.timed:
            continue
        before = _determiner(low, first, at)
        if (before in _OWN and low[at - 1] not in _EMPTIED) or before in _NUMBERS:
            return True
        joined = at + 1 < last and bool(patterns.types_of_words(low[at : at + 2]))  # "dance competition"
        if (word in LEMMAS and not joined) or _is_verb(low, at, patterns):
            continue
        content += 1
        held = held or _holds(parsed, at, before, patterns, ahead=ahead)
    return held and content >= (1 if ahead else _CONTENT_MIN)


def _holds(parsed: ParsedSentence, at: int, before: str, patterns: Patterns, *, ahead: bool) -> bool:
    """Whether a noun is a thing of a known kind, or one of its kind; and not just some of them."""
    low = parsed.sentence.low
    typed = bool(patterns.types_of_words(low[max(0, at - 1) : at + 1]))
    if (before in _SOME and not (ahead and typed)) or (
        len(low[at]) > _SHORT and low[at].endswith(_ABSTRACT) and not typed
    ):
        return False
    if before in _THAT:
        return ahead or low[at - 1] not in _BEFORE_NOUN  # "the aptitude test"
    return typed or before in _ONE or (ahead and low[at] not in _COMPARED)


def _is_verb(low: tuple[str, ...], at: int, patterns: Patterns) -> bool:
    """Whether a word is an infinitive or a gerund: "to reflect", "building up"; of no known kind, such as "to yoga"."""
    verbal = low[at - 1] == "to" or (low[at].endswith("ing") and low[at - 1] in _BEFORE_GERUND)
    return verbal and not patterns.types_of_words(low[at : at + 1])


def _is_thing(words: tuple[str, ...], patterns: Patterns) -> bool:
    return _GENERAL.isdisjoint(words) and bool(patterns.types_of_words(words))


def _determiner(low: tuple[str, ...], first: int, at: int) -> str:
    """Return the word that opens the noun phrase of a word: "my" of "my old bank account"."""
    while at > first + 1:
        at -= 1
        word = low[at]
        if word in _OPENS:
            return word
        if word in PREPOSITIONS or word in CONJUNCTIONS or word in {"to", ","}:
            break
    return ""
