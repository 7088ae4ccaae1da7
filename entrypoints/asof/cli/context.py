"""The command that gives a context: what is known about a question, as one text for a prompt."""

from collections.abc import Callable
from typing import Any, Final

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.options import Explain
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations import context as operations


def _hit(item: Any) -> Any:
    """Return the fact or the turn of a line; None: it is about an entity."""
    return getattr(item, "fact", None) or getattr(item, "episode", None)


def _part(name: str) -> Callable[[Any], float | None]:
    return lambda item: _hit(item) and getattr(_hit(item).scores, name)


_LINES: Final = Table(
    ("kind", "kind"),
    ("score", lambda item: _hit(item) and _hit(item).score),
    ("words", _part("words")),
    ("meaning", _part("meaning")),
    ("tokens", "tokens"),
    ("line", "line"),
    nothing="nothing is known about this",
)


def _explain(answer: Any) -> None:
    """Print the lines of a context with their scores, and how it was answered."""
    _LINES(answer.items)
    left_out = f", {show.counted(len(answer.left_out), 'line')} left out" if answer.left_out else ""
    show.talk(f"{answer.tokens} of {answer.budget} tokens{left_out}")


@command(operations.context, parameters=Parameters(operations.context.query, arguments=("query",)))
def context(
    call: Call,
    query: Any,
    *,
    explain: Explain = False,
) -> None:
    """Ask for what is known about a question, as one text for a prompt.

    With --explain, its lines are printed as a table, with the parts of each score.
    """
    with call.existing() as session:
        answer = operations.context(session, query)
    call.answer(operations.context, answer, _explain if explain else lambda answer: show.line(answer.text))
