"""The normalisation of names: NFKC, case folded, inner space collapsed, outer punctuation dropped (norm_v1).

Ids and resolution depend on it, so a change needs a new version and a new generation.
"""

import unicodedata
from functools import lru_cache
from typing import Final

VERSION: Final = "norm_v1"
VERSIONS: Final = (VERSION,)  # that there ever were: which one a generation has is found by its build
_EDGE: Final = " .,;:!?\"'`()[]{}*_"


@lru_cache(maxsize=50_000)
def key(name: str) -> str:
    """Return the key of a name; spellings with one key are one name."""
    folded = (name if name.isascii() else unicodedata.normalize("NFKC", name)).casefold()
    stripped = " ".join(folded.split()).strip(_EDGE)
    stripped = stripped.removesuffix("'s").removesuffix("\u2019s")
    return stripped.removeprefix("the ") or folded


def folded(text: str) -> str:
    """Return a value with its case folded and its spaces collapsed, as values are compared."""
    return " ".join(text.casefold().split())


def words(name: str) -> list[str]:
    """Return the words of a name's key, each once, in order."""
    return words_of_key(key(name))


def words_of_key(key: str) -> list[str]:
    """Return the words of a key, each once, in order."""
    return list(dict.fromkeys(key.replace("-", " ").split()))
