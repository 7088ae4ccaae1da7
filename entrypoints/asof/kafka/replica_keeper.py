"""Keeps the copy of one partition up beside an agent that only reads it, by a thread of its own.

Where other agents keep parts of the directory up, those are left to them, and taken over when they end.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final, Self

from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_kept_up
from asof_streams.backoff import OUTAGE
from asof_streams.errors import AsofError, NotFound, UnavailableError, WriterBusy
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics

_ROUND_SECONDS: Final = 0.2  # between two rounds, unless it is woken
_LOOK_SECONDS: Final = 1.0  # between two looks whether others still keep the directory up

_log = logging.getLogger(__name__)


class ReplicaKeeper:
    """Keeps the copy of a partition in `part`, within the directory `whole`, up from construction until `close`."""

    def __init__(
        self,
        whole: DirectoryLayout,
        part: DirectoryLayout,
        connection: Connection,
        topics: Topics,
        partition: int,
        keys: Path | None,
    ) -> None:
        self.failure: AsofError | None = None  # by which it ended
        self._part = part
        self._open: Callable[[], ReplicaFollower] = lambda: ReplicaFollower(
            whole, connection, topics, leave_held=True, keys=keys, partition=partition
        )
        self._woken = Event()
        self._ends = False
        self._thread = Thread(target=self._run, name="replica-keeper", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Copy what is new at once."""
        self._woken.set()

    def close(self) -> None:
        """Finish the round under way, and end."""
        self._ends = True
        self._woken.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        pauses = OUTAGE.pauses()
        while not self._ends:
            try:
                if not is_kept_up(self._part):
                    with suppress(NotFound, WriterBusy), self._open() as follower:
                        self._follow(follower)
                    pauses = OUTAGE.pauses()
                self._wait(_LOOK_SECONDS)
            except UnavailableError:
                self._wait(next(pauses))
            except AsofError as error:
                _log.error("%s", error)
                self.failure = error
                return

    def _follow(self, follower: ReplicaFollower) -> None:
        """Keep up what is left to this, until an agent wants it, or others have all of it."""
        while follower.follows and not self._ends and not follower.is_wanted:
            follower.catch_up()
            self._wait(_ROUND_SECONDS)

    def _wait(self, seconds: float) -> None:
        if not self._ends:
            self._woken.wait(seconds)
            self._woken.clear()
