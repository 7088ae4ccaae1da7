"""Verb phrases as objects, in the words of the text: "to open a bakery", "moving to Lyon"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.events import without_times
from asof_agents.extraction.english.frames import verb_in_frame
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BOUNDARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FOREIGN_DETERMINERS,
    ORNAMENTS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
)
from asof_agents.extraction.english.noun_phrases import Phrase
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.verbs import LEMMAS, PASTS, forms
from asof_agents.extraction.english.weight import GOT, MILESTONES

_WORDS_MAX: Final = 12
_OWN_WORDS_MAX: Final = 2  # "my new job"
_JOINED_MAX: Final = 3
_CLEAR: Final = frozenset({"my", "our", "myself", "one", "another", "all", "both", "'s", "other", "others"})
_BEFORE_BASE: Final = frozenset({"to", "gonna", "wanna", "always", "never"})
_UNCLEAR_DETERMINERS: Final = FOREIGN_DETERMINERS - {"each", "every"}
_FINITE: Final = AUXILIARIES - {"'s"}
_ALWAYS: Final = frozenset({"always", "never"})
_WHENEVER: Final = frozenset({"after", "as", "before", "when", "while", "and", "or"})  # what a rule goes on with
_KEPT: Final = frozenset({"to", "always", "never"})  # words before a verb that are part of what is meant
_NO_VERB: Final = (
    DETERMINERS | FOREIGN_DETERMINERS | PRONOUNS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES - {"be", "do"}
)


def _words(lemmas: str) -> frozenset[str]:
    return frozenset(word for lemma in lemmas.split() for word in forms(lemma))


# verbs that say too little of what is done, whatever their object
_LIGHT: Final = _words(
    "add adore agree aim appreciate ask assume believe bet bring care chase chat check cheer come congratulate "
    "consider continue decide deserve dislike embrace end enjoy ensure experience express face fear feel figure "
    "find focus follow forget give grow guess handle hang happen hate hear hesitate hold hope imagine improve "
    "inspire keep know let like listen look lose love mean mention mind miss motivate need own pass plan prefer "
    "process push put reach realize recharge reflect relate rely remember remind respect say seem set shine show "
    "sleep sound spread stand stay step stop strive struggle succeed support suppose surprise talk tell thank "
    "think treat try turn understand wait want wish wonder worry"
)
# verbs that tell by a plain object alone: "have kids" does, "have fun" does not
_BY_OBJECT: Final = _words("be become begin do get go have help leave live make see start take use watch")
_PLACES: Final = frozenset({"first", "second", "third", "last"})  # "came in second"
_BE: Final = _words("be")
_HAD: Final = frozenset({"had", "got"})  # "had a similar experience" tells less than "had a dog"
_TIMES: Final = frozenset({"once", "thrice", "times", "twice"})
_SPANS: Final = frozenset({"day", "month", "week", "year"})
_LEADS_TO: Final = frozenset({"at", "for", "in", "into", "on", "to", "with"})
_SAYS_LITTLE: Final = (
    VAGUE
    | PREPOSITIONS
    | ADVERBS
    | _CLEAR
    | DETERMINERS
    | ORNAMENTS
    | frozenset("ambitions aspirations hard harder kind options passion passions possibilities sales unknown".split())
)
_ALONE: Final = _words("adopt cook dance draw graduate hike paint relocate retire surf swim teach travel volunteer")
_OPENS_OBJECT: Final = DETERMINERS | {"another", "into", "more", "new", "one", "two", "three", "four", "five"}


def verb_phrases_at(parsed: ParsedSentence, at: int, patterns: Patterns) -> list[Phrase]:
    """Return the verb phrases from a word on that tell something: "to renovate the attic and build a porch" has two."""
    low, found = parsed.sentence.low, []
    gerund = low[at : at + 1] != () and low[at].endswith("ing")
    if not gerund and (at == 0 or at >= len(low) or low[at - 1] not in _BEFORE_BASE):
        phrase = _verb_phrase_at(parsed, at, patterns, joined=False)
        return [phrase] if phrase else []
    for number in range(_JOINED_MAX):
        phrase = _verb_phrase_at(parsed, at, patterns, joined=number > 0)
        found += [phrase] if phrase else []
        end = _end(parsed, at) if at < len(low) else None
        if end is None or end >= len(low) or low[end] not in {"and", ","}:
            break
        at = end + 1 + (low[end : end + 2] == (",", "and"))
        if at >= len(low) or low[at].endswith("ing") != gerund or not _may_join(low[at], patterns, gerund=gerund):
            break
    return [phrase._replace(after=found[0].after) for phrase in found]  # what the first one has may state more


def _may_join(word: str, patterns: Patterns, *, gerund: bool) -> bool:
    return gerund or word in LEMMAS or "base" in patterns.forms.get(word, ())


def _verb_phrase_at(parsed: ParsedSentence, at: int, patterns: Patterns, *, joined: bool) -> Phrase | None:
    """Return the phrase of a gerund, or of a verb in its base form with its "to"; None: none, or one that tells little.

    It has to be a known verb: "to Art Basel" is none. joined: it shares the "to" of another verb.
    """
    low, first = parsed.sentence.low, at
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    if at >= len(low) or at in parsed.names or low[at] in _NO_VERB or not low[at].isalpha():
        return None
    if low[at : at + 2] == ("going", "to") and first and low[first - 1] in AUXILIARIES:
        return None  # "I'm going to art class" is a plan or has begun
    gerund = low[at].endswith("ing") and len(low[at]) > 4
    if first and not joined and (low[first - 1] == "'s" if gerund else low[first - 1] not in _BEFORE_BASE):
        return None  # "Ana's wedding dress"
    if not (gerund or low[at] in LEMMAS or "base" in patterns.forms.get(low[at], ())):
        return None
    end = _end(parsed, at, _WHENEVER if first and low[first - 1] in _ALWAYS else frozenset())
    if end is None or not tells(parsed, at, end, patterns):
        return None
    words = (at, at + 1) if end == at + 1 else without_times(parsed.sentence, (at, end), parsed.timed)
    if words is None:
        return None
    kept = first and low[first - 1] in _KEPT and not gerund
    return Phrase(first - 1 if kept else at, words[1], at + 1, False, False)


def _end(parsed: ParsedSentence, at: int, goes_on: frozenset[str] = frozenset()) -> int | None:
    """Return the word after the verb phrase; None: it has a pronoun, and so tells nothing by itself.

    goes_on: the conjunctions that do not end it.
    """
    low = parsed.sentence.low
    end = at + 1
    while end < len(low) and end - at < _WORDS_MAX + 4:
        word = low[end]
        if (
            word in BOUNDARIES
            or (word in CONJUNCTIONS and word not in goes_on and not _is_inside(low, end))
            or not (word[0].isalnum() or word == "'s")
        ):
            break
        if end in parsed.timed:  # "this year"
            end += 1
            continue
        if (word in PRONOUNS and word not in _CLEAR) or word in _UNCLEAR_DETERMINERS:
            return None
        if word in _FINITE:
            return None
        end += 1
    return end


def _is_inside(low: tuple[str, ...], at: int) -> bool:
    """Whether a conjunction is part of a phrase: "learn how to sail", "make a safe and loving home"."""
    if low[at] == "how":
        return low[at + 1 : at + 2] == ("to",)
    rest = low[at + 1 : at + 3]
    return (
        low[at] == "and"
        and low[at - 2] in {"a", "an"}
        and len(rest) == 2
        and rest[0] not in _NO_VERB | LEMMAS
        and rest[1].isalpha()
        and rest[1] not in _NO_VERB | ADVERBS
    )


def tells(parsed: ParsedSentence, at: int, end: int, patterns: Patterns) -> bool:
    """Whether the words from a verb on say what is done: not "making a difference", not "helping others"."""
    low = parsed.sentence.low
    framed = verb_in_frame(low, at)
    if framed:
        return framed[0] < end and tells(parsed, framed[0], end, patterns)
    if low[at] == "trying" and low[at + 1 : at + 2] == ("to",):  # what is tried goes on
        return at + 2 < end and low[at + 2] not in _BY_OBJECT and tells(parsed, at + 2, end, patterns)
    if low[at] in GOT and low[at + 1 : at + 2] and low[at + 1] in MILESTONES:
        return True
    if low[at] in _LIGHT:
        return low[at] == "came" and not _PLACES.isdisjoint(low[at + 1 : at + 3])
    rest = at + 1
    while rest < end and (low[rest] in ADVERBS or rest in parsed.timed):
        rest += 1
    if rest >= end:
        return low[at] in _ALONE
    if low[at] in _BY_OBJECT and low[rest] != "into" and not _has_object(parsed, at, rest, end, patterns):
        return False
    own = low[rest] == "my" and bool(patterns.types_of_words(low[rest + 1 : end][:_OWN_WORDS_MAX]))
    return own or any(word not in _SAYS_LITTLE and not word.isdigit() for word in low[rest:end])


def _has_object(parsed: ParsedSentence, at: int, first: int, end: int, patterns: Patterns) -> bool:
    """Whether a verb that tells nothing by itself has a plain object from word `first` on."""
    low = parsed.sentence.low
    first += low[first] in _LEADS_TO
    if low[at] in _HAD and first < end and low[first][0].isdigit():
        return True  # "got 4th place"
    if low[at] in _HAD and not patterns.types_of_words(_first_noun_phrase(low[first:end])):
        return False
    if low[at] in _BE and not ORNAMENTS.isdisjoint(low[first : first + 2]):
        return False  # "gonna be a great night"
    if first < end and (low[first] in _OPENS_OBJECT or first in parsed.names):
        return True
    return any(patterns.types_of_words(low[first:last]) for last in range(first + 1, min(end, first + 3) + 1))


def _is_counted(words: tuple[str, ...]) -> bool:
    """Whether words say how often something is done: "three times a week", "twice a month"."""
    return any(
        word in _TIMES
        and words[at + 1 : at + 2] in {("a",), ("per",)}
        and not _SPANS.isdisjoint(words[at + 2 : at + 3])
        for at, word in enumerate(words)
    )


def _has_plain_object(low: tuple[str, ...], at: int) -> bool:
    """Whether a verb that tells by itself stands alone or has its object right after it: "I mentor students"."""
    return low[at] not in _BY_OBJECT and not (at + 1 < len(low) and low[at + 1] in PREPOSITIONS)


def _first_noun_phrase(low: tuple[str, ...]) -> tuple[str, ...]:
    after = next((at for at, word in enumerate(low) if (at and word in PREPOSITIONS) or word == "to"), len(low))
    return low[:after]


def habit_at(
    parsed: ParsedSentence, at: int, often: frozenset[str], patterns: Patterns, *, plain: bool, led: bool = False
) -> tuple[int, int] | None:
    """Return the words of what is done often, from a verb in the present at a word; None: it is not said so.

    plain: the present alone says so, of a verb that tells enough: "I mentor students". led: the words before it do,
    as in "On Fridays I …".
    """
    low, first = parsed.sentence.low, at
    while at < len(low) and (low[at] in ADVERBS or low[at] in often):
        at += 1
    if at >= len(low) or at in parsed.names or low[at] in _NO_VERB or low[at] in _ALWAYS:
        return None
    if low[at] in PASTS or not ("base" in patterns.forms.get(low[at], ()) or low[at] in LEMMAS):
        return None
    end = _end(parsed, at)
    if end is None or not tells(parsed, at, end, patterns):
        return None
    regular = led or not often.isdisjoint(low[first:end]) or _is_counted(low[at:end])
    if not regular and not (plain and _has_plain_object(low, at)):
        return None
    return (first, end) if end - first <= _WORDS_MAX else None
