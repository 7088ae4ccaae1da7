"""Words of time in English texts, as a search weighs them: whether a text tells when, and the numbers of months."""

import re
from typing import Final

MONTHS: Final = {
    name: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
}
DAYS: Final = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_WORD: Final = re.compile(r"\w+")
_YEAR: Final = re.compile(r"\b\d{4}s?\b")
_TIMES: Final = frozenset(
    f"{word}{plural}"
    for word in (
        *"yesterday today tomorrow ago last next week weekend month year day night morning since recently".split(),
        *("summer", "winter", "spring", "fall", *DAYS, *MONTHS),
    )
    for plural in ("", "s")
)


def tells_time(text: str) -> bool:
    """Return whether a text has words of time or a year."""
    return not _TIMES.isdisjoint(_WORD.findall(text.casefold())) or _YEAR.search(text) is not None
