"""Checks the file of a store: its pages, indexes and words, and every row of it against a store that was built anew.

The live file is copied first, page by page as it is: the check of words needs to write, and one state is looked at.
"""

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Final

from asof_projections.graph.sqlite_store import schema
from asof_projections.graph.sqlite_store.scans import HASHED, ORDER
from asof_streams.errors import DamagedView
from asof_streams.sqlite import SqliteGuard, connect

REMEDY: Final = "asof repair builds it anew from its log"
_FALSE: Final = "NULL value in cardinalities.single"  # SQLite before 3.41 says so of a key's column behind another one
_MANY: Final = 1_000_000  # findings: the false ones must not crowd out the others
_ORDER: Final = ORDER | {
    "answers": "n",
    "post_withdrawals": "post",
    "words": "grp, word, entity, episode",
    **{f"{words}_config": "k" for words in schema.WORDS},
    "sqlite_schema": "type, name",
}
_NAMED: Final = {  # a name that is erased and comes again gets another id
    "grp": "(SELECT name FROM groups WHERE groups.n = t.grp)",
    "relation": "(SELECT name FROM relations WHERE relations.n = t.relation)",
}
_AS_THEY_ARE: Final = {("relationships", "relation"), ("cardinalities", "relation")}
_LEFT_OUT: Final = {("versions", "n"), ("sqlite_schema", "rootpage")}  # of which a store built anew may have others


def copy_store(path: Path, beside: Path) -> None:
    """Copy a store as it is at one moment. NotFound; DamagedView: it cannot be read."""
    with SqliteGuard(path, REMEDY, DamagedView):
        source = connect(path, writable=False, durable=False)
        with closing(source), closing(sqlite3.connect(beside)) as target:
            source.backup(target)


def check_file(path: Path, named: Path) -> None:
    """Check pages, indexes and words of a copy. DamagedView, which names the original: they do not agree."""
    with SqliteGuard(named, REMEDY, DamagedView), closing(sqlite3.connect(path, isolation_level=None)) as db:
        schema.expect_own_statements(db, named)
        _expect_no_finding(db, "integrity_check", named)
        for words in schema.WORDS:
            db.execute(f"INSERT INTO {words} ({words}, rank) VALUES ('integrity-check', 1)")


def check_pages(db: sqlite3.Connection, named: Path) -> None:
    """Check the pages of an open store, without its indexes and words. DamagedView: they do not agree."""
    _expect_no_finding(db, "quick_check", named)


def _expect_no_finding(db: sqlite3.Connection, check: str, named: Path) -> None:
    found = {line for (line,) in db.execute(f"PRAGMA {check}({_MANY})")}
    if found - {"ok", _FALSE}:
        raise DamagedView(f"{named} is damaged: its pages or indexes do not agree; {REMEDY}")


def content_of(path: Path, named: Path) -> str:
    """Return a digest of all rows and of the schema, the ids of rows included. DamagedView: they cannot be read."""
    digest = sha256()
    with SqliteGuard(named, REMEDY, DamagedView), closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table, order in _ORDER.items():
            columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            kept = [_read(table, column) for column in columns if (table, column) not in _LEFT_OUT]
            if not kept:
                raise DamagedView(f"{named} is damaged: it has no table {table}; {REMEDY}")
            rows = db.execute(f"SELECT {', '.join(kept)} FROM {table} t ORDER BY {order}")
            while some := rows.fetchmany(HASHED):
                digest.update(repr(some).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _read(table: str, column: str) -> str:
    named = None if (table, column) in _AS_THEY_ARE else _NAMED.get(column)
    return f"{named or column} AS {column}"
