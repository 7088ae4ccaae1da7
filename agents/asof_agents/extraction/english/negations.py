"""Negations of values: "the port is no longer 8080", "the test command is not `make test`"."""

from typing import Final

_BARE: Final = frozenset(  # words with which "not" says less than that a value is another one
    "about all always any anything around at before below over even exactly far for just less like many more most much "
    "necessarily nearly only quite really something than under until up usually very yet".split()
)
_FAR: Final = 6  # words


def after_negation(low: tuple[str, ...], at: int) -> int:
    """Return the word after "not" or "no longer" at a word; where neither denies what follows, the word itself."""
    if low[at : at + 2] == ("no", "longer"):
        return at + 2
    return at + 1 if low[at : at + 1] == ("not",) and low[at + 1 : at + 2] and low[at + 1] not in _BARE else at


def is_denied(low: tuple[str, ...], at: int) -> bool:
    """Whether "no longer" stands close before a word, in its clause."""
    before = low[max(0, at - _FAR) : at]
    return "longer" in before and "no" in before and "," not in before and "but" not in before
