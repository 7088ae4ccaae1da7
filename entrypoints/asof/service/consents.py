"""Who opted in on a chat platform, and what its adapter has to find again after a restart.

It holds ids alone. A file without a row for somebody means that they did not opt in: so does a backup, which leaves
this file out.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Final, Self

from asof_streams.sqlite import connect, create, owe_vacuum, transaction, vacuum

_SCHEMA: Final = """
CREATE TABLE consents (user TEXT NOT NULL, scope TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (user, scope))
    WITHOUT ROWID;
CREATE TABLE spoken (user TEXT NOT NULL, group_id TEXT NOT NULL, PRIMARY KEY (user, group_id)) WITHOUT ROWID;
CREATE TABLE channels (group_id TEXT PRIMARY KEY, channel TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parts (part TEXT PRIMARY KEY, first TEXT NOT NULL) WITHOUT ROWID
"""


class Consents:
    """The store of one platform, for the threads of one process. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            create(path, _SCHEMA)
        self._lock = Lock()
        self._db: sqlite3.Connection = connect(path, writable=True, durable=True)

    def give(self, user: str, scope: str, at: int) -> bool:
        """Record that a user opted in at a moment, in microseconds; return whether they had not before."""
        with self._lock, transaction(self._db):
            given = "INSERT OR IGNORE INTO consents (user, scope, since) VALUES (?, ?, ?)"
            return self._db.execute(given, (user, scope, at)).rowcount > 0

    def since(self, user: str, scope: str) -> int | None:
        """Return when a user opted in to a scope, in microseconds; None: they did not."""
        row = self._row("SELECT since FROM consents WHERE user = ? AND scope = ?", (user, scope))
        return None if row is None else row[0]

    def withdraw(self, user: str) -> None:
        """Take back what a user opted in to, everywhere."""
        with self._lock:
            self._db.execute("DELETE FROM consents WHERE user = ?", (user,))

    def forget(self, user: str) -> None:
        """Forget a user, whose words are erased. No byte of their id stays in the file."""
        with self._lock:
            with transaction(self._db):
                for table in ("consents", "spoken"):
                    self._db.execute(f"DELETE FROM {table} WHERE user = ?", (user,))
                self._db.execute("DELETE FROM channels WHERE group_id NOT IN (SELECT group_id FROM spoken)")
                owe_vacuum(self._db)
            vacuum(self._db)

    def spoke(self, user: str, group_id: str, channel: str) -> None:
        """Keep that a user spoke in a group, and where: that is where the bot speaks first."""
        with self._lock, transaction(self._db):
            self._db.execute("INSERT OR IGNORE INTO spoken (user, group_id) VALUES (?, ?)", (user, group_id))
            kept = "INSERT INTO channels (group_id, channel) VALUES (?, ?) ON CONFLICT DO UPDATE SET channel = ?"
            self._db.execute(f"{kept} WHERE channel <> ?", (group_id, channel, channel, channel))

    def groups(self, user: str) -> list[str]:
        """Return the groups in which a user spoke, in the order of their ids."""
        with self._lock:
            spoken = self._db.execute("SELECT group_id FROM spoken WHERE user = ? ORDER BY group_id", (user,))
            return [group for (group,) in spoken]

    def channel(self, group_id: str) -> str | None:
        """Return where a group was last spoken in."""
        row = self._row("SELECT channel FROM channels WHERE group_id = ?", (group_id,))
        return None if row is None else row[0]

    def split(self, first: str, others: Sequence[str]) -> None:
        """Keep that messages are the later parts of a reply whose first part is `first`."""
        with self._lock, transaction(self._db):
            kept = "INSERT OR IGNORE INTO parts (part, first) VALUES (?, ?)"
            self._db.executemany(kept, [(part, first) for part in others])

    def first_part(self, message: str) -> str:
        """Return the id of the reply that a message is a part of: its own, unless it is a later part."""
        row = self._row("SELECT first FROM parts WHERE part = ?", (message,))
        return message if row is None else row[0]

    def _row(self, query: str, values: Sequence[str]) -> sqlite3.Row | None:
        with self._lock, closing(self._db.execute(query, values)) as rows:
            row: sqlite3.Row | None = rows.fetchone()
        return row

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
