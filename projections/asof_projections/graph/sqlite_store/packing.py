"""Columns that a file has in fewer bytes than they are read in: what is stored, and how SQLite reads it.

Who reads names the column as ever: it is generated from the one that is stored, whose name ends with PACKED. Whoever
inserts gives what is stored, by the functions here. A value that does not fit is stored as it is.
"""

import re
from typing import Final

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

# Named by code points: which characters are printable differs between versions of Python, and a file must not.
_UNFIT: Final = re.compile("[\x00-\x1f\ud800-\udfff]")


def pack_statement(body: str) -> str | bytes:
    """Return the JSON of a fact as it is stored: packed as bytes; as it is, if it has a sign that no JSON has."""
    if _UNFIT.search(body):
        return body
    for part, sign in _PARTS:
        body = body.replace(part, sign)
    return body.encode()


def _unpacked_statement(column: str) -> str:
    text = f"CAST({column} AS TEXT)"
    for part, sign in _PARTS:
        text = f"replace({text}, char({ord(sign)}), '{part}')"
    return f"CASE typeof({column}) WHEN 'blob' THEN {text} ELSE {column} END"  # iif is of SQLite 3.32


_COLUMNS: Final = {"episodes": {"body": _unpacked_statement}}
"""How a packed column is read, by its table and name."""


def packed(tables: str) -> str:
    """Return the statements of tables with the columns that are packed in them: each before the one that is read."""
    for table, columns in _COLUMNS.items():
        before, start, rest = tables.partition(f"CREATE TABLE {table} (")
        declared, end, after = rest.partition(";")
        for column, unpacked in columns.items():
            stored = f"{column}{PACKED}"
            read = f"{stored} NOT NULL, {column} TEXT AS ({unpacked(stored)})"
            declared = declared.replace(f"{column} TEXT NOT NULL", read)
        tables = f"{before}{start}{declared}{end}{after}"
    return tables
