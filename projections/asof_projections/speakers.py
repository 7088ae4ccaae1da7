"""The names of speakers in texts: who is named, and the text without them.

In a conversation of two, the name of the other stands in every second turn and tells nothing of what is said. So turns
are compared in meaning without the names of those who speak.
"""

import re
from collections.abc import Container, Iterator
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_CALLED: Final = re.compile(r"\b([^\W_]+)(?:['’]s)?\b,?\s*")
_ROLES: Final = frozenset("ai agent assistant bot human system tool user".split())  # which are no names


@lru_cache(maxsize=4_096)  # each turn is compared without the names of its group
def name_words(speaker: str) -> frozenset[str]:
    """Return the words of a speaker's name, in lower case; none of a role such as "assistant"."""
    return frozenset(word.casefold() for word in _WORD.findall(speaker)) - _ROLES


def names_in(text: str, names: Container[str]) -> Iterator[str]:
    """Yield which of some names' words a text has with a capital, in lower case, in the order of the text."""
    return (word.casefold() for word in _WORD.findall(text) if word[0].isupper() and word.casefold() in names)


def without_names(text: str, names: Container[str]) -> str:
    """Return a text without the words of these names, where they begin with a capital; as it is, if nothing is left."""
    return _CALLED.sub(lambda m: "" if m[1][0].isupper() and m[1].casefold() in names else m[0], text) or text
