"""The rights that a user lacks on topics and consumer groups, as a broker with ACLs tells them."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
    for_code,
)
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int16, Int32, Schema, String

from asof_streams.errors import AccessDenied
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import grant
from asof_streams.kafka.topic_rules import TopicFinding

Right = Literal["Read", "Write", "DescribeConfigs"]  # the first two imply that one may describe it
_BITS: Final[Mapping[Right, int]] = {"Read": 3, "Write": 4, "DescribeConfigs": 10}
_TEXT: Final = String("utf-8")
_UNREADY: Final = (  # the broker looked at the rights first: nobody has used a group yet, or its coordinator moves
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)
_UNTOLD: Final = -(2**31)  # what a broker answers that does not say what the user may do


class MissingRight(NamedTuple):
    """A right that a user does not have."""

    right: Right
    kind: Literal["topic", "group"]
    name: str

    def __str__(self) -> str:
        return f"{self.right} on {self.kind} {self.name}"

    def remedy(self, connection: Connection) -> str:
        """Return the command that grants it."""
        return grant(connection, self.right, self.kind, self.name)

    def finding(self, connection: Connection) -> TopicFinding:
        """Return a warning of it: a user that only reads, or creates topics, needs less than a worker."""
        why = f"a worker needs it of {connection.user}"
        fix = f"Run: {self.remedy(connection)}"
        return TopicFinding(self.name, f"right {self.right}", "missing", "granted", why, fix, "warning")


def require_rights(connection: Connection, missing: Sequence[MissingRight]) -> None:
    """Raise AccessDenied if rights are missing. It names all of them, and how to grant the first."""
    if missing:
        more = "" if len(missing) == 1 else ", and so on: asof topics check says how to grant each"
        raise AccessDenied(
            f"{connection.bootstrap} does not let {connection.user} do all that a worker does; it lacks"
            f" {', '.join(map(str, missing))}. Run: {missing[0].remedy(connection)}{more}"
        )


async def missing_rights(
    admin: AIOKafkaAdminClient, topics: Mapping[str, Collection[Right]], groups: Collection[str]
) -> list[MissingRight]:
    """Return the rights on topics, and Read on groups, that the user lacks, in the order in which they were given.

    None is missing on topics where the broker does not tell: an older one than Kafka 2.3, or another product.
    """
    try:
        allowed = await _of_topics(admin, [*topics])
    except NotImplementedError:
        allowed = {}
    readable = await asyncio.gather(*(_may_read(admin, group) for group in groups))
    lacking = [
        MissingRight(right, "topic", name)
        for name, rights in topics.items()
        for right in rights
        if not allowed.get(name, -1) >> _BITS[right] & 1
    ]
    return lacking + [
        MissingRight("Read", "group", group) for group, may in zip(groups, readable, strict=True) if not may
    ]


async def _of_topics(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, int]:
    answer: Any = await admin._send_request(_RightsRequest(names))  # noqa: SLF001 - aiokafka asks without them
    return {name: allowed for error, name, _, _, allowed in answer.topics if not error and allowed != _UNTOLD}


async def _may_read(admin: AIOKafkaAdminClient, group: str) -> bool:
    """Whether a group may be described: who may read may do that too, and aiokafka does not tell the two apart.

    A broker that does not answer says nothing about rights: its error is raised.
    """
    try:
        [answer] = await admin.describe_consumer_groups([group])
    except GroupAuthorizationFailedError:
        return False
    except _UNREADY:
        return True
    return all(for_code(described[0]) is not GroupAuthorizationFailedError for described in answer.groups)


class _RightsResponse(Response):  # type: ignore[misc]  # aiokafka has no types
    """Metadata with what the user may do to each topic."""

    API_KEY = 3
    API_VERSION = 8
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", Array(("node_id", Int32), ("host", _TEXT), ("port", Int32), ("rack", _TEXT))),
        ("cluster_id", _TEXT),
        ("controller_id", Int32),
        (
            "topics",
            Array(
                ("error_code", Int16),
                ("topic", _TEXT),
                ("is_internal", Boolean),
                (
                    "partitions",
                    Array(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", Array(Int32)),
                        ("isr", Array(Int32)),
                        ("offline_replicas", Array(Int32)),
                    ),
                ),
                ("authorized_operations", Int32),
            ),
        ),
        ("cluster_authorized_operations", Int32),
    )


class _RightsStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 8
    RESPONSE_TYPE = _RightsResponse
    SCHEMA = Schema(
        ("topics", Array(_TEXT)),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_authorized_operations", Boolean),
        ("include_topic_authorized_operations", Boolean),
    )


class _RightsRequest(Request[_RightsStruct]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, topics: list[str]) -> None:
        self._topics = topics

    def build(self, request_struct_class: type[_RightsStruct]) -> _RightsStruct:
        return request_struct_class(self._topics, False, False, True)
