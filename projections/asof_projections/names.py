"""How a name is compared: NFKC, case folded, inner space collapsed, outer punctuation dropped (version norm_v1).

Ids and resolution depend on it, so a change is a new version and a new generation.
"""

import unicodedata
from functools import lru_cache
from typing import Final

VERSION: Final = "norm_v1"
_EDGE: Final = " .,;:!?\"'`()[]{}*_"


@lru_cache(maxsize=50_000)
def key(name: str) -> str:
    """Return what two spellings of one name have in common."""
    folded = (name if name.isascii() else unicodedata.normalize("NFKC", name)).casefold()
    stripped = " ".join(folded.split()).strip(_EDGE)
    stripped = stripped.removesuffix("'s").removesuffix("\u2019s")
    return stripped.removeprefix("the ") or folded


def folded(text: str) -> str:
    """Return what two spellings of one value have in common: they differ in case and inner space alone."""
    return " ".join(text.casefold().split())


def words(name: str) -> list[str]:
    """Return the words of a name's key, each once, in order."""
    return list(dict.fromkeys(key(name).replace("-", " ").split()))
