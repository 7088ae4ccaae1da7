"""The command line: `asof`."""

import atexit
import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from threading import Timer, main_thread
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from asof.cli import calls
from asof.cli.commands import STYLE, CommandGroup
from asof.operations.process import tune_allocator

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = []

_AGAIN_SECONDS: Final = 0.05  # after which an interruption that was lost is repeated, and again if it is lost again

app = typer.Typer(
    name="asof",
    cls=CommandGroup,
    help="A memory that keeps its history: ask what was true, and what was known, as of any moment.",
    **STYLE,
)


def _version(asked: bool) -> None:
    if asked:
        from asof.operations.process import version

        print(f"asof {version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def _end(*_: object) -> None:
    """End at once. An exception in the middle of a lock's own code would break it, and end the process as an error.

    Nothing is left open: until a server or worker has its own handler, only a child of it may write, which ends too.
    """
    os._exit(0)


def _repeat_interruption(ignored: "UnraisableHookArgs", /) -> None:
    """Interrupt again where Python ignores it: it came within a callback of Python's own, as imports have.

    Without that a first Ctrl-C would now and then do nothing.
    """
    if not isinstance(ignored.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    main = main_thread().ident
    assert main is not None, "it runs"
    again = Timer(_AGAIN_SECONDS, signal.pthread_kill, (main, signal.SIGINT))
    again.daemon = True
    again.start()


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.unraisablehook = _repeat_interruption
    if sys.argv[1:2] in (["serve"], ["worker"]):  # until the server installs its own handler
        signal.signal(signal.SIGTERM, _end)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # as what is stored, whatever the locale
    if "_ASOF_COMPLETE" in os.environ:
        from asof.cli.completion import answer_shell

        sys.exit(answer_shell(app))
    tune_allocator()
    sys.exit(calls.run(app, sys.argv[1:]))


def script() -> NoReturn:
    """Run the command line as a process, which then ends at once, with its exit code.

    Python would first take apart all that was imported, module by module: that takes a quarter of a short command.
    """
    code = 0
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        code = end.code
    atexit._run_exitfuncs()  # noqa: SLF001 - as multiprocessing ends its forks
    last = calls.flush_output()
    with suppress(OSError, ValueError, AttributeError):  # it is full, closed, or was never there
        sys.stderr.flush()
    os._exit(code or last)
