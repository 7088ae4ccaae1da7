"""The worker's side where the log is a topic: what `asof worker` makes of it is followed into the directory.

Where another process keeps the directory up, a worker or a projector on this machine, that one is watched.
"""

import time
from collections import deque
from contextlib import ExitStack, suppress
from threading import Event, Thread
from typing import Final

from asof.kafka.follower import ReplicaFollower
from asof.runtime.child_process import Channel, ChannelClosed
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr
from asof.runtime.replica_health import write_health
from asof.runtime.wiring import connection_of
from asof.service.worker_handle import Began, Reached
from asof.settings import Settings
from asof_projections.generations import load
from asof_streams.backoff import OUTAGE
from asof_streams.errors import NotFound, UnavailableError
from asof_streams.kafka.topics import Topics
from asof_streams.sqlite_log import SqliteLog

_ROUND_SECONDS: Final = 0.1  # between two rounds
_HEALTH_SECONDS: Final = 2.0
_TURN_SECONDS: Final = 5.0  # after which it is seen whether the directory is free
_BELIEVED_SECONDS: Final = 0.5  # what led to no belief so long after it was recorded, leads to none


def follow(channel: Channel, settings: Settings) -> None:
    """Follow the topics until the service has finished."""
    log_to_stderr("asof", "asof_agents")
    stop = Event()
    Thread(target=_stop_at_the_end, args=(channel, stop), daemon=True).start()
    channel.send(Began(0))
    _Following(settings, channel, stop).run()


def _stop_at_the_end(channel: Channel, stop: Event) -> None:
    with suppress(ChannelClosed):
        while True:
            channel.receive()
    stop.set()


class _Following:
    """Keeps the directory up as well as it can, and tells how far it is."""

    def __init__(self, settings: Settings, channel: Channel, stop: Event) -> None:
        self._places = DirectoryLayout(settings.data)
        self._connection, self._topics = connection_of(settings), Topics(settings.kafka_prefix)
        self._channel = channel
        self._stop = stop
        self._reached = -1
        self._recorded: deque[tuple[float, int]] = deque()  # when it was seen, and up to which message
        self._healthy = 0.0  # when that was written down

    def run(self) -> None:
        pauses = OUTAGE.pauses()
        while not self._stop.is_set():
            try:
                with ReplicaFollower(self._places, self._connection, self._topics, leave_held=True) as follower:
                    self._turn(follower)
                pauses = OUTAGE.pauses()
            except UnavailableError:
                self._stop.wait(next(pauses))

    def _turn(self, follower: ReplicaFollower) -> None:
        """Keep the directory up, or for a while see how far another process is that does."""
        until = time.monotonic() + _TURN_SECONDS
        while not self._stop.is_set() and (follower.follows or time.monotonic() < until):
            reached = follower.catch_up()
            if follower.follows and time.monotonic() - self._healthy > _HEALTH_SECONDS:
                write_health(self._places.root, reached)
                self._healthy = time.monotonic()
            self._tell()
            self._stop.wait(_ROUND_SECONDS)

    def _tell(self) -> None:
        if load(self._places.root) is None:  # no worker has begun
            return
        reached = self._answered()
        if reached > self._reached:
            self._reached = reached
            self._channel.send(Reached(reached))

    def _answered(self) -> int:
        """Return the offset before which all messages are answered."""
        with ExitStack() as stack:
            catalog = load(self._places.root)
            assert catalog is not None
            paths = [self._places.semantic(info.name) for info in catalog.generations]
            try:
                beliefs = [stack.enter_context(SqliteLog(path)) for path in paths]
                episodic = stack.enter_context(SqliteLog(self._places.episodic))
                messages = stack.enter_context(SqliteLog(self._places.messages))
            except NotFound:  # not all of them are there yet
                return -1
            followed = min(log.checkpoint() for log in beliefs)
            recorded = episodic.checkpoint()
            believed = recorded if followed >= episodic.end() else episodic.cause_of(followed)
            known = max(believed, self._settled(recorded))
            return messages.cause_of(known) if known < messages.end() else messages.checkpoint()

    def _settled(self, recorded: int) -> int:
        """Return up to which message all was recorded long enough ago."""
        now = time.monotonic()
        if not self._recorded or self._recorded[-1][1] < recorded:
            self._recorded.append((now, recorded))
        while len(self._recorded) > 1 and self._recorded[1][0] < now - _BELIEVED_SECONDS:
            self._recorded.popleft()
        seen, known = self._recorded[0]
        return known if seen < now - _BELIEVED_SECONDS else -1
