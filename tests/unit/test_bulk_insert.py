"""Many rows in one statement: all of them, in their order, however many there are."""

import sqlite3
from contextlib import closing

import pytest

from asof_streams.bulk_insert import BulkInsert

_INSERT = BulkInsert("INSERT INTO pairs VALUES (NULL, ?, ?)")


def _inserted(count: int) -> list[tuple[int, str, bytes | None]]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE pairs (n INTEGER PRIMARY KEY, word TEXT NOT NULL, octets BLOB)")
        _INSERT.run(db, ((f"word {at}", bytes([at]) if at % 3 else None) for at in range(count)))
        return db.execute("SELECT * FROM pairs ORDER BY n").fetchall()


@pytest.mark.parametrize("count", [0, 1, 24, 25, 26, 49, 50, 51, 120])
def test_all_rows_are_inserted_in_their_order(count: int) -> None:
    assert _inserted(count) == [(at + 1, f"word {at}", bytes([at]) if at % 3 else None) for at in range(count)]


@pytest.mark.parametrize("bad", [3, 30, 59])
def test_a_row_that_does_not_fit_is_an_error_and_its_transaction_leaves_nothing(bad: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute("CREATE TABLE pairs (n INTEGER PRIMARY KEY, word TEXT NOT NULL, octets BLOB)")
        db.execute("BEGIN")
        with pytest.raises(sqlite3.IntegrityError):
            _INSERT.run(db, ((None if at == bad else f"word {at}", b"") for at in range(60)))
        db.execute("ROLLBACK")
        assert db.execute("SELECT * FROM pairs").fetchall() == []
