"""Tables of SQLite as one writes them by hand: a row a fact with valid time, two indexes, and one of words."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from bench import synthetic
from bench.peers.subjects import Fact, Message, text_of

_TABLES = """
CREATE TABLE facts (id INTEGER PRIMARY KEY, subject TEXT, relation TEXT, object TEXT, valid_from TEXT, valid_to TEXT,
    created_at TEXT);
CREATE INDEX slots ON facts (subject, relation);
CREATE INDEX objects ON facts (object);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61');
CREATE TABLE messages (id INTEGER PRIMARY KEY, role TEXT, content TEXT, created_at TEXT);
CREATE TABLE log (position INTEGER PRIMARY KEY, recorded_at TEXT, payload BLOB);
"""
_CLOSE = "UPDATE facts SET valid_to = ? WHERE subject = ? AND relation = ? AND valid_to IS NULL AND valid_from < ?"
_INSERT = "INSERT INTO facts VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_HOLDS = "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)"
_HELD = "valid_from <= ?2 AND (valid_to IS NULL OR valid_to > ?2)"
_ENTITY = f"""SELECT subject, relation, object FROM facts WHERE subject = ?1 AND {_HELD}
    UNION ALL SELECT subject, relation, object FROM facts WHERE object = ?1 AND {_HELD}"""
_HOPS = f"""WITH near AS (
        SELECT ?1 AS name UNION SELECT object FROM facts WHERE subject = ?1 AND {_HELD}
        UNION SELECT subject FROM facts WHERE object = ?1 AND {_HELD})
    SELECT f.subject, f.relation, f.object FROM near JOIN facts f ON f.subject = near.name WHERE {_HELD}
    UNION SELECT f.subject, f.relation, f.object FROM near JOIN facts f ON f.object = near.name WHERE {_HELD}"""
_FOUND = "SELECT f.* FROM words w JOIN facts f ON f.id = w.rowid WHERE words MATCH ? ORDER BY rank LIMIT 10"


class NewPeer:
    version = sqlite3.sqlite_version

    def __init__(self, folder: Path, model: str) -> None:  # noqa: ARG002 - it reads nothing with a model
        self._db = sqlite3.connect(folder / "facts.sqlite", isolation_level=None)
        self._db.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_TABLES}")

    def load(self, facts: Sequence[Fact]) -> None:
        with closing(self._db.execute("BEGIN")):
            for fact in facts:
                self._insert(fact)
            self._db.execute("COMMIT")

    def state(self, fact: Fact) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._insert(fact)
        self._db.execute("COMMIT")

    def say(self, message: Message) -> None:
        row = message["role"], message["content"], message["timestamp"]
        self._db.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?)", row)

    def slot(self, fact: Fact) -> object:
        sql, at = f"SELECT object FROM facts WHERE subject = ? AND relation = ? AND {_HOLDS}", fact["valid_at"]
        return self._db.execute(sql, (fact["subject"], fact["relation"], at, at)).fetchall()

    def about(self, fact: Fact) -> object:
        sql, at = f"SELECT relation, object FROM facts WHERE subject = ? AND {_HOLDS}", fact["valid_at"]
        return self._db.execute(sql, (fact["subject"], at, at)).fetchall()

    def entity(self, fact: Fact) -> object:
        return self._db.execute(_ENTITY, (fact["subject"], fact["valid_at"])).fetchall()

    def hops(self, fact: Fact) -> object:
        return self._db.execute(_HOPS, (fact["subject"], fact["valid_at"])).fetchall()

    def search(self, question: str) -> object:
        return self._db.execute(_FOUND, (" OR ".join(question.strip("?").split()),)).fetchall()

    def append(self, facts: Sequence[Fact]) -> None:
        now = datetime.now(UTC).isoformat()
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO log VALUES (NULL, ?, ?)", ((now, json.dumps(fact)) for fact in facts))
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.execute("DROP TABLE log")  # of what takes room, facts are compared
        self._db.execute("VACUUM")
        self._db.close()

    def _insert(self, fact: Fact) -> None:
        start = fact["valid_at"]
        if fact["relation"] in synthetic.SINGLE:
            self._db.execute(_CLOSE, (start, fact["subject"], fact["relation"], start))
        now = datetime.now(UTC).isoformat()
        row = fact["subject"], fact["relation"], fact["object"], start, fact.get("invalid_at"), now
        added = self._db.execute(_INSERT, row)
        self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (added.lastrowid, text_of(fact)))
