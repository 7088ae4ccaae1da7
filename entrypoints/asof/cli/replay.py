"""The command that replays a log: events."""

from typing import Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json, Kafka
from asof_streams.errors import InvalidInput


def events(
    log: Annotated[
        Literal["messages", "episodic", "semantic"],
        typer.Option("--log", help="What was said to us, what was recorded, or what is believed."),
    ] = "semantic",
    start: Annotated[int, typer.Option("--from", min=0, metavar="N", help="From this position on.")] = 0,
    stop: Annotated[
        int | None, typer.Option("--to", min=0, metavar="N", help="Up to this position, without it.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    generation: Annotated[
        str | None, typer.Option("--generation", metavar="NAME", help="Whose semantic log; else the one that answers.")
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, metavar="P", help="Whose log, where the topics have several.")
    ] = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Replay a log as JSON lines. Each event comes in its envelope; times within `data` are UTC microseconds."""
    from asof.runtime.results import event_json

    del as_json  # it has no other form
    if generation is not None and log != "semantic":
        raise InvalidInput("only the semantic log has generations", field="--generation")
    with calls.existing(data, kafka) as memory:
        named = (generation or memory.active()) if log == "semantic" else None
        for record in memory.events(log, start, stop, follow=follow, generation=named, partition=partition):
            show.data(event_json(record, log, named), at_once=follow)
