"""The run of a command: the memory that it opens, its exit code and its line of error.

Exit codes: 0 ok; 1 the work failed, or was refused in part; 2 the call itself is wrong; 130 interrupted.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import typer

from asof.cli import show
from asof.operations.errors import (
    AccessDenied,
    AsofError,
    BrokerUnavailable,
    DecodeError,
    GraphUnavailable,
    InvalidInput,
    TopicUnfit,
)
from asof.operations.tracing import TRACEPARENT, continued, flush, trace_this_process

if TYPE_CHECKING:
    from asof.operations.operation import Operation
    from asof.operations.sessions import Session
    from asof.settings import Settings

FAILED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130

_WRONG: Final = (
    InvalidInput,
    TopicUnfit,
    AccessDenied,
    BrokerUnavailable,
    GraphUnavailable,
    DecodeError,
)  # it ends so again, until somebody changes what is set or asked


@dataclass(frozen=True, slots=True)
class Call:
    """One run of a command: the settings, and how it prints its answer."""

    settings: "Settings"
    as_json: bool

    @contextmanager
    def session(self, progress: str | None = None) -> Iterator["Session"]:
        """Open the memory to write to, making it where there is none; `progress` names long work that is shown."""
        from asof.operations.sessions import open_session

        with open_session(self.settings) as session, show.progress(progress) as told, session.reporting(told):
            yield session

    @contextmanager
    def existing(self, progress: str | None = None) -> Iterator["Session"]:
        """Open the memory to read; a directory without one makes the call wrong, unless it is on Kafka."""
        from asof.operations.sessions import open_existing

        with open_existing(self.settings) as session, show.progress(progress) as told, session.reporting(told):
            yield session

    def answer(self, operation: "Operation[Any, Any]", answer: Any, view: show.View) -> None:
        """Print an answer: as JSON, or as its view shows it to people. Say how the next page is asked for."""
        if self.as_json:
            show.data(operation.to_json(answer))
        else:
            view(answer)
        if reason := getattr(answer, "unavailable", None):
            show.talk(f"found by words alone: {reason}")
        if behind := getattr(answer, "vectors_behind", 0):
            show.talk(
                f"{behind:,} of what was searched have no vector yet and were found by words: asof embed makes them"
            )
        if (cursor := getattr(answer, "next", None)) and operation.is_paged:
            show.talk(f"go on with --cursor {cursor}")


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run a command line; return its exit code. Whatever asof raises on purpose becomes one line on stderr."""
    logging.getLogger("asof_agents").addHandler(logging.NullHandler())  # a command says itself what was parked
    command = typer.main.get_command(app)
    trace_this_process()
    try:
        code = _invoke(command, arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has read enough
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (typer.TyperException, AsofError, OSError) as error:
        return _say(error, as_json="--json" in arguments)
    finally:
        _empty_output()
        flush()
    return code


def _invoke(command: Any, arguments: list[str]) -> int:
    try:
        with (
            continued(os.environ.get(TRACEPARENT.upper())),
            command.make_context("asof", arguments or ["--help"]) as context,
        ):
            return command.invoke(context) or 0
    except typer.Exit as end:  # as after the version, or the help
        return end.exit_code


def flush_output() -> int:
    """Write what is left for the output while the process ends. Return the exit code: 1 if it is full, after a line."""
    try:
        with suppress(BrokenPipeError, ValueError, AttributeError):  # nobody reads it, it is closed, or never was there
            sys.stdout.flush()
    except OSError as error:
        return _say(error, as_json=False)
    return 0


def _empty_output() -> None:
    """Write what is buffered for the output, or drop it where that fails: Python would try again while it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(error: typer.TyperException | AsofError | OSError, *, as_json: bool) -> int:
    match error:
        case typer.TyperException():
            text, code = error.format_message().replace(": Value error, ", ": "), error.exit_code  # typer's
        case OSError():
            text, code = f"{error.filename or 'output'}: {error.strerror}", FAILED
        case _:
            text, code = str(error), WRONG_CALL if isinstance(error, _WRONG) else FAILED
    print(json.dumps({"error": text}, ensure_ascii=False) if as_json else f"asof: {text}", file=sys.stderr)
    return code
