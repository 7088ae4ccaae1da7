"""Erasing payloads from the rows and the closed blocks of a log: their seals stay, so that the hash chain verifies."""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

from asof_streams import chain
from asof_streams.chain import Row
from asof_streams.messages import Message
from asof_streams.sealer import NOT_SEALED
from asof_streams.sqlite import owe_vacuum
from asof_streams.sqlite_records import Records

_KEPT: Final = f"({', '.join('?' * len(NOT_SEALED))})"
_ERASE: Final = (
    "UPDATE log SET seal = seal(salt, payload), salt = NULL, payload = NULL "
    "WHERE grp = ? AND position < ? AND payload IS NOT NULL AND "
    f"type NOT IN {_KEPT}"
)
_ERASE_AT: Final = (
    "UPDATE log SET seal = seal(salt, payload), salt = NULL, payload = NULL "
    "WHERE position = ? AND payload IS NOT NULL AND "
    f"type NOT IN {_KEPT}"
)
_TALLY: Final = (
    f"SELECT count(payload), count(*) - count(payload) FROM log WHERE grp = ? AND position < ? AND type NOT IN {_KEPT}"
)
_SUPPRESS: Final = (  # encrypted, or by an older version not; JSON escapes the quotes of a text, so it is the field
    "UPDATE log SET seal = seal(salt, payload), salt = NULL, payload = NULL WHERE position >= ? AND position < ? "
    "AND payload IS NOT NULL AND type = ? "
    "AND (substr(payload, 1, 1) = x'00' OR instr(payload, CAST('\"suppress_content\":true' AS BLOB)))"
)


class Erasures:
    """Erases payloads of one log. The caller holds the transaction of the connection.

    Copies of payloads may be left in the log's files until they are rewritten, which is then owed.
    """

    def __init__(self, db: sqlite3.Connection, records: Records) -> None:
        self._db = db
        self._records = records

    def erase(self, group: str, stop: int) -> int:
        """Erase a group's payloads before a position, but for requests of erasure; return their number."""
        self._define_seal()
        erased = self._db.execute(_ERASE, (group, stop, *NOT_SEALED)).rowcount
        return self._owe(erased + self._erase_closed(group, stop))

    def erase_some(self, group: str, positions: Sequence[int], end: int) -> int:
        """Erase those of a group's payloads that stand at some positions before the end; return their number."""
        self._define_seal()
        erased = self._db.executemany(_ERASE_AT, ((at, *NOT_SEALED) for at in positions)).rowcount
        return self._owe(max(erased, 0) + self._erase_closed(group, end, frozenset(positions)))

    def suppress(self, start: int, stop: int) -> None:
        """Erase the messages of [start, stop) whose content is not to be kept. None of them is closed yet."""
        self._define_seal()
        self._db.execute(_SUPPRESS, (start, stop, Message.type))

    def tally(self, group: str, end: int) -> tuple[int, int]:
        """Return how many of a group's records before the end `erase` would erase, and how many are erased."""
        held, erased = self._db.execute(_TALLY, (group, end, *NOT_SEALED)).fetchone()
        for rows in self._records.blocks.of_group(group, end):
            there = [row[12] is not None for row in rows if _is_erasable(row, group, end)]
            held, erased = held + sum(there), erased + len(there) - sum(there)
        return held, erased

    def _define_seal(self) -> None:
        self._db.create_function("seal", 2, chain.seal, deterministic=True)

    def _owe(self, erased: int) -> int:
        if erased:
            owe_vacuum(self._db)
        return erased

    def _erase_closed(self, group: str, stop: int, positions: Collection[int] | None = None) -> int:
        erased = 0
        for rows in self._records.blocks.of_group(group, stop):
            left = [
                _erased(row)
                if row[12] is not None and _is_erasable(row, group, stop) and (positions is None or row[0] in positions)
                else row
                for row in rows
            ]
            if changed := sum(row is not old for row, old in zip(left, rows, strict=True)):
                self._records.blocks.replace(left)
                erased += changed
        return erased


def _is_erasable(row: Row, group: str, stop: int) -> bool:
    return row[1] == group and row[0] < stop and row[7] not in NOT_SEALED


def _erased(row: Row) -> Row:
    return (*row[:10], None, chain.seal(row[10], row[12]), None)
