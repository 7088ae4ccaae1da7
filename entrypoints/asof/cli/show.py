"""The output of a command: data on stdout as tables or JSON, talk and progress on stderr.

Stored text may hold anything: control characters, which a terminal would obey, are shown as U+FFFD.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any

from asof.cli import grid
from asof.operations.periods import is_right_before

_CONTROL = re.compile(  # the last two ranges turn the direction of the line, and of the ids in it
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_MIDNIGHT = "T00:00:00Z"
_BREAKS = str.maketrans(dict.fromkeys("\t\n\u2028\u2029", " "))
_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORT = 8  # letters of an id, of which every command takes as many

Cell = str | int | float | None

View = Callable[[Any], None]
"""Shows an answer to people."""


def data(value: Any, *, at_once: bool = False) -> None:
    """Print one JSON document on a line of stdout."""
    print(json.dumps(value, ensure_ascii=False), flush=at_once)


def line(text: str = "") -> None:
    """Print a line of text on stdout."""
    print(plain(text))


def talk(text: str) -> None:
    """Say something that is not data, on stderr."""
    print(plain(text), file=sys.stderr)


def plain(text: str) -> str:
    """Return text that a terminal only shows."""
    return _CONTROL.sub("\ufffd", text)


def program() -> str:
    """Return the command as it was started, where that is not what its name alone would start."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return f"{quote(sys.executable)} -m asof"
    if started.name != "asof" or ((there := which("asof")) and Path(there).samefile(started)):
        return "asof"
    return quote(str(started))


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: "1 event", "2,000 events"."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def when(time: datetime | None) -> str:
    """Return a time as people read it, and as every option takes it: a date where it is a whole day."""
    return "" if time is None else f"{time.replace(tzinfo=None).isoformat()}Z".removesuffix(_MIDNIGHT)


def period(start: datetime | None, end: datetime | None) -> str:
    """Return a period of valid time as people read it."""
    if is_right_before(start, end):
        return f"until {when(end)}"
    return f"{when(start)} to {when(end)}" if end else f"from {when(start)}"


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, nothing: str = "nothing found") -> None:
    """Print rows under their columns: folded to fit a terminal, whole and on one line each where it goes elsewhere."""
    cells = [[_text(cell) for cell in row] for row in rows]
    if not cells:
        talk(nothing)
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in grid.lines(columns, _short_ids(cells), width))


def _text(cell: Cell) -> str:
    return "" if cell is None else plain(str(cell)).translate(_BREAKS)


def _short_ids(rows: list[list[str]]) -> list[list[str]]:
    """Return rows whose ids are cut to as few letters, at least eight, as tell them apart."""
    ids = {cell for row in rows for cell in row if _ID.fullmatch(cell)}
    length = _SHORT
    while len({id_[:length] for id_ in ids}) < len(ids):
        length += 1
    return [[cell[:length] if cell in ids else cell for cell in row] for row in rows] if ids else rows


@contextmanager
def progress(label: str | None) -> Iterator[Callable[[int, int | None], None] | None]:
    """Show how far long work has come, given as (done, total), where it has a label and there is a terminal.

    A total that is not known is None.
    """
    if label is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(label, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
