"""The confidence of an entity, by its name and its type alone: the same whenever and wherever it is asked for. Pure."""

from typing import Final

NAMED: Final = frozenset(
    {"Book", "Film", "Location", "Organization", "Person"}
)  # types whose entities have proper names
_LONG: Final = 4  # words; what is longer is rather a phrase
_LITTLE: Final = frozenset("a an and at by for from in of on or the to with".split())
_STATED: Final = 1.0  # of an entity without a type: a producer stated it
_PROPER, _COMMON, _LOWER, _NOTHING = 0.9, 0.8, 0.5, 0.0


def entity_confidence(name: str, type_: str | None) -> float:
    """Return how sure it is that a name of a type is one entity, from 0 to 1.

    0.9: a proper name, or words with a number. 0.8: a common noun of a type that has such. 0.5: a person, place,
    organisation or work in lower case. A tenth less for each word beyond four. 0: no letter and no digit.
    """
    if type_ is None:
        return _STATED
    words = [word for word in name.split() if any(map(str.isalnum, word))]
    if not words:
        return _NOTHING
    proper = all(word in _LITTLE or not word[0].islower() for word in words)
    sure = _PROPER if proper else _LOWER if type_ in NAMED else _COMMON
    return round(max(sure - 0.1 * max(len(words) - _LONG, 0), 0.1), 3)
