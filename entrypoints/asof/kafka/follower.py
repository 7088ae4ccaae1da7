"""Following the topics into a directory, and writing to none of them: the projector, and what reading begins with.

Each round asks first where the topics end, that of the beliefs before that of the messages, and reads them the other
way round. So a directory never has an event without what it was made from, and the next round makes good any crash.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Final, Self

from asof.kafka.control import Control, apply
from asof.kafka.encryption import find_keys, keep_keys
from asof.kafka.replica import PartitionReplica
from asof.kafka.topic_logs import TopicPartitions
from asof.runtime.graph_database import graphs_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaProgress
from asof.runtime.replica_manifest import ReplicaManifest, keep, places_of
from asof.settings import Settings
from asof_projections.control import ControlState
from asof_streams.errors import WriterBusy
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import topic_not_found
from asof_streams.kafka.topics import Topics

_ROUND_SECONDS: Final = 0.2  # between two rounds
_LOOK_SECONDS: Final = 5.0  # between two looks for topics of new generations


class ReplicaFollower:
    """A directory that is kept a copy of topics, by one process at a time and one thread of it.

    WriterBusy: another process keeps it up, or one of its partitions; with `leave_held` those are left to that one.
    settings: of a graph database that is to follow too; None: none is. keys: the folder of the store of keys, where
    content is encrypted. partition: the only one that is kept up; None: all are. InvalidInput: it
    is a copy of other topics, or none. NotFound: there are no topics.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        connection: Connection,
        topics: Topics,
        *,
        leave_held: bool = False,
        settings: Settings | None = None,
        keys: Path | None = None,
        partition: int | None = None,
    ) -> None:
        self._topics = topics
        self._copies: list[PartitionReplica] = []
        self._looked: float | None = None
        self._built: tuple[str, ...] = ()
        with ExitStack() as opened:
            self._client = opened.enter_context(Client(connection))
            count = self._client.partitions(topics.messages)
            if not count:
                raise topic_not_found(topics.messages)
            keep(places.root, ReplicaManifest(topics.prefix, count))
            self._control = Control(self._client, topics)
            numbers = range(count) if partition is None else [partition]
            parts = {number: places_of(places, number, count) for number in numbers}
            own = [*parts.values()]
            keep_keys([places, *own], find_keys(self._client, topics, keys))
            apply(self._control.catch_up(), own)  # what was dropped has no topic any more
            for number, part in parts.items():
                try:
                    graphs = None if settings is None else graphs_of(settings, part)
                    at = TopicPartitions(part, self._client, topics, number)
                    copy = PartitionReplica(at, leave_held=leave_held, graphs=graphs)
                except WriterBusy:
                    if not leave_held:
                        raise
                else:
                    self._copies.append(opened.enter_context(copy))
            self._opened = opened.pop_all()

    @property
    def follows(self) -> bool:
        """Whether there is anything that it keeps up, and no other process does."""
        return bool(self._copies)

    @property
    def is_wanted(self) -> bool:
        """Whether an agent waits for a part of the directory, which is to be let go of then."""
        return any(copy.is_wanted for copy in self._copies)

    @property
    def erasing(self) -> bool:
        """Whether its files may still hold erased content."""
        return any(copy.erasing for copy in self._copies)

    @property
    def control_end(self) -> dict[tuple[str, int], int]:
        """Where the control topic ended when it was last read; nothing, where there was none."""
        return self._control.end()

    def catch_up(self) -> list[ReplicaProgress]:
        """Bring the directory up to where the topics end now; return how far that is."""
        control = self._control.catch_up()
        self._look_for_generations(control)
        layers = [
            [log.at for copy in self._copies for log in copy.logs],
            [copy.inputs[0] for copy in self._copies],
            [copy.inputs[1] for copy in self._copies],
        ]
        ends: dict[tuple[str, int], int] = {}
        for layer in layers:
            ends |= self._client.ends(layer)
        for copy in self._copies:
            copy.catch_up(ends)
        apply(control, [copy.places for copy in self._copies])
        reached: list[ReplicaProgress] = []
        for layer in reversed(layers):
            copies = {at: copy for copy in self._copies for at in (*copy.inputs, *(log.at for log in copy.logs))}
            reached += [ReplicaProgress(*at, copies[at].offset(at), ends[at]) for at in layer]
        return reached

    def follow(self, stop: Event, report: Callable[[Sequence[ReplicaProgress]], None] | None = None) -> None:
        """Keep the directory up until `stop` is set; `report` is told after each round how far it is."""
        while not stop.is_set():
            reached = self.catch_up()
            if report:
                report(reached)
            stop.wait(_ROUND_SECONDS)

    def close(self) -> None:
        """Let others have the directory."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look_for_generations(self, control: ControlState) -> None:
        for copy in self._copies:
            for name in control.dropped:
                copy.remove(name)
        now = time.monotonic()
        if self._looked is None or now - self._looked > _LOOK_SECONDS or control.built != self._built:
            for name in self._topics.generations_of(self._client.topics()):
                for copy in self._copies if name not in control.dropped else ():
                    copy.add(name)
            for copy in self._copies:
                copy.add_replies()
            self._looked, self._built = now, control.built
