"""The intake: what is given at the same time goes on the log together, and nobody's place is another's."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from asof.service.intake import Intake
from asof_streams.errors import ContractError, InvalidInput, NotFound, WriterBusy
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest
from patience import wait_until


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as log:
        yield log


def said(text: str) -> Message:
    return Message(group_id="g", role_type="user", content=text)


def test_each_is_told_where_its_own_messages_are(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)

    with ThreadPoolExecutor(8) as clients:
        given = [[said(f"{n}-{m}") for m in range(n % 4 + 1)] for n in range(200)]
        positions = list(clients.map(lambda messages: intake.put(messages).result(), given))
    intake.close()

    log = [cast("Message", record.event).content for record in writer.read()]
    assert [[log[p] for p in places] for places in positions] == [[m.content for m in messages] for messages in given]
    assert len(log) == sum(map(len, given))


def test_what_was_given_before_it_closes_is_taken_and_whoever_listens_is_called(writer: SqliteLog) -> None:
    called = Event()
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), called.set, 10.0)

    position = intake.put([said("last")])
    intake.close()

    assert position.result() == range(1)
    assert called.is_set()


def test_a_log_that_cannot_be_opened_is_said_where_the_intake_is_made(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(NotFound):
        Intake(lambda: SqliteLog(tmp_path / "messages.sqlite"), lambda: None, 10.0)

    wait_until(lambda: set(threading.enumerate()) <= before)


def test_whoever_gives_messages_is_told_that_they_could_not_be_taken(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)
    with SqliteLog(writer.path, writable=True):  # another writer takes over
        deposed = intake.put([said("lost")])
        with pytest.raises(WriterBusy):
            deposed.result()
    intake.close()

    assert (writer.end(), intake.taken) == (0, 0)


def test_a_request_that_comes_twice_at_once_is_taken_once(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)
    request = KeyedRequest(b"key", b"said")

    with ThreadPoolExecutor(8) as clients:
        positions = list(clients.map(lambda _: intake.put([said("a"), said("b")], request).result(), range(50)))
    intake.close()

    assert set(positions) == {range(2)}
    assert writer.end() == 2


def test_another_request_under_a_key_is_refused_alone(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)

    first, other, plain = (
        intake.put([said("a")], KeyedRequest(b"key", b"said")),
        intake.put([said("b")], KeyedRequest(b"key", b"other")),
        intake.put([said("c")]),
    )
    intake.close()

    assert (first.result(), plain.result()) == (range(1), range(1, 2))
    with pytest.raises(InvalidInput):
        other.result()


def test_an_intake_that_was_closed_takes_nothing_more(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)
    intake.put([said("a")]).result()
    intake.close()

    with pytest.raises(ContractError, match="asof-intake is closed"):
        intake.put([said("b")])
    assert writer.end() == 1


def test_it_counts_the_messages_that_it_has_put_on_the_log(writer: SqliteLog) -> None:
    intake = Intake(lambda: SqliteLog(writer.path, writable=True, term=writer.term), lambda: None, 10.0)
    before = intake.taken
    intake.put([said("a"), said("b")])
    intake.put([said("c")])
    intake.close()

    assert (before, intake.taken) == (0, 3)
