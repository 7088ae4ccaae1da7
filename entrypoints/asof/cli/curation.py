"""The commands of curation: merge, split, alias, unalias, contradictions, settle, parked, retry."""

from collections.abc import Callable
from typing import Any, Final

from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.cli.writes import write_request
from asof.operations import curation as operations
from asof.operations.operation import DEFAULT_GROUP

_FIELDS: Final = ("entity", "into", "name", "merge_id")
_HELPS: Final = {
    "entity": "The entity's exact name or id.",
    "into": "The other entity's exact name or id.",
    "name": "The other name.",
    "group_id": "The group that it belongs to.",
}


def _identity(op: str, help_: str, *arguments: str) -> Callable[..., int | None]:
    """Return the command that states an identity with an op."""

    def state(call: Call, query: Any) -> None:
        write_request(call, operations.state_identity, query)

    state.__name__, state.__doc__ = op, help_
    parameters = Parameters(
        operations.state_identity.query,
        arguments=arguments,
        required=arguments,
        left_out=[name for name in _FIELDS if name not in arguments],
        defaults={"group_id": DEFAULT_GROUP},
        helps=_HELPS,
        fixed={"op": op},
    )
    return command(operations.state_identity, parameters=parameters)(state)


merge = _identity("merge", "State that two entities are one. Their past stays as it was known.", "entity", "into")
split = _identity("split", "State that two entities are two. It takes a merge back.", "entity", "into")
alias = _identity("alias", "State that an entity has another name.", "entity", "name")
unalias = _identity("unalias", "Take back another name that was stated.", "entity", "name")


@command(operations.settle, parameters=Parameters(operations.settle.query, arguments=("id",), names={"id": "FACT"}))
def settle(call: Call, query: Any) -> None:
    """Keep one fact of the contradictions that are open, and retract the others. Retracting that takes it back."""
    write_request(call, operations.settle, query)


contradictions = question(
    operations.contradictions,
    Table(
        ("earlier", "earlier"), ("later", "later"), ("flagged", "flagged_at"), ("settled", "settled_at"), ("id", "uuid")
    ),
)
parked = question(
    operations.parked,
    Table(("message", "position"), ("recorded at", "recorded_at"), ("state", "state"), ("reason", "reason")),
)


def _retry(call: Call, query: Any) -> None:
    with call.session() as session:
        answer = operations.retry(session, query)
    call.answer(operations.retry, answer, Table(("message", "position"), ("retried by", "request")))


_retry.__name__ = "retry"
_retry.__doc__ = """Process messages again that were parked or failed.

Without a position, all that `asof parked` lists.
"""
retry = command(
    operations.retry,
    parameters=Parameters(operations.retry.query, arguments=("positions",), names={"positions": "POSITION"}),
)(_retry)
