"""DuckDB: a table of facts in a file, with an index of slots and one of objects."""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench import synthetic
from bench.peers.subjects import Fact

_TABLE = """CREATE TABLE facts (subject TEXT, relation TEXT, object TEXT, valid_from TEXT, valid_to TEXT,
    created_at TIMESTAMPTZ)"""
_CLOSE = "UPDATE facts SET valid_to = ? WHERE subject = ? AND relation = ? AND valid_to IS NULL AND valid_from < ?"
_NEXT = f"""CASE WHEN relation IN {synthetic.SINGLE} THEN
    lead(valid_at) OVER (PARTITION BY subject, relation ORDER BY valid_at) END"""
_HOLDS = "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)"
_HELD = "valid_from <= $at AND (valid_to IS NULL OR valid_to > $at)"
_ENTITY = f"SELECT subject, relation, object FROM facts WHERE (subject = $name OR object = $name) AND {_HELD}"
_HOPS = f"""WITH near AS (
        SELECT $name AS name UNION SELECT object FROM facts WHERE subject = $name AND {_HELD}
        UNION SELECT subject FROM facts WHERE object = $name AND {_HELD})
    SELECT DISTINCT subject, relation, object FROM facts
    WHERE (subject IN (FROM near) OR object IN (FROM near)) AND {_HELD}"""


class NewPeer:
    def __init__(self, folder: Path, model: str) -> None:  # noqa: ARG002 - it reads nothing with a model
        duckdb: Any = import_module("duckdb")
        self.version = duckdb.__version__
        self._file = folder.parent / "facts.jsonl"
        self._db = duckdb.connect(str(folder / "facts.duckdb"))
        self._db.execute(_TABLE)

    def load(self, facts: Sequence[Fact]) -> None:
        blank = {"invalid_at": None}
        self._file.write_text("\n".join(json.dumps(blank | fact) for fact in facts))
        kinds = "columns={subject: 'TEXT', relation: 'TEXT', object: 'TEXT', valid_at: 'TEXT', invalid_at: 'TEXT'}"
        read = f"read_json('{self._file}', format='newline_delimited', {kinds})"
        columns = f"subject, relation, object, valid_at, coalesce(invalid_at, {_NEXT}), now()"
        self._db.execute(f"INSERT INTO facts SELECT {columns} FROM {read}")
        self._db.execute("CREATE INDEX slots ON facts (subject, relation)")
        self._db.execute("CREATE INDEX objects ON facts (object)")

    def state(self, fact: Fact) -> None:
        start = fact["valid_at"]
        self._db.execute("BEGIN")
        if fact["relation"] in synthetic.SINGLE:
            self._db.execute(_CLOSE, (start, fact["subject"], fact["relation"], start))
        row = fact["subject"], fact["relation"], fact["object"], start, fact.get("invalid_at")
        self._db.execute("INSERT INTO facts VALUES (?, ?, ?, ?, ?, now())", row)
        self._db.execute("COMMIT")

    def slot(self, fact: Fact) -> object:
        sql, at = f"SELECT object FROM facts WHERE subject = ? AND relation = ? AND {_HOLDS}", fact["valid_at"]
        return self._db.execute(sql, (fact["subject"], fact["relation"], at, at)).fetchall()

    def about(self, fact: Fact) -> object:
        sql, at = f"SELECT relation, object FROM facts WHERE subject = ? AND {_HOLDS}", fact["valid_at"]
        return self._db.execute(sql, (fact["subject"], at, at)).fetchall()

    def entity(self, fact: Fact) -> object:
        return self._db.execute(_ENTITY, {"name": fact["subject"], "at": fact["valid_at"]}).fetchall()

    def hops(self, fact: Fact) -> object:
        return self._db.execute(_HOPS, {"name": fact["subject"], "at": fact["valid_at"]}).fetchall()

    def close(self) -> None:
        self._db.execute("CHECKPOINT")
        self._db.close()
