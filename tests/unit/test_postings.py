"""Lists of where words stand: as of the state they are asked in, and those asked for last within a bound."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from asof_projections.graph.sqlite_store.postings import Postings


class Index:
    """A full-text index, and what a store says of its state."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        db.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
        db.execute("CREATE TABLE meta (key, value)")
        db.execute("INSERT INTO meta VALUES ('position', 0), ('erased', 0)")

    def add(self, *numbers: int, word: str) -> None:
        self.db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", [(number, word) for number in numbers])
        self.db.execute("UPDATE meta SET value = max(value, ?) WHERE key = 'position'", (max(numbers) + 1,))

    def drop(self, number: int) -> None:
        self.db.execute("DELETE FROM texts WHERE rowid = ?", (number,))

    def erase(self, number: int) -> None:
        self.drop(number)
        self.db.execute("UPDATE meta SET value = value + 1 WHERE key = 'erased'")


@pytest.fixture
def index() -> Iterator[Index]:
    with closing(sqlite3.connect(":memory:")) as db:
        yield Index(db)


def test_a_list_goes_on_with_what_came_since_and_has_nothing_that_was_erased(index: Index) -> None:
    postings = Postings("texts")

    def having(*words: str) -> list[list[int]]:
        return [numbers.tolist() for numbers in postings.having(index.db, list(words))]

    index.add(0, 3, word="rome")
    assert having("rome", "oslo") == [[0, 3], []]
    index.add(4, word="rome")
    index.add(5, word="oslo")
    assert having("oslo", "rome") == [[5], [0, 3, 4]]
    index.erase(3)
    assert having("rome", "oslo") == [[0, 4], [5]]
    index.erase(0)
    assert having("rome", "oslo") == [[4], [5]]


@pytest.mark.parametrize("erased", [0, 1])
def test_the_lists_that_were_asked_for_last_are_kept_within_a_bound(index: Index, erased: int) -> None:
    postings = Postings("texts", most=4)
    index.add(1, 2, 3, word="a")
    index.add(4, 5, word="b")
    index.add(*range(10, 16), word="c")

    def having(word: str) -> list[int]:
        [numbers] = postings.having(index.db, [word])
        return numbers.tolist()

    having("b")
    for _ in range(erased):
        index.add(99, word="other")
        index.erase(99)
    assert [having("a"), having("a"), having("b")] == [[1, 2, 3], [1, 2, 3], [4, 5]]  # and "a" is dropped
    index.drop(1)
    assert having("a") == [2, 3]
    index.drop(2)
    index.drop(4)
    assert [having("b"), having("a"), having("b")] == [[4, 5], [2, 3], [4, 5]]  # as they were kept
    assert having("c") == [*range(10, 16)]  # one is kept, however long it is
    index.drop(10)
    assert having("c") == [*range(10, 16)]
    assert having("b") == [5]
