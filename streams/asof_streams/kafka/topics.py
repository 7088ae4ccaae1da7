"""The topics of a memory: their names, making them, and looking whether they keep what they must.

No topic is ever made by asking for it: a broker that makes topics by itself gives them seven days of history, and
aiokafka lets it whenever it asks for one by name. So all topics are listed, and nothing is asked of one that is absent.
"""

import re
from asyncio import sleep
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    NoError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    for_code,
)

from asof_streams.errors import BrokerUnavailable, InvalidInput
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import guard, reach, translated
from asof_streams.kafka.topic_rules import RULES, SAFE_IN_SYNC, SAFE_REPLICAS, Described, Finding, Kind, absent, judge

_PREFIX: Final = re.compile(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,159}", re.ASCII)  # Kafka's limit for the whole is 249
_SEMANTIC: Final = ".semantic"
_REQUEST_MS: Final = 15_000
_LOOKS: Final = 100
_BETWEEN_LOOKS_SECONDS: Final = 0.1
_REFUSED: Final = (
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    PolicyViolationError,
)

Partitions = Sequence[Mapping[str, Any]]
"""The partitions of a topic, as a broker describes them."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of a memory's topics. InvalidInput: the prefix cannot begin the name of one."""

    prefix: str = "asof"

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix) or self.prefix.endswith(_SEMANTIC):
            raise InvalidInput(
                "ASOF_KAFKA_PREFIX takes up to 160 letters, digits, '.', '_' and '-', and does not end with .semantic"
            )

    @property
    def messages(self) -> str:
        """What was said."""
        return f"{self.prefix}.messages"

    @property
    def episodic(self) -> str:
        """What was recorded."""
        return f"{self.prefix}.episodic"

    @property
    def dead_letters(self) -> str:
        """Copies of what could not be taken."""
        return f"{self.prefix}.dead-letters"

    def semantic(self, generation: str) -> str:
        """What a generation believes."""
        return f"{self.prefix}{_SEMANTIC}.{generation}"

    def generations_of(self, names: Iterable[str]) -> list[str]:
        """Return the generations that have a topic among these names, in order of the alphabet."""
        start = self.semantic("")
        return sorted(rest for name in names if (rest := name.removeprefix(start)) != name and rest and "." not in rest)

    def all(self, generations: Iterable[str]) -> dict[str, Kind]:
        """Return the name of every topic, and what it is for; that of the messages comes first."""
        derived: tuple[str, ...] = (self.episodic, *(self.semantic(generation) for generation in generations))
        return {self.messages: "messages", **dict.fromkeys(derived, "derived"), self.dead_letters: "dead letters"}


async def create(
    connection: Connection,
    topics: Topics,
    generations: Sequence[str],
    *,
    partitions: int | None = None,
    replication: int | None = None,
) -> list[str]:
    """Make the topics that are not there yet; return their names. Those that are there stay as they are.

    `partitions`: as many as those have that are there, else 1. `replication`: 3, or as many as there are brokers.
    InvalidInput: those that are there have another number of partitions, or the broker does not make such topics.
    """
    wanted = topics.all(generations)
    async with _admin(connection, *wanted) as admin:
        there = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}
        first = next((name for name in wanted if name in there), None)
        count = there[first] if first else partitions or 1
        if partitions not in (None, count):
            raise InvalidInput(
                f"{first} has {count} partition{'s' if count > 1 else ''}, not {partitions}: that stays as it is,"
                " because a group lives in one of them; --prefix gives other topics"
            )
        if missing := [name for name in wanted if name not in there]:
            copies = replication or min(SAFE_REPLICAS, len((await admin.describe_cluster())["brokers"]))
            new = [NewTopic(name, count, copies, topic_configs=_settings(wanted[name], copies)) for name in missing]
            _raise_refused(connection, (await admin.create_topics(new)).topic_errors)
            await _wait_for(connection, admin, missing)
    return missing


async def check(connection: Connection, topics: Topics, generations: Sequence[str] | None = None) -> list[Finding]:
    """Return what is not as it must or should be. `generations`: of these only, else of all that have a topic."""
    async with _admin(connection, *topics.all(generations or ())) as admin:
        listed = await _listed(admin)
        wanted = topics.all(topics.generations_of(listed) if generations is None else generations)
        return await _findings(connection, admin, listed, wanted)


async def check_messages(connection: Connection, topics: Topics) -> list[Finding]:
    """Return what is not as it must or should be of the messages topic: the only one that a producer may use."""
    async with _admin(connection, topics.messages) as admin:
        return await _findings(connection, admin, await _listed(admin), {topics.messages: "messages"})


async def _listed(admin: AIOKafkaAdminClient) -> dict[str, Partitions]:
    return {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics()}


async def _findings(
    connection: Connection, admin: AIOKafkaAdminClient, listed: Mapping[str, Partitions], wanted: Mapping[str, Kind]
) -> list[Finding]:
    found = await _describe(connection, admin, {name: listed[name] for name in wanted if name in listed})
    findings: list[Finding] = []
    partitions = next((described.partitions for described in found.values()), 0)  # the messages topic is the first
    for name, kind in wanted.items():
        if name in found:
            findings += judge(name, kind, found[name], partitions, connection.bootstrap)
        else:
            findings.append(absent(name))
    return findings


async def ends(connection: Connection, topics: Topics) -> dict[str, list[int]]:
    """Return, for each topic that is there, the offset that the next record of each partition gets."""
    async with _admin(connection) as admin:
        listed = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}
    wanted = topics.all(topics.generations_of(listed))
    return await _offsets(connection, {name: listed[name] for name in wanted if name in listed}, "end")


async def _describe(
    connection: Connection, admin: AIOKafkaAdminClient, listed: Mapping[str, Partitions]
) -> dict[str, Described]:
    asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in listed]
    settings: dict[str, dict[str, str]] = {}
    for response in await admin.describe_configs(asked):
        for code, _, _, name, entries in response.resources:
            if code:
                raise translated(connection, for_code(code)(), name)
            settings[name] = {entry[0]: entry[1] for entry in entries if entry[1] is not None}
    starts = await _offsets(connection, {name: len(partitions) for name, partitions in listed.items()}, "beginning")
    return {
        name: Described(
            len(partitions),
            min(len(partition["replicas"]) for partition in partitions),
            settings[name],
            starts[name],
        )
        for name, partitions in listed.items()
    }


def _settings(kind: Kind, copies: int) -> dict[str, str]:
    """Return what a topic is made with: what is required of it, and for dead letters that they are kept as well."""
    return {
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "min.insync.replicas": str(SAFE_IN_SYNC if copies >= SAFE_REPLICAS else 1),
        "unclean.leader.election.enable": "false",
    } | {rule.setting: rule.wanted for rule in RULES[kind]}


def _raise_refused(connection: Connection, made: Iterable[tuple[Any, ...]]) -> None:
    for name, code, *reason in made:
        error = for_code(code)
        if issubclass(error, _REFUSED):
            raise InvalidInput(f"{connection.bootstrap} does not make {name}: {' '.join(filter(None, reason))}")
        if error not in (NoError, TopicAlreadyExistsError):
            raise translated(connection, error(), name)


async def _wait_for(connection: Connection, admin: AIOKafkaAdminClient, names: Sequence[str]) -> None:
    """Return once the broker that is asked knows the topics that the controller has made, with their leaders."""
    for _ in range(_LOOKS):
        listed = {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics()}
        if all(name in listed and all(p["leader"] >= 0 for p in listed[name]) for name in names):
            return
        await sleep(_BETWEEN_LOOKS_SECONDS)
    raise BrokerUnavailable(f"{connection.bootstrap} has made {', '.join(names)}, but no broker leads them yet")


@asynccontextmanager
async def _admin(connection: Connection, *topics: str) -> AsyncIterator[AIOKafkaAdminClient]:
    await reach(connection)
    async with guard(connection, *topics):
        admin = AIOKafkaAdminClient(**connection.arguments(), request_timeout_ms=_REQUEST_MS)
        try:
            await admin.start()
            yield admin
        finally:
            await admin.close()


async def _offsets(
    connection: Connection, counts: Mapping[str, int], edge: Literal["beginning", "end"]
) -> dict[str, list[int]]:
    """Return the first offset that is there (beginning), or the next one (end), of every partition."""
    partitions = [TopicPartition(name, number) for name, count in counts.items() for number in range(count)]
    if not partitions:
        return {}  # stopped before it has done anything, a consumer raises CancelledError
    async with guard(connection, *counts):
        consumer = AIOKafkaConsumer(**connection.arguments(), request_timeout_ms=_REQUEST_MS)
        try:
            await consumer.start()
            ask = consumer.beginning_offsets if edge == "beginning" else consumer.end_offsets
            found = await ask(partitions)
        finally:
            await consumer.stop()
    return {name: [found[TopicPartition(name, number)] for number in range(count)] for name, count in counts.items()}
