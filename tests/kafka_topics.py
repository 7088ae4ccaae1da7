"""Topics that a test makes or changes by Kafka's own client, as an operator's tool would.

The controller answers before the broker knows; so each waits until the broker tells of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from patience import SECONDS

_LOOK_SECONDS: Final = 0.05


async def make_topics(admin: AIOKafkaAdminClient, topics: Sequence[NewTopic]) -> None:
    """Make topics."""
    await admin.create_topics(list(topics))

    async def are_told_of() -> bool:
        return {topic.name for topic in topics} <= set(await admin.list_topics())

    await until(are_told_of)


async def alter_topic(admin: AIOKafkaAdminClient, topic: str, settings: dict[str, str]) -> None:
    """Set these settings of a topic; all others become the broker's own."""
    [response] = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, settings)])
    assert [resource[0] for resource in response.resources] == [0], response

    async def are_told_of() -> bool:
        [described] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        [(code, *_, entries)] = described.resources
        told = {entry[0]: entry[1] for entry in entries}
        return not code and settings.items() <= told.items()

    await until(are_told_of)


async def until(are_told_of: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a broker tells of a change."""
    async with asyncio.timeout(SECONDS):
        while not await are_told_of():  # noqa: ASYNC110 - a broker tells nobody of its changes
            await asyncio.sleep(_LOOK_SECONDS)
