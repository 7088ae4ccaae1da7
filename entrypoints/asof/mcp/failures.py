"""What agents are told of an error: a sentence that says what to do, without a word of what is stored."""

import logging
from traceback import extract_tb
from typing import Final

from asof.operations.errors import AsofError, InvalidInput, UnavailableError

_UNFORESEEN: Final = "internal error, which the log of asof names; the same call may work again"

log = logging.getLogger("asof.mcp")


def sentence_of(error: Exception, name: str) -> str:
    """Return the sentence about an error; one that nobody foresaw is logged, under the name of what failed."""
    match error:
        case InvalidInput():
            return f"{error}. Change that and call again."
        case UnavailableError():
            return f"{error}. Call again later."
        case AsofError():
            return f"{error}."
        case _:  # its text may quote what was sent
            place = extract_tb(error.__traceback__)[-1]
            log.error("%s failed: %s at %s:%s", name, type(error).__name__, place.filename, place.lineno)
            return f"{_UNFORESEEN}."
