"""What users of a broker with ACLs may do: grants, as kafka-acls.sh would send them."""

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest_v1, DescribeAclsRequest
from aiokafka.protocol.api import Request

from kafka_topics import until

TABLE = Path(__file__).parents[1] / "docs" / "how-to" / "kafka-topics.md"
_OPERATIONS = {"Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Describe": 8, "DescribeConfigs": 10}
_KINDS = {"topic": 2, "group": 3}
_LITERAL, _PREFIXED, _ALLOW = 3, 4, 3
_ANY = 1  # of kinds, patterns, operations and permissions


class Grant(NamedTuple):
    """A right of a user on a topic or group, or on all whose names begin so."""

    user: str
    right: str
    kind: str
    name: str
    prefixed: bool = False


class _Grants(Request[CreateAclsRequest_v1]):  # type: ignore[misc]  # aiokafka has no types
    API_KEY = 30

    def __init__(self, grants: Iterable[Grant]) -> None:
        self._grants = grants

    def build(self, request_struct_class: type[CreateAclsRequest_v1]) -> CreateAclsRequest_v1:
        return request_struct_class([_creation(grant) for grant in self._grants])


def _creation(grant: Grant) -> tuple[object, ...]:
    pattern = _PREFIXED if grant.prefixed else _LITERAL
    principal = f"User:{grant.user}"
    return _KINDS[grant.kind], grant.name, pattern, principal, "*", _OPERATIONS[grant.right], _ALLOW


def grant(bootstrap: str, grants: Iterable[Grant]) -> None:
    """Allow it, as whoever may do everything, and wait until the broker knows: the controller answers before."""
    given = [*grants]

    async def send() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()

        async def are_told_of() -> bool:
            answer = await admin._send_request(DescribeAclsRequest(_ANY, None, _ANY, None, None, _ANY, _ANY))
            told = {
                (kind, name, pattern, principal, operation)
                for kind, name, pattern, acls in answer.resources
                for principal, _, operation, _ in acls
            }
            return {(*made[:4], made[5]) for made in map(_creation, given)} <= told

        try:
            answer = await admin._send_request(_Grants(given))
            assert not any(code for code, _ in answer.creation_responses)
            await until(are_told_of)
        finally:
            await admin.close()

    asyncio.run(send())


def documented(who: str, user: str, prefix: str = "asof") -> list[Grant]:
    """Return what the documentation says that somebody needs, without what needs more: encryption, dropping."""
    row = next(line for line in TABLE.read_text("utf-8").splitlines() if line.startswith(f"| {who} |"))
    topics, groups = (cell.strip().split("; ")[0] for cell in row.split("|")[2:4])
    rights, name = re.fullmatch(r"([\w, ]+) on (.+)", topics).groups()  # type: ignore[union-attr]
    everything = name == "all of them"
    found = [
        Grant(user, right, "topic", f"{prefix}." if everything else name.strip("`"), everything)
        for right in rights.split(", ")
    ]
    if groups != "none":
        right, name = re.fullmatch(r"(\w+) on `(.+)`", groups).groups()  # type: ignore[union-attr]
        found.append(Grant(user, right, "group", name, prefixed=True))
    return found
