"""The projector process: topics checked, then followed into the directory until a signal says stop."""

import asyncio
import logging
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from asof.bootstrap import connection_of
from asof.following import Follower
from asof.health import Reached, write_health
from asof.places import Places
from asof.settings import Settings
from asof_streams.errors import UnavailableError, WriterBusy
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check

_log = logging.getLogger(__name__)

_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds before the topics are opened again
_REPORT_SECONDS: Final = 2.0


def project(settings: Settings) -> None:
    """Follow the topics until SIGTERM or SIGINT; again and again where the world outside fails.

    TopicUnfit: a topic would lose history or order, or is another than before. WriterBusy: the directory is taken.
    """
    connection, topics, places = connection_of(settings), Topics(settings.kafka_prefix), Places(settings.data)
    require(asyncio.run(check(connection, topics)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report = _Report(places.root)
    with suppress(KeyboardInterrupt):  # wherever it comes: nothing is lost that the topics have
        while True:
            try:
                with Follower(places, connection, topics) as follower:
                    follower.follow(Event(), report.tell)
            except UnavailableError as error:
                if isinstance(error, WriterBusy) and not report.told:
                    raise
                pause = _PAUSES[min(report.failures, len(_PAUSES) - 1)]
                report.failures += 1
                _log.warning("%s; trying again in %.1f s", error, pause)
                time.sleep(pause)


class _Report:
    """Writes down how far all is, every other second; each round that succeeded begins the pauses anew."""

    def __init__(self, root: Path) -> None:
        self.failures = 0
        self.told = 0.0  # when, by the monotonic clock
        self._root = root

    def tell(self, reached: Sequence[Reached]) -> None:
        self.failures = 0
        now = time.monotonic()
        if now - self.told > _REPORT_SECONDS:
            write_health(self._root, reached)
            self.told = now
