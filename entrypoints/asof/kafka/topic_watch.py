"""Checks the settings of the topics every few minutes: a change under a worker may lose history or order."""

import asyncio
import logging
import time
from typing import Final

from asof_streams.errors import AsofError, UnavailableError
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics, check

_log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 180.0  # between two looks


class TopicWatch:
    """The errors of the topics, as of the last look. They were checked, and none was found, when this is made."""

    def __init__(self, connection: Connection, topics: Topics, seconds: float = LOOK_SECONDS) -> None:
        self.errors: tuple[str, ...] = ()
        self._connection = connection
        self._topics = topics
        self._seconds = seconds
        self._looked = time.monotonic()

    def look(self) -> None:
        """Check the topics, if it is time to; a broker that is away tells nothing new."""
        if time.monotonic() - self._looked < self._seconds:
            return
        try:
            found = asyncio.run(check(self._connection, self._topics))
            errors = tuple(str(finding) for finding in found if finding.severity == "error")
        except UnavailableError:
            errors = self.errors
        except AsofError as error:  # as a right that was taken away
            errors = (str(error),)
        for new in errors:
            if new not in self.errors:
                _log.error("%s", new)
        self.errors, self._looked = errors, time.monotonic()
