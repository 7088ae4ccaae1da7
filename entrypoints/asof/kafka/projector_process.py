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

from asof.kafka.encryption import find_keys, keys_of
from asof.kafka.follower import ReplicaFollower
from asof.kafka.topic_watch import TopicWatch
from asof.kafka.worker_metrics import WorkerMetrics
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaProgress, write_health
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.backoff import OUTAGE
from asof_streams.errors import UnavailableError, WriterBusy
from asof_streams.kafka.client import Client
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check

_log = logging.getLogger(__name__)

_REPORT_SECONDS: Final = 2.0
_LAST_ROUND_SECONDS: Final = 5


def project(settings: Settings) -> None:
    """Follow the topics until SIGTERM or SIGINT; again and again where the world outside fails.

    TopicUnfit: a topic would lose history or order, or is another than before. WriterBusy: the directory is taken.
    """
    connection, topics, places = connection_of(settings), Topics(settings.kafka_prefix), DirectoryLayout(settings.data)
    require(asyncio.run(check(connection, topics)))
    keys = keys_of(settings)
    with Client(connection) as client:
        find_keys(client, topics, keys)  # a projector without them does not begin
    stop = _signalled()
    with (
        suppress(KeyboardInterrupt),  # wherever it comes: nothing is lost that the topics have
        WorkerMetrics(settings.worker_metrics) as metrics,
    ):
        report = _Report(places.root, TopicWatch(connection, topics), metrics)
        while not stop.is_set():
            try:
                with ReplicaFollower(places, connection, topics, settings=settings, keys=keys) as follower:
                    follower.follow(stop, report.tell)
            except UnavailableError as error:
                if isinstance(error, WriterBusy) and not report.told:
                    raise
                pause = next(report.pauses)
                _log.warning("%s; trying again in %.1f s", error, pause)
                report.wait()
                stop.wait(pause)


def _signalled() -> Event:
    """Return the event that a signal sets, so that the round under way is finished; a long one is cut short."""
    stop = Event()

    def end(*_: object) -> None:
        stop.set()
        signal.alarm(_LAST_ROUND_SECONDS)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    return stop


class _Report:
    """Writes down how far all is, every other second; each round that succeeded begins the pauses anew."""

    def __init__(self, root: Path, topic_watch: TopicWatch, metrics: WorkerMetrics) -> None:
        self.pauses = OUTAGE.pauses()  # before new tries
        self.told = 0.0  # when, by the monotonic clock
        self._root = root
        self._topics = topic_watch
        self._metrics = metrics
        self._last: Sequence[ReplicaProgress] = ()

    def wait(self) -> None:
        """Write down that nothing is followed, until it is again."""
        if self._last:
            self._metrics.health = write_health(self._root, [each._replace(offset=-1) for each in self._last])
            self.told = time.monotonic() - _REPORT_SECONDS

    def tell(self, reached: Sequence[ReplicaProgress]) -> None:
        self.pauses, self._last = OUTAGE.pauses(), [each._replace(agent="projector") for each in reached]
        now = time.monotonic()
        if now - self.told > _REPORT_SECONDS:
            self._topics.look()
            self._metrics.health = write_health(self._root, self._last, self._topics.errors)
            self.told = now
