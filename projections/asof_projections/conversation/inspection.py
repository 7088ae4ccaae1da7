"""Checks the file of a projection of conversations: its pages and indexes, and its rows against those made anew.

The live file is copied first, so that one state of it is looked at.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from asof_projections.conversation.store import ConversationStore
from asof_streams.errors import ContractError, DamagedView
from asof_streams.sqlite import SqliteGuard, connect

_REMEDY: Final = "asof repair makes it anew of its logs"
_TABLES: Final = {  # with the order of rows, and the column that says whose they are
    "sqlite_schema": ("type, name", None),
    "meta": ("key", None),
    "messages": ("position", "grp"),
    "replies": ("reply_id", "grp"),
    "checkins": ("checkin_id", "grp"),
    "prompts": ("prompt, version", None),
    "active_prompts": ("prompt", None),
}
_LEFT_OUT: Final = {"rootpage"}  # of which a file that is made anew may have others


def copy_conversations(path: Path, to: Path) -> ConversationStore:
    """Copy a projection as it is at one moment, and open the copy. NotFound.

    DamagedView: its pages and indexes do not agree, or its tables are of another version.
    """
    with (
        SqliteGuard(path, _REMEDY, DamagedView),
        closing(connect(path, writable=False, durable=False)) as live,
        closing(sqlite3.connect(to)) as copy,
    ):
        live.backup(copy)
        if copy.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
            raise DamagedView(f"{path} is damaged: its pages or indexes do not agree; {_REMEDY}")
    try:
        return ConversationStore(to)
    except ContractError:
        raise DamagedView(f"{path} does not have the tables of this version: {_REMEDY}") from None


def expect_rows(copy: Path, anew: Path, named: Path, but: Collection[str]) -> int:
    """Expect of two projections the same rows, and return the number of their messages.

    but: groups whose rows may differ. DamagedView, which names the original.
    """
    with (
        SqliteGuard(named, _REMEDY, DamagedView),
        closing(sqlite3.connect(copy)) as live,
        closing(sqlite3.connect(anew)) as made,
    ):
        for table in _TABLES:
            if any(one != other for one, other in zip_longest(_rows(live, table, but), _rows(made, table, but))):
                raise DamagedView(f"{named} is damaged: its rows are not those of its logs; {_REMEDY}")
        return int(live.execute("SELECT count(*) FROM messages").fetchone()[0])


def _rows(db: sqlite3.Connection, table: str, but: Collection[str]) -> Iterator[tuple[Any, ...]]:
    order, whose = _TABLES[table]
    columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    place = columns.index(whose) if whose else None
    kept = [name for name in columns if name not in _LEFT_OUT]
    for row in db.execute(f"SELECT {', '.join(kept)} FROM {table} ORDER BY {order}"):
        if place is None or row[place] not in but:
            yield row
