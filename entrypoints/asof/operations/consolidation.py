"""Consolidation: a pass over what changed in a group since the last one, asked for by a message on the log."""

from asof.operations.logs import message_at
from asof.operations.operation import operation
from asof.operations.writes import put
from asof.service.session import Session
from asof_projections.model.queries import ConsolidateQuery
from asof_projections.model.write_answers import Consolidated
from asof_streams.messages import ConsolidationRequest


@operation()
def consolidate(session: Session, query: ConsolidateQuery) -> Consolidated:
    """Consolidate a group: detect its communities, link its duplicates and count what faded, where facts changed.

    The results are known from the request on, and no fact is among them. `undo`: the last pass that still stands is
    undone instead. `dry_run`: the results that it would have; nothing is written. On Kafka a worker makes the pass.
    """
    if query.dry_run:
        return session.of(query.group_id).consolidation(request_of(query), session.now())
    position = put(session, request_of(query))
    return Consolidated(position, None) if session.on_kafka else consolidated_at(session, query.group_id, position)


def request_of(query: ConsolidateQuery) -> ConsolidationRequest:
    """Return the message that asks for a pass, or for undoing one."""
    return ConsolidationRequest(group_id=query.group_id, undo=query.undo)


def consolidated_at(session: Session, group: str, position: int) -> Consolidated:
    """Return what the processed request at a position came to."""
    _, _, at = message_at(session, position, group)
    return session.of(group).consolidated(position, at)
