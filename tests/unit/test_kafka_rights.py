"""What is taken from a broker's answer about rights."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    NotCoordinatorForGroupError,
    RequestTimedOutError,
)

from asof_streams.kafka.rights import MissingRight, missing_rights


class Coordinator:
    """Kafka's client, as far as it describes a group; `raised` is what it raises, `error` the broker's answer."""

    def __init__(self, raised: type[KafkaError] | None = None, error: int = 0) -> None:
        self._raised, self._error = raised, error

    async def _send_request(self, _: object) -> Any:
        return SimpleNamespace(topics=[])

    async def describe_consumer_groups(self, groups: list[str]) -> Any:
        if self._raised is not None:
            raise self._raised(*groups)
        return [SimpleNamespace(groups=[(self._error, group) for group in groups])]


class Teller:
    """Kafka's client, as far as it asks what a user may do to the topic `t`; the broker tells this much."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed

    async def _send_request(self, _: object) -> Any:
        return SimpleNamespace(topics=[(0, "t", False, [], self._allowed)])


@pytest.mark.parametrize(
    ("allowed", "missing"),
    [
        (1 << 3, [MissingRight("Write", "topic", "t")]),
        (1 << 3 | 1 << 4, []),
        (-(2**31), []),  # as the protocol says that it does not tell
    ],
)
def test_of_a_broker_that_does_not_tell_what_a_user_may_do_no_right_is_missing(
    allowed: int, missing: list[MissingRight]
) -> None:
    admin: Any = Teller(allowed)
    assert asyncio.run(missing_rights(admin, {"t": ["Read", "Write"]}, [])) == missing


@pytest.mark.parametrize(
    ("coordinator", "may"),
    [
        (Coordinator(), True),
        (Coordinator(error=GroupAuthorizationFailedError.errno), False),
        (Coordinator(error=GroupLoadInProgressError.errno), True),
        (Coordinator(GroupAuthorizationFailedError), False),
        (Coordinator(GroupCoordinatorNotAvailableError), True),
        (Coordinator(GroupLoadInProgressError), True),
        (Coordinator(NotCoordinatorForGroupError), True),
    ],
)
def test_a_right_on_a_group_is_missing_only_where_the_broker_says_so(coordinator: Any, may: bool) -> None:
    missing = [] if may else [MissingRight("Read", "group", "g")]
    assert asyncio.run(missing_rights(coordinator, {}, ["g"])) == missing


@pytest.mark.parametrize("away", [KafkaConnectionError, NodeNotReadyError, RequestTimedOutError])
def test_a_broker_that_does_not_answer_about_a_group_neither_grants_nor_withholds(away: type[KafkaError]) -> None:
    admin: Any = Coordinator(away)
    with pytest.raises(away):
        asyncio.run(missing_rights(admin, {}, ["g"]))
