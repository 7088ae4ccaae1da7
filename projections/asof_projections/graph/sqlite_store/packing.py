"""Columns that a file has in fewer bytes than they are read in: what is stored, and how SQLite reads it.

Who reads names the column as ever: it is generated from the one that is stored, whose name ends with PACKED. Whoever
inserts gives what is stored, by the functions here. A value that does not fit is stored as it is.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from asof_streams.instants import INF

PACKED: Final = "_packed"

# The JSON of a fact has no control character of its own, since JSON escapes them: each stands for a part that most
# have. A part comes before those that it has in it. They are of the schema: one more makes another schema.
_PARTS: Final = (
    ('{"group_id":"', "\x01"),
    ('","op":"assert","subject":"', "\x02"),
    ('","subject_type":"', "\x03"),
    ('","relation":"', "\x04"),
    ('","object":"', "\x05"),
    ('","object":', "\x06"),
    ('","object_type":"', "\x07"),
    ('","valid_at":', "\x0e"),
    (',"valid_at":', "\x0f"),
    (',"invalid_at":', "\x10"),
    (',"confidence":1.0}', "\x11"),
    (',"confidence":', "\x12"),
)

_UUID: Final = re.compile("-".join(f"[0-9a-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12)))
_UUID_PARTS: Final = ((1, 4), (5, 2), (7, 2), (9, 2), (11, 6))  # where each begins, and its bytes


def pack_statement(body: str) -> str | bytes:
    """Return the JSON of a fact as it is stored: packed as bytes; as it is, if it has a sign that no JSON has."""
    if not body.isprintable():
        return body
    for part, sign in _PARTS:
        body = body.replace(part, sign)
    return body.encode()


def _unpacked_statement(column: str) -> str:
    text = f"CAST({column} AS TEXT)"
    for part, sign in _PARTS:
        text = f"replace({text}, char({ord(sign)}), '{part}')"
    return f"iif(typeof({column}) = 'blob', {text}, {column})"


@lru_cache(maxsize=64)  # the rows of one message name its episode, one after the other
def pack_id(uuid: str) -> str | bytes:
    """Return an id as it is stored: a UUID as its bytes; any other, such as a producer's own, as it is."""
    return bytes.fromhex(uuid.replace("-", "")) if _UUID.fullmatch(uuid) else uuid


def _unpacked_id(column: str) -> str:
    parts = "||'-'||".join(f"hex(substr({column}, {start}, {size}))" for start, size in _UUID_PARTS)
    return f"iif(typeof({column}) = 'blob', lower({parts}), {column})"


def _or_else(other: str | int) -> Callable[[str], str]:
    """Return how a column is read that is stored as NULL where it has another value, which most rows have."""
    return lambda column: f"ifnull({column}, {other})"


# None of these ever changes: a row that grew would split its page, which costs more than all of this saves.
# Ids of facts are texts, since each answer has some: to read one from its bytes takes a microsecond longer.
_COLUMNS: Final[dict[str, dict[str, Callable[[str], str]]]] = {
    "episodes": {"uuid": _unpacked_id, "body": _unpacked_statement, "valid_at": _or_else("created_at")},
    "entities": {"episode": _unpacked_id},
    "names": {"episode": _unpacked_id},
    "facts": {"stated_to": _or_else(INF), "said_at": _or_else("created_at")},
    "closings": {"statement": _unpacked_id},
}
"""How a packed column is read, by its table and name."""


def packed(tables: str) -> str:
    """Return the statements of tables with the columns that are packed in them: each before the one that is read."""
    for table, columns in _COLUMNS.items():
        before, start, rest = tables.partition(f"CREATE TABLE {table} (")
        declared, end, after = rest.partition(";")
        for column, unpacked in columns.items():
            stored = f"{column}{PACKED}"
            read = rf"{stored} \1, {column} \1 AS ({unpacked(stored)})"
            declared = re.sub(rf"\b{column} (\w+) NOT NULL", read, declared)
        tables = f"{before}{start}{declared}{end}{after}"
    return tables
