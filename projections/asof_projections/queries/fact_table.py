"""Facts as a table: a row for each fact of an exported graph, or for each version of one. Its columns, and CSV."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any, Final

TEXTS: Final = (
    "id", "uuid", "group_id", "subject", "relation", "object", "fact", "subject_uuid", "object_uuid", "generation",
)  # fmt: skip
TIMES: Final = ("valid_at", "invalid_at", "created_at", "expired_at", "known_from", "known_to")
FLAGS: Final = ("occurrence", "planned")
NUMBERS: Final = ("confidence", "value")
_LISTS: Final = ("episodes", "qualifiers")
COLUMNS: Final = (*TEXTS, *TIMES, *FLAGS, *NUMBERS, *_LISTS)
_FORMULA: Final = re.compile(r"[=+\-@\t\r]")  # a spreadsheet computes a cell that begins so
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def write_csv(edges: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a CSV file, RFC 4180 in UTF-8; the first one names the columns.

    An open end is an empty cell; `episodes` is joined by spaces, `qualifiers` is JSON. A cell that a spreadsheet would
    take for a formula begins with an apostrophe, unless it is a number.
    """
    line = StringIO()
    writer = csv.writer(line)
    for cells in _with_header(edges):
        writer.writerow(cells)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _with_header(edges: Iterable[dict[str, Any]]) -> Iterator[Iterable[str]]:
    yield COLUMNS
    for edge in edges:
        yield [_cell(edge.get(column)) for column in COLUMNS]


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return " ".join(value)
        case dict():
            return json.dumps(value, ensure_ascii=False) if value else ""
    text = str(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
