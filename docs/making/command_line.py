"""The page of the command line: one section for each command, from its own help."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import typer

from asof import cli
from asof_projections.model.answers import Fact
from asof_projections.model.queries import FactsQuery
from asof_streams.messages import FactStatement, Message

PAGE = """\
# The command line

<!-- Made by docs/generate.py: change the help of the commands instead. -->

Data goes to stdout, talk to stderr. With `--json` the data is JSON, and so is an error: `{"error": "..."}`. A table is
folded to fit a terminal; anywhere else each row is one line.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the work failed, or was refused in part: lines were refused, damage was found, there is no such thing |
| 2 | the call itself is wrong: an option, a time, a group, a file, a directory without a memory, Kafka refusing it |
| 130 | interrupted; what was acknowledged stays |

A time is RFC 3339 with its offset (`2024-05-01T09:30:00Z`), or a date, a month or a year (`2024-05-01`, `2024-05`,
`2024`), which mean their first instant in UTC. It may be words, such as `last May`, `2 weeks ago` or `now`, seen from
now on this machine's clock: stderr says which instant they mean, and what may mean two is refused. Every question is
asked as of a moment on two clocks: see [two clocks](../explanation/two-clocks.md).
"""

LINES = """\
## What lines hold

One JSON object a line. A line that is refused is named on stderr with its number, the field and the reason; the others
are kept, or none with `--strict`.

| lines of | fields |
|---|---|
| `asof produce` | {message} |
| `asof import` | {fact}; with `--recorded` also `recorded_at` |
| `asof facts --batch` | {question}, `subject` in place of `about`; others are ignored |
| `asof what-if` | those of `asof import`; `group_id` only if it is that of `--group` |

A line without `group_id` is of `--group`, or `default`. A message needs `content`, and `role_type` unless `source` is
`text` or `json`. Of facts, `op` is `assert` (if not given), `end`, `correct` or `retract`; `ref` is the producer's own
id of a fact, by which later lines name it. Times are dates, RFC 3339 with an offset, or words as options take them.
What each field means stands in [events](events.md), since a line becomes an event of the messages log; there, too, is
what `asof events` prints.

A fact in JSON is the same everywhere: {keys}. Its times are RFC 3339 with Z, and null where an end is open.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([PAGE, *_commands(), _lines()])


def commands() -> dict[str, Any]:
    """Return the commands by name."""
    group: Any = typer.main.get_command(cli.app)
    return dict(group.commands)


def _commands() -> Iterator[str]:
    for name, command in commands().items():
        context = typer.Context(command, info_name=f"asof {name}")
        usage = command.get_usage(context).removeprefix("Usage: ")
        rows = [parameter.get_help_record(context) for parameter in command.params if parameter.name != "help"]
        yield f"## asof {name}\n\n{command.help}\n\n    {usage}\n"
        yield "| parameter | meaning |\n|---|---|"
        yield from (f"| `{_cell(parameter)}` | {_cell(meaning)} |" for parameter, meaning in rows)
        yield ""


def _lines() -> str:
    return LINES.format(
        message=_listed(Message.model_fields),
        fact=_listed(FactStatement.model_fields),
        question=_listed(FactsQuery.model_fields),
        keys=_listed(field.name for field in fields(Fact)),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
