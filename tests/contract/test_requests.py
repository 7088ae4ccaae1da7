"""Requests under a key: what they put on the log is put there once, whatever happens between two tries."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from asof_streams.errors import InvalidInput, WriterBusy
from asof_streams.messages import ErasureRequest, Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import LIFETIME, KeyedRequest, Submission

ASKED = KeyedRequest(b"key", b"said")


def said(content: str, group: str = "ana") -> Message:
    return Message(group_id=group, content=content, role_type="user")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "messages.sqlite"


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(path, writable=True) as opened:
        yield opened


def give(log: SqliteLog, *contents: str, request: KeyedRequest | None = ASKED, clock: int = 0) -> range | InvalidInput:
    [answer] = log.accept_each([Submission([said(content) for content in contents], request)], clock=clock)
    return answer


def test_a_request_made_again_adds_nothing_and_is_where_it_was(log: SqliteLog) -> None:
    give(log, "before", request=None)

    assert [give(log, "a", "b") for _ in range(3)] == [range(1, 3)] * 3
    assert log.end() == log.verify() == 3


def test_without_a_key_the_same_is_taken_as_often_as_it_is_sent(log: SqliteLog) -> None:
    assert [give(log, "a", request=None) for _ in range(2)] == [range(1), range(1, 2)]


def test_what_is_given_together_is_taken_in_order_each_request_once(log: SqliteLog) -> None:
    other = KeyedRequest(b"other", b"said")

    answers = log.accept_each(
        [
            Submission([said("a")], ASKED),
            Submission([said("b")]),
            Submission([said("a")], ASKED),
            Submission([said("c"), said("d")], other),
            Submission([said("e")], KeyedRequest(b"other", b"something else")),
        ],
        clock=0,
    )

    assert answers[:4] == [range(1), range(1, 2), range(1), range(2, 4)]
    assert isinstance(answers[4], InvalidInput)
    assert [cast("Message", record.event).content for record in log.read()] == ["a", "b", "c", "d"]


def test_another_request_under_the_key_is_refused_and_adds_nothing(log: SqliteLog) -> None:
    give(log, "a")

    assert isinstance(give(log, "b", request=KeyedRequest(b"key", b"another")), InvalidInput)
    with pytest.raises(InvalidInput):
        log.positions_of(KeyedRequest(b"key", b"another"), clock=0)
    assert log.end() == 1


def test_it_is_known_to_readers_and_after_a_new_start(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        assert log.positions_of(ASKED, clock=0) is None
        give(log, "a")

    with SqliteLog(path) as reader, SqliteLog(path, writable=True) as again:
        assert reader.positions_of(ASKED, clock=0) == range(1)
        assert give(again, "a") == range(1)
        assert again.end() == 1


def test_a_key_can_be_used_again_after_a_day_and_old_ones_are_forgotten(log: SqliteLog, path: Path) -> None:
    for number in range(250):
        give(log, "old", request=KeyedRequest(b"%d" % number, b"said"))
    give(log, "a")

    assert give(log, "a", clock=LIFETIME - 1) == range(250, 251)
    assert give(log, "a", clock=LIFETIME) == range(251, 252)
    give(log, "b", request=KeyedRequest(b"b", b"said"), clock=LIFETIME)
    give(log, "c", request=KeyedRequest(b"c", b"said"), clock=LIFETIME)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM requests").fetchone() == (3,)


def test_what_could_not_be_taken_is_not_known_as_made(log: SqliteLog, path: Path) -> None:
    with SqliteLog(path, writable=True) as other:
        with pytest.raises(WriterBusy):
            give(log, "a")

        assert other.positions_of(ASKED, clock=0) is None


def test_what_was_sent_is_forgotten_with_its_group_but_for_the_wish_itself(log: SqliteLog) -> None:
    kept, wish = KeyedRequest(b"kept", b"said"), KeyedRequest(b"wish", b"said")
    log.accept_each(
        [
            Submission([said("a")], ASKED),
            Submission([said("b", "bo")], kept),
            Submission([ErasureRequest(group_id="ana")], wish),
        ],
        clock=0,
    )

    log.erase("ana", before=2)

    assert [log.positions_of(request, clock=0) for request in (ASKED, kept, wish)] == [None, range(1, 2), range(2, 3)]


def test_a_request_is_forgotten_with_a_message_of_it_that_is_redacted_and_no_other_is(log: SqliteLog) -> None:
    before, after = KeyedRequest(b"before", b"said"), KeyedRequest(b"after", b"said")
    give(log, "a", "b", request=before)
    give(log, "c", "d")
    give(log, "e", request=after)

    assert log.redact("ana", [3]) == 1

    assert [log.positions_of(request, clock=0) for request in (before, ASKED, after)] == [range(2), None, range(4, 5)]
    assert log.redact("ana", [0]) == 1
    assert log.positions_of(before, clock=0) is None
