"""The command that erases a group, or a part of it."""

from typing import Annotated, Any, Final

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations import erasures
from asof.operations.errors import InvalidInput

_RECORDS: Final = Table(("log", "log"), ("held", "held"), ("erased", "erased"))
_MESSAGES: Final = Table(
    ("message", "position"), ("episode", "episode"), ("said at", "valid_at"), ("role", "role"), ("content", "content")
)


@command(
    erasures.erase,
    erasures.erasure_preview,
    parameters=Parameters(
        erasures.erase.query,
        arguments=("group_id",),
        names={"group_id": "GROUP"},
        helps={"group_id": "The group to forget; the options name a part of it."},
    ),
)
def erase(
    call: Call,
    query: Any,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Yes, for ever.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be erased.")] = False,
) -> None:
    """Make everything of a group gone, or a part of it, for ever. At every moment of both clocks, as if it never was.

    With a person, a phrase or times only those messages that fit all of them; what others say stays. With Kafka a
    worker erases when it processes the request, in what answers; the records on the topics stay, and nobody can read
    them where they are encrypted.
    """
    if dry_run:
        with call.existing() as session:
            preview = erasures.erasure_preview(session, query)
        _show_preview(call, preview)
        return
    if not yes:
        raise InvalidInput("nothing was erased: it cannot be undone, so it needs --yes")
    with call.existing() as session:
        erasure = erasures.erase(session, query)
    if call.as_json:
        show.data({"group_id": query.group_id, **erasures.erase.to_json(erasure)})
    elif erasure.done is None:
        show.line(f"asked for at offset {erasure.position}; no worker has carried it out yet")
    else:
        show.line(
            f"{_what(erasure)}; the request is {'at offset' if session.on_kafka else 'message'} {erasure.position}"
        )
        if erasure.keys_destroyed:
            show.talk("its keys are destroyed: no log and no backup of it can be read; graphs of copies are not erased")
        elif session.on_kafka:
            show.talk("its records stay on the topics, and can be read there: asof topics rewrite removes them")
        if not erasure.done:
            show.talk(
                "files still hold some of it, since a reader keeps them from being rewritten (asof stats: erasing)"
            )


def _what(erasure: Any) -> str:
    if erasure.messages is not None:
        return f"erased {show.counted(len(erasure.messages), 'message')}"
    return "erased" if any(log.erased for log in erasure.logs) else "the group has no messages; nothing was erased"


def _show_preview(call: Call, preview: Any) -> None:
    if call.as_json:
        show.data(erasures.erasure_preview.to_json(preview))
    elif preview.messages is None:
        _RECORDS(preview.logs)
    else:
        _MESSAGES(preview.messages)
        show.talk(f"{show.counted(len(preview.messages), 'message')} would be erased")
