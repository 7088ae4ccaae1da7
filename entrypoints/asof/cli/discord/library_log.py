"""What discord.py logs, without what may be secret or somebody's: a token of an interaction, words, names."""

import logging
from typing import Final

from discord import VoiceClient

_LOG: Final = logging.getLogger("asof.discord.library")


class LibraryLog(logging.Handler):
    """Passes on what the library warns of as it is worded in its source, without the values, and the class of errors.

    The address of a request holds the token of an interaction, and an error may quote what was sent.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record of the library's as one of asof's."""
        error = record.exc_info[0] if record.exc_info else None
        _LOG.log(record.levelno, "%s: %s%s", record.name, record.msg, f" ({error.__name__})" if error else "")


def hide_values() -> None:
    """Let everything that discord.py and its HTTP client log go through `LibraryLog`, from warnings on."""
    VoiceClient.warn_nacl = VoiceClient.warn_dave = False  # nobody speaks here
    for name in ("discord", "aiohttp"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [LibraryLog(logging.WARNING)], False
        logger.setLevel(logging.WARNING)
