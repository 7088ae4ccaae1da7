"""The worker process: topics checked, Faust started, its state of health written beside the data."""

import asyncio
import json
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from asof import clock
from asof.bootstrap import connection_of
from asof.partitions import Partition, places_of
from asof.places import Places
from asof.settings import Settings
from asof_agents.worker import Reach, Worker
from asof_projections.generations import replace_file
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.instants import SECOND
from asof_streams.kafka.client import Client
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check

FILE: Final = "worker.json"
_FRESH_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Health:
    """How far a worker is, as it last wrote it down."""

    at: int  # microseconds
    partitions: tuple[Reach, ...]

    @property
    def lag(self) -> int:
        """How many records of the messages topic wait, in all its partitions."""
        return sum(reach.end - max(reach.offset, 0) for reach in self.partitions)

    def well(self, now: int) -> bool:
        """Whether the worker lives, and has opened what is its own."""
        return now - self.at < _FRESH_SECONDS * SECOND and all(reach.offset >= 0 for reach in self.partitions)

    def to_json(self) -> dict[str, Any]:
        """Return it as it is written down and shown."""
        return {"at": self.at, "lag": self.lag, "partitions": [reach._asdict() for reach in self.partitions]}

    @classmethod
    def read(cls, root: Path) -> Self:
        """Return what the worker of a directory wrote. NotFound: none ever ran."""
        try:
            found = json.loads((root / FILE).read_bytes())
            return cls(found["at"], tuple(Reach(**reach) for reach in found["partitions"]))
        except FileNotFoundError:
            raise NotFound(f"{root} has no {FILE}: no worker runs on it") from None
        except (ValueError, KeyError, TypeError):
            raise InvalidInput(f"{root / FILE} cannot be read: delete it, the worker writes it again") from None


def write_health(root: Path, reached: list[Reach]) -> None:
    """Write down how far all is, now."""
    root.mkdir(parents=True, exist_ok=True)
    replace_file(root / FILE, json.dumps(Health(clock.system(), tuple(reached)).to_json()).encode())


async def work(settings: Settings) -> None:
    """Take messages from the topics until a signal says stop. TopicUnfit: a topic would lose history or order."""
    connection, topics, places = connection_of(settings), Topics(settings.kafka_prefix), Places(settings.data)
    require(await check(connection, topics))
    client = await asyncio.to_thread(Client, connection)
    try:
        count = await asyncio.to_thread(client.partitions, topics.messages)

        def open_partition(partition: int) -> Partition:
            return Partition(places_of(places, partition, count), settings, connection, topics, partition)

        worker = Worker(
            connection,
            topics.messages,
            f"{topics.prefix}.workers",
            open_partition,
            end_of=lambda partition: client.extent(topics.messages, partition)[1],
            report=partial(write_health, places.root),
            patience=settings.worker_patience,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, worker.stop)
        await worker.run()
    finally:
        await asyncio.to_thread(client.close)
