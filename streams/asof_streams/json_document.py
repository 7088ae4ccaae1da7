"""JSON as files and servers hold it: what cannot be read is one kind of error, however it is wrong."""

import json
from typing import Any


def read_json(text: bytes | str) -> Any:
    """Return what a JSON document says. ValueError: it is none, or nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
