"""Fills in the placeholders of a prompt."""

import re
from typing import Final

_PLACE: Final = re.compile(r"\$([a-z]+)")


def fill(template: str, **values: str) -> str:
    """Return a template with each `$name` replaced by its value; other dollars stay, also those in values."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)
