"""Curation: the lists that wait for a person, and the verbs with which one says who is whom and which fact stands."""

from heapq import merge as merge_sorted

from asof.operations.operation import operation
from asof.operations.writes import put
from asof.runtime.inbound_message import InboundMessage
from asof.service.session import Session
from asof_projections.model.answers import Contradiction, ParkedMessage, Requested, Settled
from asof_projections.model.queries import ContradictionsQuery, ParkedQuery, SettleRequest
from asof_streams.errors import NotFound
from asof_streams.messages import FactStatement, IdentityStatement, accept


@operation(items="contradictions")
def contradictions(session: Session, query: ContradictionsQuery) -> list[Contradiction]:
    """Return the contradictions that are open, those flagged first first; `settled`: the settled ones too."""
    beliefs = session.of(query.group).opened().beliefs
    rows = beliefs.contradictions(query.group, query.known_at, settled=query.settled, limit=query.limit)
    return list(map(Contradiction.of, rows))


@operation(items="messages")
def parked(session: Session, query: ParkedQuery) -> list[ParkedMessage]:
    """Return the messages of which nothing could be made, in the order of the log, each with the reason."""
    opened = session.of(query.group).opened()
    stores = (opened.episodes, opened.beliefs)
    rows = (store.parked(query.group, after=query.after, limit=query.limit) for store in stores)
    found = {row.position: row for row in merge_sorted(*rows, key=lambda row: row.position)}
    return [ParkedMessage.of(row) for row in list(found.values())[: query.limit]]


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
    return Requested(put(session, query))
