"""A read may be skipped only where certainly no row ever touched what it depends on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from asof_projections.graph.sqlite_store.write_buffer import _LIMIT, WriteBuffer

INSERT = "INSERT INTO kept VALUES (?)"
MANY = 300_000


def filled(count: int, *, flush_each: int, empty: bool = True) -> WriteBuffer:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE kept (number INTEGER)")
    buffer = WriteBuffer(db, empty=empty)
    for number in range(count):
        buffer.add(INSERT, (number,), ("fact", number))
        if number % flush_each == flush_each - 1:
            buffer.flush()
    return buffer


@pytest.mark.parametrize("count", [10, MANY])  # of the first the hashes are kept, of the second a filter
@pytest.mark.parametrize("flush_each", [7, 1_000])
def test_what_a_row_touched_is_never_untouched(count: int, flush_each: int) -> None:
    buffer = filled(count, flush_each=flush_each)
    assert not any(buffer.untouched(("fact", number)) for number in range(count))


@pytest.mark.parametrize("count", [10, MANY])
def test_what_no_row_touched_is_mostly_untouched(count: int) -> None:
    buffer = filled(count, flush_each=1_000)
    assert sum(buffer.untouched(("entity", number)) for number in range(1_000)) > 990


def test_nothing_is_untouched_in_a_store_that_had_rows_before() -> None:
    buffer = filled(10, flush_each=7, empty=False)
    assert not any(buffer.untouched(("entity", number)) for number in range(1_000))


def test_a_read_sees_all_rows_of_an_event_that_filled_the_buffer() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript("CREATE TABLE kept (number INTEGER); CREATE TABLE beside (number INTEGER)")
    buffer = WriteBuffer(db)
    for number in range(_LIMIT):
        buffer.add(INSERT, (number,), ("fact", number))
    assert buffer.is_full
    buffer.add("INSERT INTO beside VALUES (7)", ())  # of the last event, whose row before named what both touch

    buffer.flush_for(("fact", _LIMIT - 1))

    assert db.execute("SELECT number FROM beside").fetchall() == [(7,)]


def numbers(db: sqlite3.Connection) -> list[int]:
    return [number for (number,) in db.execute("SELECT number FROM kept ORDER BY number")]


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.execute("CREATE TABLE kept (number INTEGER)")
        yield opened


def test_changes_and_rows_are_written_once_and_the_changes_first(db: sqlite3.Connection) -> None:
    buffer = WriteBuffer(db)
    buffer.add(INSERT, (1,))
    buffer.flush()
    buffer.change("UPDATE kept SET number = number + ?", (1,))
    buffer.add_all(INSERT, [(3,), (4,)])
    for _ in range(2):
        buffer.flush()

    assert numbers(db) == [2, 3, 4]


def test_a_buffer_is_full_once_it_has_so_many_rows_of_one_kind_and_until_they_are_written(
    db: sqlite3.Connection,
) -> None:
    for count, is_full in ((_LIMIT - 1, False), (_LIMIT, True)):
        one_by_one, together = WriteBuffer(db), WriteBuffer(db)
        for number in range(count):
            one_by_one.add(INSERT, (number,))
        together.add_all(INSERT, [(number,) for number in range(count)])
        assert [one_by_one.is_full, together.is_full] == [is_full] * 2
        together.flush()
        assert not together.is_full


def test_what_is_forgotten_is_never_written_and_touched_nothing(db: sqlite3.Connection) -> None:
    buffer = WriteBuffer(db, empty=True)
    buffer.add(INSERT, (1,))
    buffer.flush()
    buffer.change("UPDATE kept SET number = ?", (2,), "changed")
    buffer.add_all(INSERT, [(number,) for number in range(_LIMIT)])
    buffer.add(INSERT, (3,), "added")
    assert buffer.is_full
    buffer.forget()
    buffer.flush()

    assert (numbers(db), buffer.is_full) == ([1], False)
    assert buffer.untouched("changed")
    assert buffer.untouched("added")
