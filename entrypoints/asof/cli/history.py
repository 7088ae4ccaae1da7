"""The commands that ask about change: history, known-history, timeline, diff, changes."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from asof.cli import show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.facts import explain
from asof.cli.parameters import Parameters
from asof.cli.tables import CHANGES, SEGMENTS, Table, sentence, start
from asof.operations import facts
from asof.operations import history as operations
from asof.operations.entities import expect_entity, expect_names
from asof.operations.errors import NotFound
from asof.operations.ids import with_whole_ids

if TYPE_CHECKING:
    from asof.operations.sessions import Session

_VERSIONS = Table(
    ("fact", sentence),
    ("from", start),
    ("until", "invalid_at"),
    ("believed from", "known_from"),
    ("until", "known_to"),
    ("because", lambda version: " then ".join(cause.kind for cause in (version.opened, version.closed) if cause)),
)
_PERIODS = Table(("fact", "fact"), ("believed from", "known_from"), ("until", "known_to"), nothing="never believed")


def _difference(path: str) -> Any:
    return lambda difference: getattr(difference.after or difference.before, path)


_DIFFERENCES = Table(
    ("change", "change"),
    ("fact", lambda difference: sentence(difference.after or difference.before)),
    ("from", _difference("valid_at")),
    ("until", _difference("invalid_at")),
    ("id", _difference("uuid")),
    nothing="no difference",
)


def _expect_fact_or_entity(session: "Session", query: Any) -> None:
    try:
        expect_entity(session, query.id, query)
    except NotFound:
        raise NotFound("no fact has this id, and no entity this name") from None


def _changes(answer: Any) -> None:
    CHANGES(answer.changes)
    show.talk(f"go on with --after {answer.next}")


history = question(operations.history, _VERSIONS, arguments=("id",), unknown=_expect_fact_or_entity)
known_history = question(operations.known_history, _PERIODS, arguments=("id",))
timeline = question(operations.timeline, SEGMENTS, arguments=("name",))


@command(operations.diff, parameters=Parameters(operations.diff.query))
def diff(
    call: Call,
    query: Any,
    *,
    why: Annotated[bool, typer.Option("--why", help="Show the words behind each change too.")] = False,
) -> None:
    """Ask what differs between two points (valid, known), each change under one label."""
    with call.existing() as session:
        query = with_whole_ids(session, query)
        changes = operations.diff(session, query)
        if not changes:
            expect_names(session, query)
        if not why:
            call.answer(operations.diff, changes, _DIFFERENCES)
            return
        reasons = [facts.why.ask(session, id=_difference("uuid")(one)) for one in changes]
    if call.as_json:
        told = zip(operations.diff.to_json(changes), map(facts.why.to_json, reasons), strict=True)
        show.data([{**change, "why": reason} for change, reason in told])
        return
    for change, reason in zip(changes, reasons, strict=True):
        show.line(f"{change.change}:")
        explain(reason)
    if not changes:
        show.talk("no difference")


changes = question(operations.changes, _changes)
