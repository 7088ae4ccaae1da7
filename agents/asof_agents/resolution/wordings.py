"""Wordings: when two phrases say one thing in the same words, so that it is not learned twice. Pure.

The rule is of words, not of vectors. By all-MiniLM-L6-v2 the sentences "Ana prefers tea over coffee" and "Ana prefers
coffee over tea" have a distance of 0.004, those of "movies with subtitles" and "movies without subtitles" 0.03, of "buy
a house" and "sell a house" 0.04, of "two cats" and "three cats" 0.04, of "peanuts" and "nuts" 0.07: no distance keeps
such facts apart and joins others. What this rule joins has at most 0.05.
"""

from typing import Final

_ARTICLES: Final = frozenset(("a", "an", "the"))
_EDGE: Final = ".,;:!?\"'()[]\u2018\u2019\u201c\u201d\u2026"
_VOWELS: Final = frozenset("aeiou")
_UNDOUBLED: Final = frozenset("wxy")  # last letters that "-ing" does not double
_SHORTEST: Final = 3  # characters of a verb, for others are irregular
_ING: Final = "ing"


def wording(phrase: str) -> str:
    """Return the key of a phrase: two with one key say the same.

    They differ in case, spaces and punctuation around words, in articles before other words, and in "to learn" for
    "learning" at the beginning. Numbers, names, prepositions, denials and the order of words are in the key.
    """
    said = [word for word in (part.strip(_EDGE) for part in phrase.split()) if word]
    kept = [word for word in said[:-1] if word not in _ARTICLES] + said[-1:]
    if len(kept) > 1 and kept[0] == "to":
        kept = [_deed(kept[1]), *kept[2:]]
    elif kept and kept[0].endswith(_ING):
        kept[0] = _deed(kept[0])
    return " ".join(kept).casefold()


def wording_of_aim(description: str) -> str:
    """Return the key of what somebody aims at, as `extraction.aims` describes it.

    With "to" before it the key is another, from which the ids of objectives are made: they stay as they are.
    """
    return wording(f"to {description[:1].lower()}{description[1:]}")


def _deed(verb: str) -> str:
    """Return a verb as it is before "-ing", marked as one; in any other form than "learn" and "learning" as it is."""
    stem = verb.removesuffix(_ING)
    if stem != verb:
        return f"{stem}-" if _VOWELS & {*stem} else verb
    if len(verb) < _SHORTEST or not verb.islower():
        return verb
    if verb.endswith("e") and verb[-2] not in "eoy":
        return f"{verb[:-1]}-"
    before, vowel, last = (letter in _VOWELS for letter in verb[-3:])
    is_short = sum(letter in _VOWELS for letter in verb) == 1
    doubles = is_short and vowel and not before and not last and verb[-1] not in _UNDOUBLED
    return f"{verb}{verb[-1]}-" if doubles else f"{verb}-"
