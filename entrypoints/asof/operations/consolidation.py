"""Consolidation: a pass over what changed in a group since the last one, asked for by a message on the log."""

from asof.operations.logs import message_at
from asof.operations.operation import operation
from asof.operations.writes import put
from asof.runtime.wiring import open_log
from asof.service.session import Session
from asof_agents.layer import batch_of
from asof_projections.model.answers import Consolidated, Consolidation
from asof_projections.model.queries import ConsolidateQuery
from asof_projections.queries.consolidations import consolidation_of
from asof_streams.messages import ConsolidationRequest


@operation()
def consolidate(session: Session, query: ConsolidateQuery) -> Consolidated:
    """Consolidate a group: detect its communities, link its duplicates and count what faded, where facts changed.

    The results are known from the request on, and no fact is among them. `dry_run`: the results that it would have;
    nothing is written. On Kafka a worker makes the pass.
    """
    if query.dry_run:
        return Consolidated(None, session.of(query.group_id).consolidation(query.group_id, session.now()))
    position = put(session, request_of(query))
    return Consolidated(position, None if session.on_kafka else consolidation_at(session, query.group_id, position))


def request_of(query: ConsolidateQuery) -> ConsolidationRequest:
    """Return the message that asks for a pass."""
    return ConsolidationRequest(group_id=query.group_id)


def consolidation_at(session: Session, group: str, position: int) -> Consolidation | None:
    """Return the results of the pass that a processed message asked for; None: it was parked."""
    source = session.of(group)
    opened = source.opened()
    _, _, at = message_at(session, position, group)
    with open_log(source.places, "semantic", opened.generation) as log:
        return consolidation_of([record.event for record in batch_of(log, at)], opened.beliefs)
