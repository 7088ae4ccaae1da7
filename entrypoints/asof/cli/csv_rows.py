"""Rows of a CSV file as structured facts: each field from a column, or the same for all rows."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from asof.operations.errors import InvalidInput

_GRAINS: Final = {4: "year", 7: "month"}  # by the length of a time such as 2024 and 2024-05
_YEAR_OR_MONTH: Final = re.compile(r"\d{4}(?:-\d{2})?", re.ASCII)
_FIXED: Final = "relation"  # a field that may be given itself, where no column has that name


def facts_of_rows(
    lines: Iterable[bytes], columns: Mapping[str, str], fields: Iterable[str]
) -> Iterator[Mapping[str, Any] | str]:
    """Yield each row as the fields of a structured fact; the first line names the columns, and is yielded as empty.

    columns: the column of each field that is mapped. A column that is named like one of `fields` gives that one, unless
    it is mapped; other columns are left out, as are empty cells. InvalidInput: a column is not there.
    """
    rows = csv.DictReader(_texts(lines), restkey="cells without a column", strict=True)
    try:
        named = rows.fieldnames or []
        of, fixed = _places(named, columns, set(fields))
        yield "\n"
        for row in rows:
            stated = {field: cell for field, column in of.items() if (cell := (row[column] or "").strip())}
            if rows.restkey in row:
                stated[str(rows.restkey)] = "more"  # no such field: the row is refused by this name
            yield _typed({**fixed, **stated})
    except csv.Error as error:
        raise InvalidInput(f"line {rows.line_num} is not CSV: {error}") from None


def rows_of(path: Path) -> int | None:
    """Count the rows of a file of CSV that `facts_of_rows` yields as facts; None: it is no CSV throughout."""
    try:
        with path.open("rb") as lines:
            return sum(1 for _ in csv.DictReader(_texts(lines), strict=True))
    except (csv.Error, InvalidInput):
        return None


def _places(
    named: Iterable[str], columns: Mapping[str, str], fields: set[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the column of each field, and the fields that are the same for all rows."""
    there = list(named)
    of = {name: name for name in there if name in fields}
    fixed: dict[str, str] = {}
    for field, column in columns.items():
        if column in there:
            of[field] = column
        elif field == _FIXED:
            of.pop(field, None)
            fixed[field] = column
        else:
            raise InvalidInput(f"there is no column {column}: the first line names {', '.join(there) or 'none'}", field)
    return of, fixed


def _typed(stated: dict[str, Any]) -> dict[str, Any]:
    """Read the confidence as a number, and add how exact a time is that names a year or a month alone."""
    with suppress(KeyError, ValueError):
        stated["confidence"] = float(stated["confidence"])
    start = stated.get("valid_at", "")
    if "grain" not in stated and _YEAR_OR_MONTH.fullmatch(start):
        stated["grain"] = _GRAINS[len(start)]
    return stated


def _texts(lines: Iterable[bytes]) -> Iterator[str]:
    first = True
    for line in lines:
        if not line:  # no more is there to read just now
            continue
        try:
            text = line.decode("utf-8-sig" if first else "utf-8")
        except UnicodeDecodeError:
            raise InvalidInput("the file is not UTF-8: save it as CSV in UTF-8") from None
        first = False
        yield text
