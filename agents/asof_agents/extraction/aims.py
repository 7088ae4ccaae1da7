"""The words of an aim: goals are described alike, whoever words them. Pure."""

import re
from typing import Final

_TO: Final = re.compile(r"to\s+(?=\S)", re.IGNORECASE)


def aim_of(description: str) -> str:
    """Return a description of what somebody aims at without a "to" before it: "learn Rust" for "to learn Rust"."""
    before = _TO.match(description)
    return description[before.end() :] if before else description
