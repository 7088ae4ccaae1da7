"""What a message asks for, by its words alone: whether it is a question, and whether of who asks or his goals. Pure."""

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
_KNOWN: Final = (
    r"(?:you(?:\s+(?:already|still|ever))?\s+(?:know|remember|recall)|i(?:\s+have|['’]ve)?\s+(?:told|tell)|"
    r"(?:tell|remind)\s+me)"
)
_HOW_MUCH: Final = r"(?:\s+(?:you|anything|everything|something|all|at all|else|more|a lot|so far|already))*"
_ABOUT_SPEAKER: Final = re.compile(
    rf"\b{_KNOWN}{_HOW_MUCH}\s+about\s+(?:me|myself)\b(?!\s+and\b)|\bwho\s+am\s+i\W*\Z", re.IGNORECASE
)
_ABOUT_ALL: Final = re.compile(rf"{_OPENING}what\s+(?:else\s+)?do\s+you\s+(?:know|remember)\W*\Z", re.IGNORECASE)
_PLEASANT: Final = frozenset(
    "hi hello hey hiya howdy welcome good morning afternoon evening night day thank thanks thx cheers lot much very "
    "bye goodbye see later soon ok okay yes yeah yep no nope sure great nice cool lol haha please sorry".split()
)
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
    """Return whether a text asks for the goals of who says it, such as "What is my goal?"."""
    return is_own(text) and _GOAL.search(text) is not None and is_question(text)


def asks_about_speaker(text: str) -> bool:
    """Return whether a text asks what is known of who says it, such as "What do you know about me?" or "Who am I?"."""
    asked = _ABOUT_SPEAKER.search(text) or _ABOUT_ALL.match(text.strip())
    return asked is not None and is_question(text)


def is_pleasantry(text: str) -> bool:
    """Return whether a text is a greeting, thanks or the like, and so about nothing: no question, no other words."""
    words = {word.casefold() for word in _WORD.findall(text)}
    return not words.isdisjoint(_PLEASANT) and words <= _PLEASANT | STOP_WORDS and not is_question(text)


def names_speaker(text: str) -> bool:
    """Return whether a text speaks of who says it as "I" or "me", not only of what he calls his."""
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
