"""The codec of a structured fact's JSON: a file stores it in fewer bytes, and SQLite reads it whole.

Who reads names the column `body` as ever: it is generated from STORED. Whoever inserts gives what `pack_statement`
returns of a fact, and any other text as it is.
"""

import re
from typing import Final

STORED: Final = "body_packed"
"""The column that is stored, before the one that is read."""

# JSON escapes control characters, so the JSON of a fact has none: here each stands for a part that most facts have in
# common. A part stands before the shorter ones that it contains. All are of the schema: one more makes another schema.
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
    """Return the JSON of a fact as it is stored: packed, as bytes.

    A text with a control character or half a surrogate pair, which no JSON of a fact has, is returned unchanged.
    """
    if _UNFIT.search(body):
        return body
    for part, sign in _PARTS:
        body = body.replace(part, sign)
    return body.encode()


def with_packed_body(tables: str) -> str:
    """Return the statements that create tables, with the text of episodes stored packed."""
    return tables.replace("body TEXT NOT NULL", f"{STORED} NOT NULL, body TEXT AS ({_unpacked_statement()})")


def _unpacked_statement() -> str:
    text = f"CAST({STORED} AS TEXT)"
    for part, sign in _PARTS:
        text = f"replace({text}, char({ord(sign)}), '{part}')"
    return f"CASE typeof({STORED}) WHEN 'blob' THEN {text} ELSE {STORED} END"  # iif is of SQLite 3.32
