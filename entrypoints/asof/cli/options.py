"""The options that several commands have, each defined once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from asof_streams.errors import InvalidInput
from asof_streams.instants import parse_moment


def moment(text: str) -> int:
    """Read a moment on a clock; the command line names the option where it cannot be read."""
    try:
        return parse_moment(text)
    except InvalidInput as error:
        raise typer.BadParameter(error.reason) from None


def group_id(text: str) -> str:
    """Read a group's id."""
    from asof_streams.messages import check_group

    try:
        return check_group(text)
    except InvalidInput as error:
        raise typer.BadParameter(error.reason) from None


Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The memory's directory: ./asof-data, or what ASOF_DATA says."),
]
Kafka = Annotated[
    str | None,
    typer.Option("--kafka", metavar="HOST:PORT", help="Kafka's brokers, with commas between: what ASOF_KAFKA says."),
]
Graph = Annotated[
    Literal["sqlite", "arango"] | None,
    typer.Option("--graph", help="What answers: files, or ArangoDB. Left out, ArangoDB if ASOF_GRAPH_URL is set."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Group = Annotated[str | None, typer.Option("--group", metavar="ID", parser=group_id, help="Only this group.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="At most this many.")]
ValidAt = Annotated[
    int | None,
    typer.Option(
        "--valid-at",
        metavar="TIME",
        parser=moment,
        help="As the world was then: 2024, 2024-05, 2024-05-01 or 2024-05-01T09:30:00Z. Now, if not given.",
    ),
]
KnownAt = Annotated[
    int | None,
    typer.Option(
        "--known-at", metavar="TIME", parser=moment, help="As it was known then. All that is known, if not given."
    ),
]
AnyTime = Annotated[bool, typer.Option("--any-time", help="Whenever it was true.")]
