"""The `asof` command, run in this process: what it prints, and its exit code. Nothing else of asof is looked at."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from typing import NamedTuple

import typer.main

from asof.cli import main


class Said(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


def asof(*arguments: str) -> Said:
    """Run one command line."""
    out, err, before, thresholds = StringIO(), StringIO(), sys.argv, gc.get_threshold()
    sys.argv = ["asof", *arguments]
    try:
        with _built_once(), redirect_stdout(out), redirect_stderr(err):
            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.argv = before
        gc.set_threshold(*thresholds)
    return Said(code, out.getvalue(), err.getvalue())


_build = cache(typer.main.get_command)


@contextmanager
def _built_once() -> Iterator[None]:
    """Let typer read the signatures of all commands once: that takes half of a command's time."""
    before, typer.main.get_command = typer.main.get_command, _build
    try:
        yield
    finally:
        typer.main.get_command = before
