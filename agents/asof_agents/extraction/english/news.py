"""News of one's own people, animals and things that have no name: "my grandma passed away", "our team won the cup"."""

from typing import Final

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.events import past_deed, without_times
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BOUNDARIES,
    CLAUSE_STARTS,
    CONJUNCTIONS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE_GERUNDS,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.verbs import PASTS, forms
from asof_agents.extraction.english.weight import has_weight

_SUBJECT_WORDS_MAX: Final = 4
_WORDS_MAX: Final = 14
_OWN: Final = frozenset({"me", "my", "us", "our", "'s"})
_BE: Final = frozenset({"is", "are", "'s"})
_PASSIVE: Final = frozenset({"was", "were", "got"})
_SOON: Final = frozenset("expecting getting having joining leaving moving opening starting turning visiting".split())
_COMING: Final = frozenset("comes launches opens premieres releases starts".split())
_STATES: Final = frozenset("has have lives live owns own plays play runs run studies study teaches teach works".split())
_HABITS: Final = frozenset(  # of people and animals: "my son loves dinosaurs"
    word
    for lemma in "bake coach collect cook draw enjoy hate like love paint ride sing speak train".split()
    for word, kinds in forms(lemma).items()
    if not kinds.isdisjoint({"base", "s"})
)
_ALIVE: Final = frozenset({"Animal", "Identity", "Kinship", "Person"})
_SAID_OF: Final = frozenset("addicted afraid allergic fluent obsessed scared".split())  # "my kids are obsessed with …"
_PLACED: Final = frozenset({"at", "from", "in", "near"})
_AGES: Final = frozenset({"months", "weeks", "year", "years"})
_THEIRS: Final = frozenset({"her", "his", "its", "their"})  # of the subject: "my uncle sold his boat"
_VERBS: Final = PASTS | _PASSIVE | _BE | _STATES | _COMING | _HABITS
_FINAL: Final = frozenset({"died", "passed", "graduated", "retired", "divorced", "married", "engaged", "pregnant"})
_MILESTONES: Final = {("married",), ("engaged",), ("divorced",)}
_FELT: Final = frozenset(
    "amazed asked based called encouraged excited gave got had helped impressed inspired kept let loved made named "
    "said saw showed supported surprised taught thrilled told used wanted was went were".split()
)
_FELT_ABOUT: Final = _FELT - {"gave", "got", "had", "made", "taught"} | _BE
_HELPING: Final = AUXILIARIES - _OWN
_PARTICLES: Final = {("away",), ("down",), ("off",), ("out",), ("over",), ("up",)}
_OPENINGS: Final = CLAUSE_STARTS | ADVERBS | {"&", "!", "guess", "what", "yeah", "also", "then"}
_FAVORITE: Final = frozenset({"favorite", "favourite", "fave"})
_CONFIDENCE: Final = 0.8


def extract_news(context: TurnContext, parsed: ParsedSentence, at: int) -> int | None:
    """Add what happened to "my …", if a clause begins with it and tells it; return the word after it."""
    low = parsed.sentence.low
    relation = context.patterns.values.get("news")
    if relation is None or not (at == 0 or low[at - 1] in _OPENINGS or at - 1 in parsed.timed):
        return None
    verb = _verb(context, parsed, at)
    end = None if verb is None else _end(parsed, verb)
    speaker = context.speaker()
    if verb is None or end is None or speaker is None:
        return None
    hint = time_of(parsed, context.timed(parsed, ahead=low[verb] in _BE or low[verb] in _COMING), at, end)
    words = without_times(parsed.sentence, (verb, end), parsed.timed) or (
        verb,
        verb + 1 + (low[verb + 1 : verb + 2] in _PARTICLES),
    )
    if not _tells(context, parsed, verb, words, timed=hint is not None and hint.kind in {"point", "during"}):
        return None
    deed = context.findings.mention(relation.targets[0], *parsed.sentence.span(at, words[1]))
    stated = Meaning("holds", hint.start if hint else None)
    context.findings.relate(speaker, relation.name, deed, stated, hint, parsed.sentence, _CONFIDENCE, "my")
    return verb if low[verb + 1 : verb + 2] == ("me",) else end  # "my aunt gave me a ring" tells of the ring as well


def _verb(context: TurnContext, parsed: ParsedSentence, at: int) -> int | None:
    """Return the verb of "my …", if that is somebody or something of a known kind."""
    low = parsed.sentence.low
    for verb in range(at + 2, min(at + 2 + _SUBJECT_WORDS_MAX, len(low))):
        word = low[verb]
        if verb - 1 in parsed.names or word in PREPOSITIONS or word in CONJUNCTIONS or not word[0].isalnum():
            return None if word != "'s" else verb if _is_own(context, low[at + 1 : verb]) else None
        if word in ADVERBS:
            continue
        if word in _VERBS or past_deed(word):
            noun = verb
            while low[noun - 1] in ADVERBS:
                noun -= 1
            if word in _HABITS and not _is_alive(context, low[at + 1 : noun]):
                return None
            return verb if _is_own(context, low[at + 1 : noun]) else None
    return None


def _is_own(context: TurnContext, words: tuple[str, ...]) -> bool:
    if not words or not _FAVORITE.isdisjoint(words):
        return False
    return words[-1] in PEOPLE_NOUNS or bool(context.patterns.types_of_words(words))


def _is_alive(context: TurnContext, words: tuple[str, ...]) -> bool:
    kinds = context.patterns.types_of_words(words)
    return bool(words) and (words[-1] in PEOPLE_NOUNS or not _ALIVE.isdisjoint(kinds))


def _end(parsed: ParsedSentence, verb: int) -> int | None:
    """Return the word after the clause; None: it speaks of something that it does not name."""
    low = parsed.sentence.low
    end = verb + 1
    while end < len(low) and end - verb < _WORDS_MAX:
        word = low[end]
        joins = word in CONJUNCTIONS and low[end : end + 2] != ("how", "to")
        if word in BOUNDARIES or joins or not (word[0].isalnum() or word == "'s"):
            break
        theirs = word in _THEIRS and low[verb] not in _FELT_ABOUT and low[end + 1 : end + 2] and low[end + 1].isalpha()
        unclear = word in PRONOUNS and word not in _OWN and not theirs
        if end not in parsed.timed and (unclear or word in _HELPING):
            return None
        end += 1
    return end


def _tells(context: TurnContext, parsed: ParsedSentence, verb: int, words: tuple[int, int], *, timed: bool) -> bool:
    """Whether the clause says something that happened, or what somebody is or has, and not how it felt."""
    low = parsed.sentence.low
    following = low[verb + 1] if verb + 1 < len(low) else ""
    weight = has_weight(parsed, *words, context.patterns, ahead=True)
    if not _FINAL.isdisjoint(low[verb : verb + 2]):
        return low[verb] != "passed" or following == "away" or has_weight(parsed, *words, context.patterns)
    if low[verb] in _BE and following not in _SOON and following not in {"a", "an", "the"}:
        return _describes(parsed, verb, words, context)
    if low[verb : verb + 4] == ("taught", "me", "how", "to"):
        return low[verb + 4 : verb + 5] != ()
    if low[verb] in _HABITS and following in VAGUE_GERUNDS:
        return has_weight(parsed, verb + 1, words[1], context.patterns)  # "loves spending time"
    if following == "getting" and low[verb + 2 : verb + 3] not in _MILESTONES:
        return False
    if low[verb] in {"was", "were"} and not (following.endswith("ed") and following not in _FELT):
        return False
    if low[verb] in _COMING:
        return timed
    return weight or (timed and low[verb] not in _FELT)


def _describes(parsed: ParsedSentence, verb: int, words: tuple[int, int], context: TurnContext) -> bool:
    """Whether "is" says where somebody is or comes from, how old they are, or what they are fond or afraid of."""
    low = parsed.sentence.low
    following = low[verb + 1 : verb + 2]
    if not following:
        return False
    if following[0] in _PLACED:
        place = verb + 2 + (low[verb + 2 : verb + 3] == ("the",))
        return place in parsed.names
    if following[0] in _SAID_OF:
        return has_weight(parsed, verb + 1, words[1], context.patterns, ahead=True)
    return following[0].isdigit() and not _AGES.isdisjoint(low[verb + 2 : verb + 3])
