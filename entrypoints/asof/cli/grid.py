"""The lines of a table: columns side by side, under a rule; where there is too little room, cells go on below."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final

_GAP: Final = "   "
_LEAST: Final = 8  # characters of a folded column: an id is never broken


def lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Yield the lines of a table that fits a width; None: as wide as its cells are."""
    widths = [max(map(_width, cells)) for cells in zip(columns, *rows, strict=True)]
    if width is not None:
        widths = _fitting(widths, width - len(_GAP) * (len(widths) - 1))
    yield from _folded(columns, widths)
    yield "\u2500" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    for row in rows:
        yield from _folded(row, widths)


def _fitting(widths: list[int], room: int) -> list[int]:
    """Return widths of which the widest are cut to one bound, so that they fit."""
    bound = max(widths)
    while sum(min(width, bound) for width in widths) > room and bound > _LEAST:
        bound -= 1
    return [min(width, bound) for width in widths]


def _folded(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines of one row."""
    if all(map(_fits, cells, widths)):
        yield _GAP.join(map(_padded, cells, widths))
        return
    parts = (_parts(cell, width) for cell, width in zip(cells, widths, strict=True))
    for line in zip_longest(*parts, fillvalue=""):
        yield _GAP.join(map(_padded, line, widths))


def _fits(cell: str, width: int) -> bool:
    return _width(cell) <= width


def _parts(cell: str, width: int) -> list[str]:
    """Return a cell as lines of a width, broken between words where that can be."""
    if cell.isascii():
        return wrap(cell, width, break_on_hyphens=False) or [""]
    from rich.cells import chop_cells

    return chop_cells(cell, width)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
