"""What is taken from a broker's answer about rights."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from asof_streams.kafka.rights import MissingRight, missing_rights


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
