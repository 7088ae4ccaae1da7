"""The commands that ask about the logs: events, message, episodes, episode, groups."""

from typing import Annotated, Any

import typer

from asof.cli import show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.effects import NOT_UNDERSTOOD, show_beliefs, show_duplicates
from asof.cli.options import Partition
from asof.cli.parameters import Parameters
from asof.cli.tables import CHANGES, Table
from asof.operations import logs as operations

_GROUPS = Table(("group", "group_id"), ("episodes", "episodes"), ("last recorded", "last_recorded_at"))
_EPISODES = Table(("message", "position"), ("said", "valid_at"), ("by", "role"), ("content", "content"), ("id", "uuid"))


@command(operations.events, operations.replay, parameters=Parameters(operations.events.query))
def events(
    call: Call,
    query: Any,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    partition: Partition = None,
) -> None:
    """Replay a log as JSON lines. Each event comes in its envelope; times within `data` are UTC microseconds."""
    with call.existing() as session:
        for event in operations.replay(session, query, follow=follow, partition=partition):
            show.data(event.to_json(), at_once=follow)


def _episode(answer: Any) -> None:
    speaker = f"{answer.role}, " if answer.role else ""
    show.line(f"{speaker}{show.when(answer.valid_at)}, message {answer.position}, group {answer.group_id}")
    show.line(answer.content)
    show_beliefs(answer.effect)


def _outcome(answer: Any) -> None:
    match answer.state:
        case "done":
            show.line(f"message {answer.position}: done, {answer.mentions} mentions, episode {answer.episode_id}")
            if answer.effect.understood:
                CHANGES(answer.changes)
                show_duplicates(answer.effect)
            else:
                show.line(NOT_UNDERSTOOD)
        case "parked":
            show.line(f"message {answer.position}: parked: {answer.reason}")
        case state:
            show.line(f"message {answer.position}: {state}")


groups = question(operations.groups, _GROUPS)
episodes = question(operations.episodes, _EPISODES)
episode = question(operations.episode, _episode, arguments=("id",))
message = question(operations.message, _outcome, arguments=("position",))
