"""Workers in processes of their own, what to send them, and what they must come to: what the embedded runtime gives."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple, Self

from aiokafka.admin import AIOKafkaAdminClient

import asof_process
from asof.api.memory import Memory
from asof.kafka.believer import BelieverPartition
from asof.kafka.recorder import RecorderPartition
from asof.runtime.layout import DirectoryLayout
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Claim, Outgoing, Raw, read
from asof_streams.kafka.inbox import parse_message
from asof_streams.kafka.topics import Topics, create
from asof_streams.sqlite_log import SqliteLog
from patience import wait_until

PROJECTOR = ("worker", "--projector")


class Running:
    """An `asof` command that was started, a worker if no other."""

    def __init__(
        self,
        data: Path,
        world: "World",
        command: Sequence[str] = ("worker",),
        *,
        has_children: bool = False,
        **settings: str,
    ) -> None:
        given = {"data": str(data), "embedder": "none"} | world.settings() | settings
        environment = {**os.environ} | {f"ASOF_{name.upper()}": value for name, value in given.items()}
        self.data = data
        self.file = data.with_name(f"{data.name}.said")
        self._process = asof_process.fork(command, environment, self.file, self.file, has_children=has_children)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def wait(self) -> int:
        """Wait for its end; return the exit code."""
        return asof_process.wait(self._process)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill it with -9, if it runs."""
        asof_process.kill(self._process)

    def stop(self) -> None:
        """Ask it to stop, and see that it does, as it should."""
        code = asof_process.stop(self._process)
        assert code == 0, f"exit code {code}: {self.said()}"

    def said(self) -> str:
        return self.file.read_text(encoding="utf-8") if self.file.exists() else ""


class Partition:
    """The recorder and the believer of one partition, one after the other in this process."""

    def __init__(
        self, places: DirectoryLayout, settings: Settings, connection: Connection, topics: Topics, partition: int
    ) -> None:
        given = places, settings, connection, topics, partition
        with ExitStack() as opened:
            self._recorder = opened.enter_context(closing(RecorderPartition(*given)))
            self._believer = opened.enter_context(closing(BelieverPartition(*given)))
            self._believer.ingest([])
            self._opened = opened.pop_all()

    @property
    def offset(self) -> int:
        return self._recorder.offset

    @property
    def parked(self) -> int:
        return self._recorder.parked + self._believer.parked

    def ingest(self, records: list[Raw]) -> None:
        """Ingest records; with none, all that is on the topic, however many steps that takes."""
        self._recorder.ingest(records)
        while not records and self._takes_more():
            pass
        self._believer.ingest([])

    def _takes_more(self) -> bool:
        before = self._recorder.offset
        self._recorder.ingest([])
        return self._recorder.offset > before

    def close(self) -> None:
        self._opened.close()


class World:
    """The topics of one test: to send to, and to compare with."""

    def __init__(self, bootstrap: str, prefix: str, partitions: int = 1) -> None:
        self.connection = Connection(bootstrap)
        self.topics = Topics(prefix)
        asyncio.run(create(self.connection, self.topics, ["main"], partitions=partitions))
        self.client = Client(self.connection)

    def send(self, values: Iterable[bytes | dict[str, Any]], partition: int = 0, **headers: bytes | None) -> int:
        """Send values to the messages topic, without a key; return the offset after the last."""
        given: Any = [*headers.items()]  # a test may send what has no value
        found = [Outgoing(None, v if isinstance(v, bytes) else json.dumps(v).encode(), given) for v in values]
        return self.send_raw(self.topics.messages, found, partition)

    def send_raw(self, topic: str, records: Sequence[Outgoing], partition: int = 0) -> int:
        last = self.client.send(topic, partition, records)[-1]
        return last.offset + last.size

    def records(self, topic: str, partition: int = 0) -> list[Raw]:
        """Return all that is on a topic."""
        return [
            raw for some in self.client.read(topic, partition, *self.client.extent(topic, partition)) for raw in some
        ]

    def holder(self, topic: str, partition: int = 0) -> Claim:
        """Return the claim of the worker that holds a derived topic, which nothing forged may have claimed."""
        return [found for found in map(read, self.records(topic, partition)) if isinstance(found, Claim)][-1]

    def partition(self, data: Path, partition: int = 0) -> Partition:
        return Partition(DirectoryLayout(data), _settings(data), self.connection, self.topics, partition)

    def afresh(self, data: Path, partition: int = 0) -> "Dump":
        """Return what stands in the topics, as read into a new directory."""
        self.partition(data, partition).close()
        return dump(data)

    def administer(self, work: Callable[[AIOKafkaAdminClient], Awaitable[Any]]) -> None:
        """Do something to topics that asof never does."""

        async def administer() -> None:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.connection.bootstrap)
            await admin.start()
            try:
                await work(admin)
            finally:
                await admin.close()

        asyncio.run(administer())

    def settings(self) -> dict[str, str]:
        return {"kafka": self.connection.bootstrap, "kafka_prefix": self.topics.prefix}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()


class Dump(NamedTuple):
    """All that a directory holds, but for what may differ between two of them: terms, and offsets."""

    messages: list[tuple[Any, ...]]
    episodic: list[tuple[Any, ...]]
    semantic: list[tuple[Any, ...]]
    digest: str

    def unplaced(self) -> Self:
        """Without the positions of beliefs: where a group was erased before a believer came to it, they are earlier."""
        return self._replace(semantic=[(None, *row[1:]) for row in self.semantic])


def dump(data: Path) -> Dump:
    """Return all that a directory holds, which must be whole."""
    logs: list[list[tuple[Any, ...]]] = []
    places = DirectoryLayout(data)
    for path in (places.messages, places.episodic, places.semantic("main")):
        with SqliteLog(path) as log:
            assert log.verify() == log.end()
            own = log.name == "messages"  # the cause of a message is its offset on Kafka, its position elsewhere
            logs.append(
                [
                    (*r[:3], None if own else r.cause, *r[4:6], r.event, not own and r.id_in(log.name))
                    for r in log.read()
                ]
            )
    with Memory(_settings(data)) as memory:
        return Dump(logs[0], logs[1], logs[2], memory.digest())


def embedded(world: World, told: Path, data: Path, partition: int = 0) -> Dump:
    """Tell an embedded memory what a worker took, with the times that it recorded; return what it holds, unplaced."""
    raws = {raw.offset: raw for raw in world.records(world.topics.messages, partition)}
    writer = open_writer(DirectoryLayout(data), _settings(data))
    with closing(sqlite3.connect(DirectoryLayout(told).messages)) as log:
        for offset, recorded_at in log.execute("SELECT cause, recorded_at FROM log ORDER BY position"):
            writer.messages.accept([parse_message(raws[offset]).message], clock=0, recorded=[recorded_at])
    writer.process(flush=True)
    writer.close()
    return dump(data).unplaced()


def reached(data: Path) -> tuple[int, int]:
    """Return the offset that a directory's messages go up to, and how many of them are known everywhere."""
    places = DirectoryLayout(data)
    paths = (places.messages, places.episodic, places.semantic("main"))
    if not all(path.exists() for path in paths):
        return 0, 0
    with SqliteLog(paths[0]) as messages, SqliteLog(paths[1]) as episodic, SqliteLog(paths[2]) as semantic:
        offset, end = messages.checkpoint(), episodic.end()
        return offset, episodic.checkpoint() if semantic.checkpoint() >= end else 0


def until(true: Callable[[], object], running: Running | None = None) -> None:
    """Wait until something is true, while a worker runs."""
    wait_until(true, running.said if running else str)


def until_known(running: Running, offset: int) -> None:
    """Wait until a worker has made known all before an offset of the messages topic."""
    path = DirectoryLayout(running.data).messages

    def known() -> bool:
        if not path.exists():
            return False
        with SqliteLog(path) as messages:  # alone, until it has them: to open all of them takes three times as long
            end = messages.end()
            if messages.checkpoint() < offset:
                return False
        return reached(running.data)[1] >= end

    until(known, running)


def fact(number: int, group: str = "g") -> dict[str, Any]:
    """A structured fact of a small world, in which some contradict others."""
    return {
        "group_id": group,
        "subject": f"S{number % 7}",
        "relation": ["lives_in", "likes"][number % 2],
        "object": f"O{number}",
        "valid_at": f"20{10 + number % 12}-03-01T00:00:00Z",
    }


def _settings(data: Path) -> Settings:
    return Settings(data=data, embedder="none")
