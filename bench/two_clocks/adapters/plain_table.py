"""A table as one writes it by hand: a row a fact, with when it holds and when it was written. It is overwritten."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from bench.two_clocks.told import SAME, Ended, Question, Retracted, Stated, kind_of

_TABLE = """CREATE TABLE facts (ref TEXT PRIMARY KEY, subject TEXT, relation TEXT, object TEXT, valid_from TEXT,
    valid_to TEXT, created_at TEXT)"""
_CLOSE = """UPDATE facts SET valid_to = :start WHERE subject = :subject AND relation = :relation AND object <> :object
    AND valid_from < :start AND valid_to IS NULL"""
_HELD = """SELECT ref, object, created_at FROM facts WHERE subject = ? AND relation = ? AND valid_from <= ?
    AND (valid_to IS NULL OR valid_to > ?) ORDER BY valid_from, created_at"""


class PlainTable:
    """Answers from one table of SQLite with valid time alone."""

    def __init__(self, _folder: Path) -> None:
        self._db = sqlite3.connect(":memory:")
        self._single: Sequence[str] = ()

    def reset(self, single: Sequence[str]) -> None:
        """Begin with an empty table."""
        self._single = single
        self._db.execute(_TABLE)

    def state(self, said: Stated) -> None:
        """Insert a row, and close that which it follows; of two names keep the one that they share."""
        if said.relation == SAME:
            self._db.execute("UPDATE facts SET subject = ? WHERE subject = ?", (said.object, said.subject))
            return
        row = {name: str(value) if isinstance(value, datetime) else value for name, value in said._asdict().items()}
        if said.relation in self._single:
            self._db.execute(_CLOSE, row)
            [later] = self._db.execute(
                """SELECT min(valid_from) FROM facts WHERE subject = :subject AND relation = :relation
                AND object <> :object AND valid_from > :start""",
                row,
            ).fetchone()
            row["end"] = row["end"] or later
        self._db.execute("INSERT INTO facts VALUES (:ref, :subject, :relation, :object, :start, :end, :recorded)", row)

    def end(self, said: Ended) -> None:
        """Write the end into the row."""
        self._db.execute("UPDATE facts SET valid_to = ? WHERE ref = ?", (str(said.at), said.of))

    def retract(self, said: Retracted) -> None:
        """Delete the row. What was overwritten for its sake is gone, and so is what an ending overwrote."""
        self._db.execute("DELETE FROM facts WHERE ref = ?", (said.of,))

    def ask(self, question: Question) -> frozenset[str]:
        """Answer from the rows that there are, whatever was known when."""
        rows = self._held(question.subject, question.relation, question.valid)
        match kind_of(question):
            case "two hops":
                found = [self._held(one, question.then or "", question.valid) for _, one, _ in rows]
                return frozenset(one for held in found for _, one, _ in held)
            case "known since":
                since = [at for _, one, at in rows if one == question.object]
                return frozenset([min(since)[:10]] if since else [])
            case "what changed":
                return frozenset(f"+{one}" for _, one, at in rows if at > str(question.known))
            case "who says so":
                return frozenset(ref for ref, one, _ in rows if one == question.object)
            case _:
                return frozenset(one for _, one, _ in rows)

    def _held(self, subject: str, relation: str, valid: datetime) -> list[tuple[str, str, str]]:
        rows = self._db.execute(_HELD, (subject, relation, str(valid), str(valid))).fetchall()
        return [row for row in rows if row[1] == rows[-1][1]] if relation in self._single else rows
