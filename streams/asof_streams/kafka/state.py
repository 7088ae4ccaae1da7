"""How far the topics were read into the logs beside it: one small SQLite file, `kafka.db`.

Written after the log that it speaks of, so it can only be behind: what is read twice then is recognised by its
position, or by its producer's id. Lost, it is made again from the topics.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, Self

from asof_streams.errors import DamagedFile
from asof_streams.kafka.envelope import Raw
from asof_streams.sqlite import Guard, connect, create, transaction

FILE: Final = "kafka.db"
_SCHEMA: Final = (
    "CREATE TABLE topics (topic TEXT PRIMARY KEY, offset INTEGER NOT NULL, position INTEGER NOT NULL, "
    "term INTEGER NOT NULL, writer TEXT NOT NULL, marked INTEGER NOT NULL, mark BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE seen (producer BLOB PRIMARY KEY) WITHOUT ROWID"  # who gave a message what id, as a hash
)
_SELECT: Final = "SELECT offset, position, term, writer, marked, mark FROM topics WHERE topic = ?"
_REMEDY: Final = "delete the directory: the worker makes it again from the topics"


class Place(NamedTuple):
    """How far a topic was read, and a mark by which to know it again."""

    offset: int = 0
    position: int = 0
    term: int = 0
    writer: str = ""
    marked: int = -1  # the offset of the record that was marked; -1: none
    mark: bytes = b""


class State:
    """The file, used by the thread that opened it."""

    def __init__(self, path: Path) -> None:
        self._guard = Guard(path, _REMEDY, DamagedFile)
        with self._guard:
            if not path.exists():
                create(path, _SCHEMA)
            self._db = connect(path, writable=True, durable=False)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def place(self, topic: str) -> Place:
        """Return how far a topic was read."""
        with self._guard:
            row = self._db.execute(_SELECT, (topic,)).fetchone()
        return Place() if row is None else Place(*row)

    def put(self, topic: str, place: Place, seen: Iterable[bytes] = ()) -> None:
        """Keep how far a topic was read, and which producers' ids came with it."""
        with self._guard, transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?)", ((key,) for key in seen))
            self._db.execute("INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?, ?)", (topic, *place))

    def forget(self) -> None:
        """Forget every place and producer: what they speak of is gone."""
        with self._guard, transaction(self._db):
            self._db.execute("DELETE FROM seen")
            self._db.execute("DELETE FROM topics")

    def seen(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return which of some producers' ids came before."""
        with self._guard:
            return {key for key in keys if self._has(key)}

    def _has(self, key: bytes) -> bool:
        found: sqlite3.Cursor = self._db.execute("SELECT 1 FROM seen WHERE producer = ?", (key,))
        return found.fetchone() is not None


def offsets(path: Path) -> dict[str, int]:
    """Return the offset to go on from of each `topic[partition]` that was read; none where there is no file yet."""
    if not path.exists():
        return {}
    with Guard(path, _REMEDY, DamagedFile), closing(connect(path, writable=False, durable=False)) as db:
        return dict(db.execute("SELECT topic, offset FROM topics"))


def mark(raw: Raw) -> bytes:
    """Return what tells a record from the one that another topic has at its offset."""
    whole = hashlib.sha256(b"%d/%d/" % (raw.offset, raw.timestamp))
    for part in (raw.key, raw.value):
        whole.update(hashlib.sha256(part or b"").digest())
    return whole.digest()
