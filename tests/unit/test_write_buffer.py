"""A read may be skipped only where certainly no row ever touched what it depends on."""

import sqlite3

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
