"""The command that replays a log into a sink: replay."""

from typing import Annotated, Any

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.options import Partition
from asof.cli.parameters import Parameters
from asof.operations import replay as operations


@command(operations.replay_into, parameters=Parameters(operations.ReplayQuery))
def replay(
    call: Call,
    query: Any,
    *,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="DIR, for messages; kafka://HOST:PORT/TOPIC; MODULE:CLASS, your projection; - is standard output.",
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    partition: Partition = None,
) -> None:
    """Replay a log into another directory, a topic, or a projection of your own. It goes on where it stopped.

    A directory has each message once; others have each event at least once: after a failure some come again, with the
    same ids. A class is looked for in the working directory, too.
    """
    with call.existing() as session:
        done = operations.replay_into(
            session,
            query,
            target,
            show=lambda event: show.data(event.to_json(), at_once=follow),
            follow=follow,
            partition=partition,
        )
    if target == "-":
        return
    if call.as_json:
        show.data({"log": done.log, "start": done.start, "end": done.end, "events": done.events})
    else:
        show.line(f"replayed {show.counted(done.events, 'event')} of {done.log}, from {done.start} to {done.end}")
