"""The traces of messages: beside the log, for a day, and no part of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof_streams.instants import DAY
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest, Submission

FIRST, SECOND = (f"00-{number:032x}-{number:016x}-01" for number in (1, 2))


def said(content: str, group: str = "ana") -> Message:
    return Message(group_id=group, content=content, role_type="user")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as opened:
        yield opened


def traces(log: SqliteLog) -> list[str | None]:
    return [log.trace_of(position) for position in range(log.end())]


def test_a_message_has_the_trace_of_whoever_gave_it_and_others_have_none(log: SqliteLog) -> None:
    log.accept_each([Submission([said("a")])], clock=0)
    assert traces(log) == [None]

    log.accept_each(
        [
            Submission([said("b"), said("c")], trace=FIRST),
            Submission([said("d")]),
            Submission([said("e")], trace=SECOND),
        ],
        clock=0,
    )

    assert traces(log) == [None, FIRST, FIRST, None, SECOND]
    assert log.trace_of(5) is None


def test_a_request_made_again_leaves_the_trace_of_the_first(log: SqliteLog) -> None:
    for trace in (FIRST, SECOND):
        log.accept_each([Submission([said("a")], KeyedRequest(b"key", b"said"), trace)], clock=0)

    assert traces(log) == [FIRST]


def test_traces_change_no_hash_and_the_log_is_whole_and_opens_again(tmp_path: Path) -> None:
    heads = []
    for name, trace in (("plain", None), ("traced", FIRST)):
        path = tmp_path / name / "messages.sqlite"
        path.parent.mkdir()
        with SqliteLog(path, writable=True) as log:
            log.accept_each([Submission([said("a")], trace=trace)], clock=0)
        with SqliteLog(path) as log:
            assert log.verify() == log.end() == 1
            heads.append([record._replace(term=0) for record in log.read()])

    assert heads[0] == heads[1]


def test_traces_are_kept_for_a_day(log: SqliteLog) -> None:
    log.accept_each([Submission([said("a")], trace=FIRST)], clock=0)
    log.accept_each([Submission([said("b")], trace=SECOND)], clock=DAY - 1)
    assert traces(log) == [FIRST, SECOND]

    log.accept_each([Submission([said("c")], trace=SECOND)], clock=DAY)

    assert traces(log) == [None, SECOND, SECOND]


def test_an_erasure_leaves_no_trace_before_it(log: SqliteLog) -> None:
    log.accept_each([Submission([said(text)], trace=FIRST) for text in "ab"], clock=0)
    log.accept_each([Submission([said("c", "bo")], trace=SECOND)], clock=0)

    log.erase("ana", before=2)
    assert traces(log) == [None, None, SECOND]

    log.redact("bo", [2])
    assert traces(log) == [None, None, None]
