"""Recognises questions, and those about the speaker or the speaker's goals, by their words alone. Pure."""

import re
from itertools import pairwise
from typing import Final

from asof_projections.retrieval.question import STOP_WORDS

_OPENING: Final = r"(?:(?:and|but|so|then|ok|okay|hey|hi|hello|please)\W+)*"
_ASKS: Final = re.compile(
    rf"{_OPENING}(?:wh(?:at|en|ere|o|om|ose|ich|y)|how|am|are|is|was|were|do|does|did|have|has|had|can|could|may|might|"
    r"shall|should|will|would)(?:n?['’][a-z]+)?\b",
    re.IGNORECASE,
)
_BIDS: Final = re.compile(rf"{_OPENING}(?:tell|remind) (?:me|us)\b", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_GOAL: Final = re.compile(r"\b(?:goals?|objectives?|north star)\b", re.IGNORECASE)
_LISTENER: Final = re.compile(r"\b(?:tell|told|remind(?:ed)?|show(?:ed)?|give|gave|let|help)\s+me\b", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[.,;:?!()\n]")
_POSSESSOR: Final = re.compile(r"[\w-]+(?:['’]\w*)?")
_BEFORE_GOAL: Final = 100  # characters that are looked at
_POSSESSIVES: Final = frozenset("my his her their your our its whose".split())
_CONTRACTIONS: Final = frozenset("what's who's that's it's there's here's where's how's let's he's she's".split())
_DETERMINERS: Final = frozenset("i a an the any all some no what which this that these those are is was were".split())
_OF_ANOTHER: Final = re.compile(r"\s+of\s+(?:my\b(?!\s+own\b)|his\b|her\b|their\b|your\b|our\b|the\b|[A-Z])")
_KNOWN: Final = (
    r"(?:you(?:['’]ve)?(?:\s+(?:have|already|still|ever)){0,2}\s+(?:know|remember|recall|learn(?:ed|t)?)|"
    r"i(?:\s+have|['’]ve)?\s+told|did\s+i(?:\s+(?:already|ever))?\s+tell|(?:tell|remind)\s+me)"
)
_HOW_MUCH: Final = r"(?:\s+(?:you|anything|everything|something|all|at all|else|more|a lot|so far|already))*"
_ABOUT_SPEAKER: Final = re.compile(
    rf"\b{_KNOWN}{_HOW_MUCH}\s+(?:(?:about|of)\s+(?:me|myself)\b(?!\s+and\b)|who\s+i\s+am\W*\Z)|"
    r"\bwho\s+am\s+i\W*\Z",
    re.IGNORECASE,
)
_ABOUT_ALL: Final = re.compile(rf"{_OPENING}what\s+(?:else\s+)?do\s+you\s+(?:know|remember)\W*\Z", re.IGNORECASE)
_PLEASANT: Final = frozenset(
    "hi hello hey hiya howdy welcome good morning afternoon evening night day thank thanks thx cheers lot much very "
    "bye goodbye cya see ya later soon ok okay alright yes yeah yep no nope sure great nice cool perfect awesome wow "
    "hmm lol haha please sorry".split()
)
_CITY: Final = re.compile(r"[\w,;:'’]\s+Nice\b")
_WHEN: Final = re.compile(r"\b(?:when|how long|(?:what|which) (?:time|day|date|month|year))\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_SPEAKER: Final = re.compile(r"\b(?:i|me|mine|myself)\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"\bmy((?: [\w'’-]+){1,4})")  # the noun may stand behind adjectives
_WHERE: Final = re.compile(r"\bwhere\b")
_VERB: Final = re.compile(r"\b(?:live|lives|lived|living|work|works|worked|working|stud(?:y|ies|ied|ying))\b")
_ANSWERING: Final = {  # by verbs of a question: words of the relations that answer it
    frozenset("live lives lived living".split()): frozenset(
        "live lives lived living reside resides resided resident home moved based located address".split()
    ),
    frozenset("work works worked working".split()): frozenset(
        "work works worked working job employed employer office workplace position".split()
    ),
    frozenset("study studies studied studying".split()): frozenset(
        "study studies studied studying student school university attends enrolled".split()
    ),
}


def is_question(text: str) -> bool:
    """Return whether a text asks something: by its mark, or without one by how it begins; or bids to be told."""
    said = text.strip()
    if said.endswith("?") or _BIDS.match(said):
        return True
    return not said.endswith((".", "!", "…")) and _ASKS.match(said) is not None


def is_own(text: str) -> bool:
    """Return whether a text is in the first person singular."""
    return _OWN.search(text) is not None


def asks_for_goals(text: str) -> bool:
    """Return whether a text asks for the speaker's goals, such as "What is my goal?"; not so "Tell me Bob's goals."."""
    of_speaker = names_speaker(_LISTENER.sub("", text))
    goals = _GOAL.finditer(text) if is_question(text) else ()
    return any(_is_of_speaker(text, goal, otherwise=of_speaker) for goal in goals)


def _is_of_speaker(text: str, goal: re.Match[str], *, otherwise: bool) -> bool:
    """Return whether a goal in a text is called the speaker's; `otherwise`, where it is called nobody's."""
    possessor = _possessor(text[max(0, goal.start() - _BEFORE_GOAL) : goal.start()])
    if possessor is None:
        return otherwise and _OF_ANOTHER.match(text, goal.end()) is None
    return possessor == "my"


def _possessor(before: str) -> str | None:
    """Return the nearest possessive or name in the clause before a noun, None if a determiner is nearer."""
    words: list[str] = _POSSESSOR.findall(_CLAUSE_END.split(before)[-1])
    for word in reversed(words):
        folded = word.casefold().replace("’", "'")
        if folded in _POSSESSIVES or (folded.endswith(("'s", "s'")) and folded not in _CONTRACTIONS):
            return folded
        if folded in _DETERMINERS:
            return None
        if word is words[-1] and len(words) > 1 and word[0].isupper():
            return folded
    return None


def asks_about_speaker(text: str) -> bool:
    """Return whether a text asks what is known about the speaker: "What do you know about me?", "Who am I?"."""
    asked = _ABOUT_SPEAKER.search(text) or _ABOUT_ALL.match(text.strip())
    return asked is not None and is_question(text)


def is_pleasantry(text: str) -> bool:
    """Return whether a text is a greeting, thanks or the like, and so about nothing: no question, no other words."""
    words = {word.casefold() for word in _WORD.findall(text)}
    if words.isdisjoint(_PLEASANT) or not words <= _PLEASANT | STOP_WORDS:
        return False
    return not is_question(text) and _CITY.search(text) is None


def asks_when(text: str) -> bool:
    """Return whether a text asks for a time, such as "When is the dentist?" or "How long have I lived here?"."""
    return is_question(text) and _WHEN.search(text) is not None


def names_speaker(text: str) -> bool:
    """Return whether a text has the speaker as "I" or "me", not only as the owner of something."""
    return _SPEAKER.search(text) is not None


def owned(text: str) -> list[str]:
    """Return the nouns that a text may call the speaker's: of "my best friend" each word, and "best friend"."""
    nouns: list[str] = []
    for phrase in _OWNED.finditer(text.casefold()):
        words = [word.removesuffix("'s").removesuffix("’s") for word in phrase[1].split()]
        nouns += [*words, *map(" ".join, pairwise(words))]
    return nouns + [noun.removesuffix("s") for noun in nouns if noun.endswith("s")]


def answering_words(text: str) -> frozenset[str]:
    """Return words of which a relation has one if it answers where somebody lives, works or studies; of others none."""
    verb = next(filter(None, map(_verb_of_where, text.casefold().split("\n"))), None)
    return next((words for verbs, words in _ANSWERING.items() if verb in verbs), frozenset())


def _verb_of_where(line: str) -> str | None:
    # two searches: one expression over both words looks for a verb to the end of the line behind each "where"
    where = _WHERE.search(line)
    verb = _VERB.search(line, where.end()) if where else None
    return verb[0] if verb else None
