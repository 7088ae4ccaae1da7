"""Filling in a prompt."""

import re
from typing import Final

_PLACE: Final = re.compile(r"\$([a-z]+)")


def fill(words: str, **given: str) -> str:
    """Return the words of a prompt with what `$name` stands for; other dollars are left alone, those given too."""
    return _PLACE.sub(lambda place: given.get(place[1], place[0]), words)
