"""How a command runs: the memory that it opens, and the exit code and the line of error with which it ends.

Exit codes: 0 ok; 1 the work failed, or was refused in part; 2 the call itself is wrong; 130 interrupted.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from asof.cli.options import Graph
from asof_streams.errors import (
    AccessDenied,
    AsofError,
    BrokerUnavailable,
    DecodeError,
    GraphUnavailable,
    InvalidInput,
    TopicUnfit,
)

if TYPE_CHECKING:
    from asof.memory import Memory
    from asof.settings import Settings

FAILED = 1
WRONG_CALL = 2
INTERRUPTED = 130

_WRONG = (
    InvalidInput,
    TopicUnfit,
    AccessDenied,
    BrokerUnavailable,
    GraphUnavailable,
    DecodeError,
)  # it ends so again, until somebody changes what is set or asked


_graph: ContextVar[str | None] = ContextVar("graph", default=None)  # what the command line said


def with_graph(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command the option that says where the graph is."""

    @wraps(command)
    def run_with(*, graph: str | None = None, **given: Any) -> int | None:
        _graph.set(graph)
        return command(**given)

    asked = signature(command)
    option = Parameter("graph", Parameter.KEYWORD_ONLY, default=None, annotation=Graph)
    run_with.__signature__ = asked.replace(parameters=[*asked.parameters.values(), option])  # type: ignore[attr-defined]
    run_with.__annotations__ = {**command.__annotations__, "graph": Graph}
    return run_with


def settings(data: Path | None, **given: str | None) -> "Settings":
    """Read the settings; what the command says wins."""
    from asof.settings import read

    chosen = {"data": data, "graph": _graph.get(), **given}
    return read(**{name: value for name, value in chosen.items() if value is not None})


@contextmanager
def memory(data: Path | None, kafka: str | None = None) -> Iterator["Memory"]:
    """Open the memory that a command writes to, making it where there is none."""
    from asof.memory import Memory

    chosen = settings(data, kafka=kafka)
    with Memory(chosen.data, chosen) as opened:
        yield opened


@contextmanager
def existing(data: Path | None, kafka: str | None = None) -> Iterator["Memory"]:
    """Open the memory that a command reads; a directory without one makes the call wrong, unless it is on Kafka."""
    from asof.runtime.replica_manifest import parts

    chosen = settings(data, kafka=kafka)
    if chosen.kafka is None and not any(part.catalog.exists() for part in parts(chosen.data)):
        raise InvalidInput(
            f"{chosen.data} holds no memory: --data DIR names another; asof add, produce or import makes one"
        )
    with memory(chosen.data, chosen.kafka) as opened:
        yield opened


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run a command line; return its exit code. Whatever asof raises on purpose becomes one line on stderr."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("asof", arguments or ["--help"]) as context:
            code: int = command.invoke(context) or 0
        sys.stdout.flush()
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:  # whoever read has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains while it ends
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (typer.TyperException, AsofError, OSError) as error:
        return _say(error, as_json="--json" in arguments)
    return code


def _say(error: typer.TyperException | AsofError | OSError, *, as_json: bool) -> int:
    match error:
        case typer.TyperException():
            text, code = error.format_message(), error.exit_code
        case OSError():
            text, code = f"{error.filename or 'output'}: {error.strerror}", FAILED
        case _:
            text, code = str(error), WRONG_CALL if isinstance(error, _WRONG) else FAILED
    print(json.dumps({"error": text}, ensure_ascii=False) if as_json else f"asof: {text}", file=sys.stderr)
    return code
