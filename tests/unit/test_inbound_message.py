"""A message that was accepted can be sent on as the line that it may have come as: whoever reads it has the same."""

import json
from typing import Any

import pytest

from asof.runtime.inbound_message import InboundMessage
from asof.runtime.json_lines import as_message, read_lines
from asof.service.topic_log import outbound
from asof_streams.kafka.envelope import Raw, message
from asof_streams.kafka.inbox import parse_message
from asof_streams.messages import (
    AnyMessage,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RecordRefused,
    WithdrawalRequest,
    accept,
)

SAID = {"group_id": "g", "role_type": "user", "content": "Grüße.", "timestamp": "2024-05-01T09:30:00.25+02:00"}
STATED = {"group_id": "g", "subject": "Ana", "relation": "likes", "object": "tea", "valid_at": "2024-05-01T00:00:00Z"}
TYPES = {
    "entity_types": {"Vendor": "A company that we buy from."},
    "excluded_entity_types": ["Event"],
    "relation_types": {"supplied_by": "Who delivers the source."},
    "relation_type_map": [{"source": "Entity", "target": "Vendor", "relations": ["supplied_by"]}],
    "previous_episode_ids": ["e1"],
    "suppress_content": True,
}


def received(sent: AnyMessage) -> AnyMessage:
    inbound = outbound(sent)
    key, value, headers = message(inbound.event, inbound.line, "1")
    return parse_message(Raw(0, 0, key, value, headers)).message


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Message, SAID),
        (Message, {**SAID, **TYPES}),
        (Message, {"group_id": "g", "content": "A text.", "source": "text"}),
        (FactStatement, STATED),
        (FactStatement, {"group_id": "g", "op": "retract", "ref": "r1"}),
        (EntityStatement, {"group_id": "g", "entity_id": "e1", "name": "Ana", "summary": "A cook."}),
        (IdentityStatement, {"group_id": "g", "op": "alias", "entity": "Ana", "name": "Annie"}),
        (WithdrawalRequest, {"group_id": "g", "episode_id": "e1"}),
    ],
)
def test_what_was_accepted_is_received_as_it_was(kind: Any, fields: dict[str, Any]) -> None:
    accepted = accept(kind, fields)

    assert received(accepted) == accepted


def test_an_erasure_is_received_as_one() -> None:
    assert received(ErasureRequest(group_id="g")) == ErasureRequest(group_id="g")


def test_what_was_refused_for_its_group_is_refused_again_with_the_same_reason() -> None:
    refused = RecordRefused(
        group_id="", reason="group_id: a group id has 1 to 200 characters, and no control character"
    )

    assert received(refused) == refused
    assert json.loads(outbound(refused).line) == {"group_id": ""}


def test_a_message_that_came_as_a_line_is_sent_on_byte_by_byte() -> None:
    line = b'{"content":"Hi.",  "role_type":"user","group_id":"g"}'
    [message] = read_lines([line + b"\r\n"], as_message)

    assert isinstance(message, InboundMessage)
    assert message.line == line
