"""What one write costs in statements: each takes the lock of a file, so a few more show in the time of a call."""

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import asof

_MOST = 40  # of a fact of two new entities: five transactions, the rows of three logs and two graphs


def test_a_fact_a_call_takes_few_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []

    class Counting(sqlite3.Connection):
        def execute(self, *of: Any) -> sqlite3.Cursor:
            statements.append(of[0])
            return super().execute(*of)

        def executemany(self, *of: Any) -> sqlite3.Cursor:
            statements.append(of[0])
            return super().executemany(*of)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Counting))
    with asof.open(tmp_path / "data", embedder="none") as memory:
        for number in range(3):
            memory.import_facts([{"subject": f"Ana {number}", "relation": "lives_in", "object": f"Rome {number}"}])
        statements.clear()
        done = memory.import_facts([{"subject": "Uma", "relation": "lives_in", "object": "Oslo"}])
        assert done.parked == 0
        assert 0 < len(statements) <= _MOST
        assert statements.count("COMMIT") == 5
        parked = memory.import_facts([{"op": "retract", "subject": "Uma", "relation": "lives_in", "object": "Bonn"}])
        assert parked.parked == 1
