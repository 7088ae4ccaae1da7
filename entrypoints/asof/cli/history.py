"""The commands that ask about change: history, known-history, timeline, diff, changes."""

from typing import TYPE_CHECKING, Any

from asof.cli import show
from asof.cli.binding import question
from asof.cli.entities import expect_name
from asof.cli.tables import CHANGES, SEGMENTS, Table
from asof.operations import history as operations
from asof.operations.entities import expect_entity
from asof.operations.errors import NotFound

if TYPE_CHECKING:
    from asof.operations.sessions import Session

_VERSIONS = Table(
    ("fact", "fact"),
    ("from", "valid_at"),
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
    ("fact", _difference("fact")),
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
    show.talk(f"go on with --since {answer.next}")


history = question(operations.history, _VERSIONS, arguments=("id",), unknown=_expect_fact_or_entity)
known_history = question(operations.known_history, _PERIODS, arguments=("id",))
timeline = question(operations.timeline, SEGMENTS, arguments=("name",), unknown=expect_name)
diff = question(operations.diff, _DIFFERENCES)
changes = question(operations.changes, _changes)
