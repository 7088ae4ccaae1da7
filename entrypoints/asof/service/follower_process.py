"""The worker's side where the log is a topic: it follows the topics that `asof worker` writes into the directory.

Where another process keeps the directory up, a worker or a projector on this machine, that one is watched.
"""

import time
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from asof.kafka.encryption import keys_of
from asof.kafka.follower import ReplicaFollower
from asof.runtime.child_process import Channel, ChannelClosed
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr
from asof.runtime.replica_health import write_health
from asof.runtime.visible_offset import visible_offset
from asof.runtime.wiring import connection_of
from asof.service.worker_handle import WorkerProgress, WorkerStart
from asof.settings import Settings
from asof_projections.generations import load
from asof_streams.backoff import OUTAGE
from asof_streams.errors import UnavailableError
from asof_streams.kafka.topics import Topics

_ROUND_SECONDS: Final = 0.1  # between two rounds
_HEALTH_SECONDS: Final = 2.0
_TURN_SECONDS: Final = 5.0  # after which it is seen whether the directory is free


def follow(channel: Channel, settings: Settings) -> None:
    """Follow the topics until the service has finished."""
    log_to_stderr(settings, "asof", "asof_agents")
    stop = Event()
    Thread(target=_stop_at_the_end, args=(channel, stop), daemon=True).start()
    channel.send(WorkerStart(0))
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
        self._read = settings.model_copy(update={"kafka": None})  # what is here, whoever keeps it up
        self._keys = keys_of(settings)
        self._connection, self._topics = connection_of(settings), Topics(settings.kafka_prefix)
        self._channel = channel
        self._stop = stop
        self._reached = -1
        self._erasing = False
        self._healthy = 0.0  # when that was written down

    def run(self) -> None:
        pauses = OUTAGE.pauses()
        while not self._stop.is_set():
            try:
                with ReplicaFollower(
                    self._places, self._connection, self._topics, leave_held=True, keys=self._keys
                ) as follower:
                    self._turn(follower)
                pauses = OUTAGE.pauses()
            except UnavailableError:
                self._stop.wait(next(pauses))

    def _turn(self, follower: ReplicaFollower) -> None:
        """Keep the directory up, or for a while see how far another process is that does."""
        until = time.monotonic() + _TURN_SECONDS
        while not (self._stop.is_set() or follower.is_wanted) and (follower.follows or time.monotonic() < until):
            reached = follower.catch_up()
            if follower.follows and time.monotonic() - self._healthy > _HEALTH_SECONDS:
                write_health(self._places.root, reached)
                self._healthy = time.monotonic()
            self._tell(erasing=follower.erasing)
            self._stop.wait(_ROUND_SECONDS)

    def _tell(self, *, erasing: bool) -> None:
        if load(self._places.root) is None:  # no worker has begun
            return
        reached = visible_offset(self._places, self._read, self._reached)
        if reached > self._reached or erasing != self._erasing:
            self._reached, self._erasing = reached, erasing
            self._channel.send(WorkerProgress(self._reached, erasing=erasing))
