"""Catching up with Kafka topics before a question, where no other process keeps the directory up to date."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaHealth
from asof.runtime.replica_manifest import PATIENCE, is_kept_up, parts
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.errors import DamagedFile, NotFound
from asof_streams.polling import looks

if TYPE_CHECKING:
    from asof_streams.kafka.client import Client

_VALID_SECONDS: Final = 0.05  # for which a look at the topics' ends counts: many questions come at once


class TopicCatchUp:
    """Brings a replica up to the ends of its topics, for readers.

    A worker or a projector that holds the directory is left to do so; another reader that is catching up is waited for.
    """

    def __init__(self, places: DirectoryLayout, settings: Settings) -> None:
        self._places = places
        self._settings = settings
        self._client: Client | None = None
        self._ends: dict[tuple[str, int], int] = {}  # of the topics, when they were last followed
        self._looked = 0.0  # when, by the monotonic clock, the topics still ended there

    def run(self) -> None:
        """Catch up with the topics, unless nothing is new or another process does it."""
        if self._is_current() or self._is_kept_up():
            return
        from asof.kafka.encryption import keys_of
        from asof.kafka.follower import ReplicaFollower
        from asof_streams.kafka.topics import Topics

        settings = self._settings
        topics, connection = Topics(settings.kafka_prefix), connection_of(settings)
        keys = keys_of(settings)
        with ReplicaFollower(
            self._places, connection, topics, leave_held=True, settings=settings, keys=keys
        ) as follower:
            ends = {(each.topic, each.partition): each.end for each in follower.catch_up()}
            self._ends = ends | follower.control_end

    def close(self) -> None:
        """Close the client; the next look opens another."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _is_kept_up(self) -> bool:
        """Whether another process holds the directory for longer than a question takes."""
        for pause in looks(PATIENCE):
            if not all(is_kept_up(part) for part in parts(self._places.root)):
                return False
            with suppress(NotFound, DamagedFile):
                if ReplicaHealth.read(self._places.root).well(clock.system()):
                    return True
            time.sleep(pause)
        return True

    def _is_current(self) -> bool:
        """Whether the topics end where they did when they were last followed."""
        now = time.monotonic()
        if not self._ends or now - self._looked < _VALID_SECONDS:
            return bool(self._ends)
        from asof_streams.kafka.topics import Topics

        if self._client is None:
            from asof_streams.kafka.client import Client

            self._client = Client(connection_of(self._settings))
        control = Topics(self._settings.kafka_prefix).control, 0
        if control not in self._ends:
            if self._client.partitions(control[0]):
                return False  # the first rebuild or switch has made it
        elif self._client.end(*control) != self._ends[control]:
            return False  # it is asked first: a topic of the others may be gone
        if self._client.ends(self._ends) != self._ends:
            return False
        self._looked = now
        return True
