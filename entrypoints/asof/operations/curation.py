"""Curation: the lists that wait for a person, and the verbs with which one says who is whom and which fact stands."""

from heapq import merge as merge_sorted

from asof.operations.logs import message_at
from asof.operations.operation import operation
from asof.operations.writes import put, request
from asof.runtime.inbound_message import InboundMessage
from asof.service.session import Session
from asof_projections.model.answers import Contradiction, ParkedMessage
from asof_projections.model.queries import MAX_RETRIES, ContradictionsQuery, ParkedQuery, RetryQuery, SettleRequest
from asof_projections.model.write_answers import Requested, Retried, Settled
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.messages import FactStatement, IdentityStatement, RetryRequest, accept
from asof_streams.sqlite_log import SqliteLog


@operation(items="contradictions")
def contradictions(session: Session, query: ContradictionsQuery) -> list[Contradiction]:
    """Return the contradictions that are open, by when they were flagged; `settled`: the settled ones too."""
    beliefs = session.of(query.group).opened().beliefs
    rows = beliefs.contradictions(query.group, query.known_at, settled=query.settled, limit=query.limit)
    return list(map(Contradiction.of, rows))


@operation(items="messages")
def parked(session: Session, query: ParkedQuery) -> list[ParkedMessage]:
    """Return the messages of which nothing could be made, or about which a model gave no answer, each with the reason.

    They come in the order of the log; one that was retried well is no longer among them.
    """
    source = session.of(query.group)
    opened = source.opened()
    with SqliteLog(source.places.messages) as log:
        after = log.caused_by(query.after + 1) - 1
        stores = (opened.episodes, opened.beliefs)
        rows = (store.parked(query.group, after=after, limit=query.limit) for store in stores)
        found = {row.position: row for row in merge_sorted(*rows, key=lambda row: (row.position, row.state))}
        listed = list(found.values())[: query.limit]
        return [ParkedMessage.of(row._replace(position=log.cause_of(row.position))) for row in listed]


@operation(items="retries")
def retry(session: Session, query: RetryQuery) -> list[Retried]:
    """Process messages again that were parked or failed: those at some positions, else all of `parked`, oldest first.

    What follows is known from the retry on, and valid as of the message. Of a message that was neither parked nor
    failed nothing changes. At most 1000 are retried at once. NotFound: the group has no message at a position.
    """
    requests = retry_requests(session, query)
    return [Retried(request.position, put(session, request)) for request in requests]


def retry_requests(session: Session, query: RetryQuery) -> list[RetryRequest]:
    """Return the messages that ask for retries, one for each, so that each is one step for whoever reads.

    A position that is given twice is retried once. What names no group is left out of all: nothing can ever be made
    of it.
    """
    if not query.positions:
        waiting = ParkedQuery(group_id=query.group_id, all_groups=query.all_groups, after=-1, limit=MAX_RETRIES)
        rows = [row for row in parked(session, waiting) if row.group_id]
        return [RetryRequest(group_id=row.group_id, position=row.position) for row in rows]
    groups = [(position, message_at(session, position, query.group)[0]) for position in dict.fromkeys(query.positions)]
    for position, group in groups:
        if query.group not in (None, group):
            raise NotFound(f"group {query.group} has no message {position}")
        if not group:
            raise InvalidInput(f"message {position} names no group, so nothing can be made of it", field="positions")
    return [RetryRequest(group_id=group, position=position) for position, group in groups]


def retries_at(session: Session, positions: range) -> list[Retried]:
    """Return what an earlier request retried, by the positions of its messages; what was erased since is left out."""
    found = [(message_at(session, position)[1], position) for position in positions]
    return [
        Retried(record.event.position, position)
        for record, position in found
        if record is not None and isinstance(record.event, RetryRequest)
    ]


@operation()
def settle(session: Session, query: SettleRequest) -> Settled:
    """Settle every open contradiction of a fact by keeping it: the facts that it contradicts are retracted.

    Each is a message on the log; retracting its retraction takes it back. NotFound: no contradiction of it is open.
    """
    statements = settling(session, query)
    position = session.sink().put(list(map(InboundMessage, statements)))
    return Settled(position, query.id, tuple(statement.ref or "" for statement in statements))


def settling(session: Session, query: SettleRequest) -> list[FactStatement]:
    """Return the messages that settle the open contradictions of a fact. NotFound: none is open."""
    found = contradictions.ask(session, group_id=query.group_id)
    pairs = (pair for pair in ((one.earlier, one.later) for one in found) if query.id in pair)
    others = dict.fromkeys(fact for pair in pairs for fact in pair if fact != query.id)
    if not others:
        raise NotFound(f"no contradiction of the fact {query.id} is open")
    return [accept(FactStatement, {"group_id": query.group_id, "op": "retract", "ref": fact}) for fact in others]


@operation()
def state_identity(session: Session, query: IdentityStatement) -> Requested:
    """State that two entities are one, that they are two, or that one has another name; each can be taken back."""
    return request(session, query)
