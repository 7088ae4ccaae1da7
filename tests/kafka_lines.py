"""What is sent to a worker while parts of it are killed, and what is to be left of that."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError
from aiokafka.protocol.group import LeaveGroupRequest

from asof_streams.kafka.envelope import Outgoing, Raw
from asof_streams.kafka.inbox import parse_message
from kafka_worker import World, fact

RECORDERS, BELIEVERS = AGENTS = ("workers", "believers.main")  # groups of consumers
GROUPS = ["a", "b", "c"]
LINES = [
    "I moved to {place} last month.",
    "I work at {firm} now.",
    "My sister Eva lives in {place}.",
    "I left {firm} last week.",
    "I love chess and I no longer eat meat.",
]


def line(number: int) -> Outgoing:
    """The record of a number: chat, facts, poison, and now and then an erasure. Its id tells it from all others."""
    group = GROUPS[number % 3]
    headers = [("ce_source", b"test"), ("ce_id", b"%d" % number)]
    if number % 97 == 96:
        return Outgoing(None, b'{"group_id": "%s"}' % group.encode(), [*headers, ("ce_type", b"erasure.requested")])
    if number % 31 == 30:
        return Outgoing(None, b"poison %d" % number, headers)
    if number % 2:
        return Outgoing(None, _json(fact(number, group)), headers)
    place, firm = ["Madrid", "Berlin", "Oslo"][number % 5 % 3], ["Acme", "Zeta Labs"][number % 7 % 2]
    content = LINES[number % 5].format(place=place, firm=firm)
    said = {"group_id": group, "role": "Ana", "role_type": "user", "content": content, "name": str(number)}
    return Outgoing(None, _json(said), headers)


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def kept(numbers: list[int]) -> list[Any]:
    """What is left of the lines in the end: all but what was erased."""
    messages = [parse_message(Raw(0, 0, None, value, headers)).message for _, value, headers in map(line, numbers)]
    erased = {m.group_id: place for place, m in enumerate(messages) if m.type == "erasure.requested"}
    return [
        message
        for place, message in enumerate(messages)
        if place >= erased.get(message.group_id, 0) or message.type == "erasure.requested"
    ]


def bury(world: World, agents: Sequence[str] = AGENTS) -> None:
    """Tell the broker that the members of some groups of agents are dead, which it would find out within seconds."""
    asyncio.run(_bury(world, [f"{world.topics.prefix}.{group}" for group in agents]))


async def _bury(world: World, groups: Sequence[str]) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=world.connection.bootstrap)
    await admin.start()
    try:
        for group in groups:
            with suppress(GroupCoordinatorNotAvailableError):  # no worker came so far as to need it
                coordinator = await admin.find_coordinator(group)
                for response in await admin.describe_consumer_groups([group]):
                    for member in (member for described in response.groups for member in described[5]):
                        await admin._send_request(LeaveGroupRequest(group, member[0]), coordinator)
    finally:
        await admin.close()
