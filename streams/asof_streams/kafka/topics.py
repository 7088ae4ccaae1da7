"""The topics of a memory: their names, their creation, and the check of their settings.

aiokafka lets a broker create a topic whenever it requests metadata of one by name, and a topic created so keeps seven
days of history. So this module lists all topics, and requests nothing of one that does not exist.
"""

import re
from asyncio import sleep
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    NoError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)

from asof_streams.errors import BrokerUnavailable, InvalidInput, UnavailableError
from asof_streams.kafka.client import introduce
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import denied, expect_reachable, translate, translate_errors
from asof_streams.kafka.rights import MissingRight, Right, missing_rights
from asof_streams.kafka.topic_rules import (
    AGENTS,
    RULES,
    SAFE_IN_SYNC,
    SAFE_REPLICAS,
    Kind,
    TopicDescription,
    TopicFinding,
    check_topic,
    missing_topic,
)

_PREFIX: Final = re.compile(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,159}", re.ASCII)  # Kafka's limit for the whole is 249
_SEMANTIC: Final = ".semantic"
_REQUEST_MS: Final = 15_000
_POLLS: Final = 100
_POLL_SECONDS: Final = 0.1
_MEMBER_POLLS: Final = 300
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
    """The names of a memory's topics. InvalidInput: the prefix is not valid."""

    prefix: str = "asof"

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix) or self.prefix.endswith(_SEMANTIC):
            raise InvalidInput(
                "ASOF_KAFKA_PREFIX takes up to 160 letters, digits, '.', '_' and '-', and does not end with .semantic"
            )

    @property
    def messages(self) -> str:
        """The topic of the messages that producers send."""
        return f"{self.prefix}.messages"

    @property
    def episodic(self) -> str:
        """The topic of the episodic log."""
        return f"{self.prefix}.episodic"

    @property
    def dead_letters(self) -> str:
        """The topic with copies of parked records."""
        return f"{self.prefix}.dead-letters"

    @property
    def control(self) -> str:
        """The topic of the control log, of which the first partition is used. The first rebuild or switch makes it."""
        return f"{self.prefix}.control"

    @property
    def replies(self) -> str:
        """The topic of the conversation log: what a bot answers. There is none where no bot is to answer."""
        return f"{self.prefix}.replies"

    def semantic(self, generation: str) -> str:
        """The topic of a generation's semantic log."""
        return f"{self.prefix}{_SEMANTIC}.{generation}"

    @property
    def recorders(self) -> str:
        """The consumer group of the recorders."""
        return f"{self.prefix}.workers"

    def believers(self, generation: str) -> str:
        """The consumer group of a generation's believers."""
        return f"{self.prefix}.believers.{generation}"

    @property
    def responders(self) -> str:
        """The consumer group of the responders."""
        return f"{self.prefix}.responders"

    def generations_of(self, names: Iterable[str]) -> list[str]:
        """Return the generations that have a topic among these names, sorted by name."""
        start = self.semantic("")
        return sorted(rest for name in names if (rest := name.removeprefix(start)) != name and rest and "." not in rest)

    def all(self, generations: Iterable[str]) -> dict[str, Kind]:
        """Return each topic's name and kind; the messages topic comes first."""
        derived: tuple[str, ...] = (self.episodic, *(self.semantic(generation) for generation in generations))
        return {self.messages: "messages", **dict.fromkeys(derived, "derived"), self.dead_letters: "dead letters"}


async def create(
    connection: Connection,
    topics: Topics,
    generations: Sequence[str],
    *,
    partitions: int | None = None,
    replication: int | None = None,
    control: bool = False,
    replies: bool = False,
) -> list[str]:
    """Create the topics that do not exist yet; return their names. Existing topics stay unchanged.

    partitions: None means as many as the existing topics have, else 1. replication: None means 3, or the number of
    brokers if that is smaller. control, replies: whether those of the control log and of the conversation log are
    made too. InvalidInput: existing topics have
    another number of partitions, or the broker's policy refuses such topics.
    """
    wanted = topics.all(generations)
    if control:
        wanted[topics.control] = "derived"
    if replies:
        wanted[topics.replies] = "derived"
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


async def delete_generation(connection: Connection, topics: Topics, generation: str, group: str) -> None:
    """Delete the topic of a generation, once no worker follows for it: `group` is the consumer group of those.

    UnavailableError: workers still do. A topic that is not there is deleted already.
    """
    name = topics.semantic(generation)
    async with _admin(connection, name) as admin:
        otherwise = f"workers still follow for generation {generation}: ask again once they do not"
        await _await_no_members(admin, group, otherwise)
        if name in {topic["topic"] for topic in await admin.describe_topics()}:
            for _, code in (await admin.delete_topics([name])).topic_error_codes:
                error = for_code(code)
                if error not in (NoError, UnknownTopicOrPartitionError):
                    raise translate(connection, error(), name)


async def await_no_workers(connection: Connection, groups: Iterable[str]) -> None:
    """Return once consumer groups have no members. UnavailableError: they still do after half a minute."""
    async with _admin(connection) as admin:
        for group in groups:
            await _await_no_members(admin, group, f"workers of {group} still run: stop them, and ask again")


async def _await_no_members(admin: AIOKafkaAdminClient, group: str, otherwise: str) -> None:
    for _ in range(_MEMBER_POLLS):  # a member that ended without a word is one until its session ends
        if not await _members(admin, group):
            return
        await sleep(_POLL_SECONDS)
    raise UnavailableError(otherwise)


async def _members(admin: AIOKafkaAdminClient, group: str) -> int:
    """Return the number of members of a consumer group; 0: there is no such group. Until a broker can tell, it is 1."""
    try:
        [answer] = await admin.describe_consumer_groups([group])
    except GroupCoordinatorNotAvailableError:
        return 1
    return sum(len(described[5]) for described in answer.groups)


async def check(connection: Connection, topics: Topics, generations: Sequence[str] | None = None) -> list[TopicFinding]:
    """Return the findings of all topics, the messages topic's first. generations: None means all that have a topic."""
    async with _admin(connection, *topics.all(generations or ())) as admin:
        listed = await _listed(admin)
        wanted = topics.all(topics.generations_of(listed) if generations is None else generations)
        wanted |= {name: "derived" for name in (topics.control, topics.replies) if name in listed}
        return await _findings(connection, admin, listed, wanted)


async def check_rights(
    connection: Connection, topics: Topics, agents: Collection[str] = AGENTS, generations: Collection[str] = ()
) -> list[MissingRight]:
    """Return the rights that a worker with some agents would lack, of the topics that are there.

    generations: those that it believes; none: all that have a topic. One that the user may not see counts as absent.
    """
    async with _admin(connection) as admin:
        listed = {*await _listed(admin)}
        believed = [*(generations or topics.generations_of(listed))]
        responds = "responder" in agents and topics.replies in listed
        rights = _rights_of_worker(topics, listed, believed, {*agents} if responds else {*agents} - {"responder"})
        groups = {
            "recorder": [topics.recorders],
            "believer": [topics.believers(generation) for generation in believed],
            "responder": [topics.responders] if responds else [],
        }
        return await missing_rights(
            admin, rights, [group for agent in groups if agent in agents for group in groups[agent]]
        )


def _rights_of_worker(
    topics: Topics, listed: Collection[str], generations: Sequence[str], agents: Collection[str]
) -> dict[str, list[Right]]:
    semantic = [topics.semantic(generation) for generation in generations]
    derives = [
        *([topics.episodic] if "recorder" in agents else []),
        *(semantic if "believer" in agents else []),
        *([topics.replies] if "responder" in agents else []),
    ]
    reads = [
        topics.messages,
        topics.episodic,
        topics.control,
        *(semantic if {*agents} - {"recorder"} else []),
        *derives,
    ]
    names = dict.fromkeys([*reads, topics.dead_letters])
    allowed: dict[Right, list[str]] = {
        "Read": reads,
        "Write": [*derives, topics.dead_letters],
        "DescribeConfigs": [*names],
    }
    return {name: [right for right, those in allowed.items() if name in those] for name in names if name in listed}


async def check_messages(connection: Connection, topics: Topics) -> list[TopicFinding]:
    """Return the findings of the messages topic, the only one that a producer needs access to."""
    async with _admin(connection, topics.messages) as admin:
        return await _findings(connection, admin, await _listed(admin), {topics.messages: "messages"})


async def _listed(admin: AIOKafkaAdminClient) -> dict[str, Partitions]:
    return {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics()}


async def _findings(
    connection: Connection, admin: AIOKafkaAdminClient, listed: Mapping[str, Partitions], wanted: Mapping[str, Kind]
) -> list[TopicFinding]:
    found = await _describe(connection, admin, {name: listed[name] for name in wanted if name in listed})
    findings: list[TopicFinding] = []
    partitions = next((described.partitions for described in found.values()), 0)  # the messages topic is the first
    for name, kind in wanted.items():
        if name in found:
            findings += check_topic(name, kind, found[name], partitions, connection.bootstrap)
        else:
            findings.append(missing_topic(name))
    return findings


async def ends(connection: Connection, topics: Topics) -> dict[str, list[int]]:
    """Return the next offset of each partition, for every topic that exists."""
    async with _admin(connection) as admin:
        listed = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}
    wanted = {**topics.all(topics.generations_of(listed)), topics.replies: "derived"}
    return await _offsets(connection, {name: listed[name] for name in wanted if name in listed}, "end")


async def _describe(
    connection: Connection, admin: AIOKafkaAdminClient, listed: Mapping[str, Partitions]
) -> dict[str, TopicDescription]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in listed]
    settings: dict[str, dict[str, str]] = {}
    for response in await admin.describe_configs(resources):
        for code, _, _, name, entries in response.resources:
            if for_code(code) is TopicAuthorizationFailedError:
                raise denied(connection, "DescribeConfigs", "topic", name)
            if code:
                raise translate(connection, for_code(code)(), name)
            settings[name] = {entry[0]: entry[1] for entry in entries if entry[1] is not None}
    starts = await _offsets(connection, {name: len(partitions) for name, partitions in listed.items()}, "beginning")
    return {
        name: TopicDescription(
            len(partitions),
            min(len(partition["replicas"]) for partition in partitions),
            settings[name],
            starts[name],
        )
        for name, partitions in listed.items()
    }


def _settings(kind: Kind, copies: int) -> dict[str, str]:
    """Return the settings of a new topic: the required ones, and for dead letters unlimited retention as well."""
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
            raise translate(connection, error(), name)


async def _wait_for(connection: Connection, admin: AIOKafkaAdminClient, names: Sequence[str]) -> None:
    """Return once the broker knows the new topics and their leaders: the controller's answer may come before that."""
    for _ in range(_POLLS):
        listed = {topic["topic"]: topic["partitions"] for topic in await admin.describe_topics()}
        if all(name in listed and all(p["leader"] >= 0 for p in listed[name]) for name in names):
            return
        await sleep(_POLL_SECONDS)
    raise BrokerUnavailable(f"{connection.bootstrap} has made {', '.join(names)}, but no broker leads them yet")


@asynccontextmanager
async def _admin(connection: Connection, *topics: str) -> AsyncIterator[AIOKafkaAdminClient]:
    await expect_reachable(connection)
    async with translate_errors(connection, *topics):
        admin = AIOKafkaAdminClient(**connection.arguments(), request_timeout_ms=_REQUEST_MS)
        try:
            await admin.start()
            yield admin
        finally:
            await admin.close()


async def _offsets(
    connection: Connection, counts: Mapping[str, int], edge: Literal["beginning", "end"]
) -> dict[str, list[int]]:
    """Return the first offset (beginning) or the next one (end) of every partition of each topic."""
    partitions = [TopicPartition(name, number) for name, count in counts.items() for number in range(count)]
    if not partitions:
        return {}  # a consumer that is stopped before its first request raises CancelledError
    async with translate_errors(connection, *counts):
        consumer = AIOKafkaConsumer(**connection.arguments(), request_timeout_ms=_REQUEST_MS)
        try:
            await consumer.start()
            await introduce(consumer, counts)
            request = consumer.beginning_offsets if edge == "beginning" else consumer.end_offsets
            offsets = await request(partitions)
        finally:
            await consumer.stop()
    return {name: [offsets[TopicPartition(name, number)] for number in range(count)] for name, count in counts.items()}
