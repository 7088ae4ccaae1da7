"""Facts as a table in Parquet: a row for each fact of an exported graph, or for each version of one."""

import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

from asof_projections.queries.fact_table import FLAGS, NUMBERS, TEXTS, TIMES
from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput
from asof_streams.instants import parse

_ROW_GROUP: Final = 10_000  # rows, of some kilobytes each at most; no more of them are in memory at once


def write_parquet(edges: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield a Parquet file, a piece for each row group of 10,000 rows. InvalidInput: pyarrow is not installed.

    The columns are those of CSV. Times are timestamps in UTC, to the microsecond, and null where an end is open.
    `episodes` is a list of texts; `qualifiers` is JSON, null where there are none.
    """
    if find_spec("pyarrow") is None:
        raise InvalidInput(f"Parquet needs pyarrow. Get it with: {install_command('parquet')}", "format")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = _columns(arrow)
    schema = arrow.schema([(name, kind) for name, kind, _ in columns])
    pieces = _Pieces()
    with parquet.ParquetWriter(pieces, schema) as writer:
        for rows in _row_groups(edges):
            arrays = [arrow.array([cell(row.get(name)) for row in rows], kind) for name, kind, cell in columns]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))
            yield pieces.taken()
    yield pieces.taken()


def _row_groups(edges: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    edges = iter(edges)
    while rows := list(islice(edges, _ROW_GROUP)):
        yield rows


class _Pieces:
    """A file that keeps what is written to it until that is taken."""

    closed = False

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, piece: Any) -> int:
        self._written.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        written, self._written = self._written, []
        return b"".join(written)


def _columns(arrow: Any) -> list[tuple[str, Any, Callable[[Any], Any]]]:
    """Return the name of each column, its type, and what makes a cell of the value in an edge."""
    return [
        *((name, arrow.string(), _as_it_is) for name in TEXTS),
        *((name, arrow.timestamp("us", tz="UTC"), _instant) for name in TIMES),
        *((name, arrow.bool_(), _as_it_is) for name in FLAGS),
        *((name, arrow.float64(), _number) for name in NUMBERS),
        ("episodes", arrow.list_(arrow.string()), _as_it_is),
        ("qualifiers", arrow.string(), _json),
    ]


def _as_it_is(value: Any) -> Any:
    return value


def _instant(rendered: str | None) -> int | None:
    return None if rendered is None else parse(rendered)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _json(value: dict[str, Any]) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None
