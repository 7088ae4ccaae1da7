"""The offsets up to which topics were read into the logs of a directory: one small SQLite file, `kafka.db`.

It is written after the log, so a crash can only leave it behind. The records that are then read a second time are
recognised by their position, or by their producer's id. If the file is lost, it is made again from the topics.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, Self

from asof_streams.errors import DamagedFile
from asof_streams.files import locked_folder
from asof_streams.kafka.envelope import Raw
from asof_streams.sqlite import SqliteGuard, connect, create, transaction

FILE: Final = "kafka.db"
_SCHEMA: Final = (
    "CREATE TABLE topics (topic TEXT PRIMARY KEY, offset INTEGER NOT NULL, position INTEGER NOT NULL, "
    "term INTEGER NOT NULL, writer TEXT NOT NULL, marked INTEGER NOT NULL, mark BLOB NOT NULL, "
    "named INTEGER NOT NULL DEFAULT 0, cause INTEGER NOT NULL DEFAULT -1, caused_at INTEGER NOT NULL DEFAULT -1, "
    "reached INTEGER NOT NULL DEFAULT -1, reached_at INTEGER NOT NULL DEFAULT -1"
    ") WITHOUT ROWID;"
    "CREATE TABLE seen (producer BLOB PRIMARY KEY) WITHOUT ROWID"  # who gave a message what id, as a hash
)
# Columns that the first version did not have.
_ADDED: Final = {"named": 0, "cause": -1, "caused_at": -1, "reached": -1, "reached_at": -1}
_NUMBERS: Final = (  # the senders' numbers of the keys that messages are encrypted with on their topic
    "CREATE TABLE IF NOT EXISTS "
    "numbers (offset INTEGER PRIMARY KEY, grp TEXT NOT NULL, number INTEGER NOT NULL, producer BLOB);"
    "CREATE INDEX IF NOT EXISTS numbers_of_group ON numbers (grp, offset)"
)
_NUMBERS_AT: Final = (  # of a message, and of the records by which its producer sent it again
    "SELECT number FROM numbers WHERE grp = ?1 AND (offset = ?2 OR producer IN "
    "(SELECT producer FROM numbers WHERE offset = ?2))"
)
_SELECT: Final = (
    "SELECT offset, position, term, writer, marked, mark, named, cause, caused_at, reached, reached_at"
    " FROM topics WHERE topic = ?"
)
_REMEDY: Final = "delete the directory: the worker makes it again from the topics"


class TopicProgress(NamedTuple):
    """The progress in one partition of a topic, and the mark of a record by which to recognise the topic."""

    offset: int = 0  # of the next record to read
    position: int = 0  # that the next event gets in the log
    term: int = 0  # of the last writer that claimed the topic
    writer: str = ""  # that writer's name
    marked: int = -1  # the offset of the marked record; -1: none
    mark: bytes = b""
    named: bool = False  # whether that writer puts its name on its records
    cause: int = -1  # of the last event that told the offset of its message: the message's position; -1: none did
    caused_at: int = -1  # that offset
    reached: int = -1  # the last position of the input to go on from whose offset was told; -1: none was
    reached_at: int = -1  # that offset


class State:
    """The file `kafka.db`, used by the thread that opened it."""

    def __init__(self, path: Path) -> None:
        self._guard = SqliteGuard(path, _REMEDY, DamagedFile)
        with self._guard:
            with locked_folder(path.parent):  # several processes may write to one directory, each about other topics
                if not path.exists():
                    create(path, _SCHEMA)
            self._db = connect(path, writable=True, durable=False)
            there = {column[1] for column in self._db.execute("PRAGMA table_info(topics)")}
            for name, value in _ADDED.items():
                if name not in there:
                    self._db.execute(f"ALTER TABLE topics ADD COLUMN {name} INTEGER NOT NULL DEFAULT {value}")
            self._db.executescript(_NUMBERS)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def progress(self, topic: str) -> TopicProgress:
        """Return the progress in `topic[partition]`; the beginning, where it was never read."""
        with self._guard:
            row = self._db.execute(_SELECT, (topic,)).fetchone()
        return TopicProgress() if row is None else TopicProgress(*row)

    def put(self, topic: str, place: TopicProgress, seen: Iterable[bytes] = ()) -> None:
        """Keep the progress in `topic[partition]`, and the producers' ids of the records that were read."""
        with self._guard, transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?)", ((key,) for key in seen))
            self._db.execute(
                "INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (topic, *place)
            )

    def put_numbers(self, numbers: Iterable[tuple[int, str, int, bytes | None]]) -> None:
        """Keep the numbers of the keys of messages before the messages are kept.

        They are given as (offset, group, number, hash of the producer and its id of the record).
        """
        with self._guard, transaction(self._db):
            self._db.executemany("INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)", numbers)

    def numbers(self, group: str, before: int) -> list[int]:
        """Return the numbers of the keys of a group's messages before an offset, in the order of offsets."""
        with self._guard:
            asked = "SELECT number FROM numbers WHERE grp = ? AND offset < ? ORDER BY offset"
            return [number for (number,) in self._db.execute(asked, (group, before))]

    def numbers_at(self, group: str, offsets: Iterable[int]) -> list[int]:
        """Return the numbers of the keys of a group's messages at some offsets, and of records that repeat these."""
        with self._guard:
            found = (self._db.execute(_NUMBERS_AT, (group, offset)) for offset in offsets)
            return [number for rows in found for (number,) in rows]

    def remove_numbers(self, group: str, before: int) -> None:
        """Forget the numbers of keys that were destroyed."""
        with self._guard, transaction(self._db):
            self._db.execute("DELETE FROM numbers WHERE grp = ? AND offset < ?", (group, before))

    def clear(self) -> None:
        """Delete all progress, producers' ids and numbers of keys, because the logs that they describe are gone."""
        with self._guard, transaction(self._db):
            self._db.execute("DELETE FROM seen")
            self._db.execute("DELETE FROM numbers")
            self._db.execute("DELETE FROM topics")

    def seen(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of the producers' ids that came before."""
        with self._guard:
            return {key for key in keys if self._has(key)}

    def _has(self, key: bytes) -> bool:
        rows: sqlite3.Cursor = self._db.execute("SELECT 1 FROM seen WHERE producer = ?", (key,))
        return rows.fetchone() is not None


def offsets(path: Path) -> dict[str, int]:
    """Return the next offset of each `topic[partition]` that was read; nothing if there is no file yet."""
    if not path.exists():
        return {}
    with SqliteGuard(path, _REMEDY, DamagedFile), closing(connect(path, writable=False, durable=False)) as db:
        return dict(db.execute("SELECT topic, offset FROM topics"))


def mark(raw: Raw) -> bytes:
    """Return a digest that tells a record from the one at the same offset of another topic."""
    digest = hashlib.sha256(b"%d/%d/" % (raw.offset, raw.timestamp))
    for part in (raw.key, raw.value):
        digest.update(hashlib.sha256(part or b"").digest())
    return digest.digest()
