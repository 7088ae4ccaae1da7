"""Times at the doors: one rule for queries (of Python, HTTP and the command line), structured facts and JSON lines.

A naive time of day is refused everywhere with the same sentence. Graphiti's routes read it as UTC, as Graphiti does.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from asof.http.routes.binding import parameters_of
from asof.http.schemas.graphiti import NewMessage
from asof.http.schemas.v1 import Statements
from asof.operations.facts import facts
from asof.runtime.json_lines import as_fact, as_message, read_lines
from asof_projections.model.queries import ask, instant
from asof_streams.errors import InvalidInput
from asof_streams.instants import SECOND
from asof_streams.messages import FactStatement, Message

FIRST = 1_704_067_200 * SECOND  # 2024-01-01
NAIVE = "a time needs its offset: add Z or +hh:mm"

TEXTS = [
    ("2024", FIRST),
    ("2024-01", FIRST),
    ("2024-01-01", FIRST),
    ("2024-01-01T00:00:00Z", FIRST),
    ("2024-01-01T01:00:00+01:00", FIRST),
    ("2024-01-01t00:00:00.5z", FIRST + SECOND // 2),
]
WRONG = [
    ("2024-01-01T00:00:00", NAIVE),
    ("2024-01-01 00:00", NAIVE),
    ("soon", "not a time"),
    ("", "not a time"),
    (" 2024", "not a time"),
    ("2024-02-30", "no such day"),
    ("2024-01-01T25:00:00Z", "no such day or hour"),
]


def of_a_query(text: str) -> Any:
    return ask(facts.query, {"valid_at": text}).valid_at


def of_a_parameter(text: str) -> Any:
    return parameters_of(facts.query).model_validate({"valid_at": text}).valid_at  # type: ignore[attr-defined]


def of_a_structured_fact_over_http(text: str) -> Any:
    statement = {"subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_at": text}
    [stated] = Statements.model_validate({"statements": [statement]}).messages()
    return stated.valid_at


def of_a_line(read: Any, **fields: Any) -> Any:
    [found] = read_lines([json.dumps({"group_id": "g", **fields})], read)
    if found is None or not hasattr(found, "event"):
        raise InvalidInput(getattr(found, "reason", ""))
    return found


def of_a_message_line(text: str) -> Any:
    message = of_a_line(as_message, content="Hello.", role_type="user", timestamp=text).event
    assert isinstance(message, Message)
    return message.timestamp


def of_a_fact_line(text: str) -> Any:
    message = of_a_line(
        as_fact(recorded=False, ontology=None), subject="Ana", relation="lives_in", object="Rome", valid_at=text
    ).event
    assert isinstance(message, FactStatement)
    return message.valid_at


DOORS: list[Callable[[str], Any]] = [
    instant,
    of_a_query,
    of_a_parameter,
    of_a_structured_fact_over_http,
    of_a_message_line,
    of_a_fact_line,
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("text", "meant"), TEXTS)
def test_every_door_reads_a_date_or_a_time_with_its_offset_alike(
    door: Callable[[str], Any], text: str, meant: int
) -> None:
    assert door(text) == meant


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("text", "reason"), WRONG)
def test_every_door_refuses_a_naive_or_impossible_time_with_the_same_sentence(
    door: Callable[[str], Any], text: str, reason: str
) -> None:
    with pytest.raises(Exception, match=re.escape(reason)):
        door(text)


@pytest.mark.parametrize("time", ["2024-01-01", datetime(2024, 1, 1), date(2024, 1, 1), FIRST // SECOND])
def test_graphiti_reads_a_naive_time_as_utc(time: Any) -> None:
    said = NewMessage.model_validate({"content": "Hello.", "role_type": "user", "timestamp": time})

    assert said.timestamp == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("time", [datetime(2024, 1, 1, tzinfo=UTC), date(2024, 1, 1), FIRST])
def test_python_takes_a_date_an_aware_datetime_or_microseconds_too(time: Any) -> None:
    assert instant(time) == FIRST


def test_python_refuses_a_naive_datetime_with_that_sentence() -> None:
    with pytest.raises(InvalidInput, match="a time needs its offset"):
        instant(datetime(2024, 1, 1))


@pytest.mark.parametrize("time", [1.5, True, 10**30, -(10**30), b"2024", None])
def test_python_refuses_what_is_no_time(time: Any) -> None:
    with pytest.raises(InvalidInput):
        instant(time)
