"""The tools that ask for facts and entities: recall, search_memory_facts, search_nodes."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, zip_longest
from typing import Any, ClassVar, Final

from pydantic import Field

from asof.mcp.answers import Moments, Recalled, RecalledFact, RecalledFacts, RecalledItem, RecalledNode, RecalledNodes
from asof.mcp.arguments import Arguments, Several, like, read_time
from asof.mcp.text import block, of_fact, of_id, of_moments
from asof.mcp.tools import Access, Reply, cut, page_of, tool
from asof.operations import context, entities, facts
from asof.operations.answers import Context, Entity
from asof.operations.errors import InvalidInput
from asof.operations.queries import (
    MAX_BUDGET,
    MIN_BUDGET,
    ContextQuery,
    Cursor,
    EntitiesQuery,
    EntityQuery,
    FactSearchQuery,
    NeighbourhoodQuery,
    ask,
)
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by, run, run_as_of
from asof.operations.times import from_datetime, zone_of

_MOST: Final = 1_000  # facts of one search
_FACTS_OF_A_SUMMARY: Final = 20
_LAST_LINE: Final = 60  # tokens that the line of the moments takes at most
_STEPS: Final = 3  # from a centre; further is as far as unconnected


class RecallArguments(Arguments):
    """The arguments of recall."""

    query: str = like(ContextQuery, "query")
    valid_at: str | None = like(ContextQuery, "valid_at", None, "As the world was then; now, if left out.")
    known_at: str | None = like(ContextQuery, "known_at", None, "As it was known then; all, if left out.")
    max_tokens: int = Field(1_200, ge=MIN_BUDGET + _LAST_LINE, le=MAX_BUDGET)
    kinds: Several = Field((), description="Of: entity, fact, change, episode.")
    min_probability: float | None = like(ContextQuery, "min_probability", None)
    timezone: str = like(ContextQuery, "timezone", "UTC")
    group_id: str | None = None


@tool(RecallArguments, Recalled)
async def recall(access: Access, asked: RecallArguments) -> Reply:
    """Recall what is known about a question: facts with their dates, what changed, what was said. Call it first."""
    group = access.scope.one(asked.group_id)
    given = {name: getattr(asked, name) for name in ("query", "timezone", "kinds", "min_probability")}
    query = ask(ContextQuery, {**given, "budget": asked.max_tokens - _LAST_LINE})
    zone = zone_of(asked.timezone)
    moments = {name: read_time(name, getattr(asked, name), zone) for name in ("valid_at", "known_at")}
    reached = await access.served.ask(partial(reached_by, groups=[group]))
    found = await run(access.served, context.context, query.model_copy(update={"group_id": group, **moments}))
    as_of = _moments(found, reached)
    text = found.text.replace("</memory>", f"{of_moments(as_of)}\n</memory>")
    items = tuple(RecalledItem(kind=item.kind, uuid=_uuid_of(item)) for item in found.items)
    answer = Recalled(
        group_ids=(group,),
        as_of=as_of,
        unavailable=found.unavailable,
        vectors_behind=found.vectors_behind,
        text=text,
        tokens=found.tokens + _LAST_LINE,
        items=items,
        left_out=len(found.left_out),
    )
    return Reply(answer, text)


def _moments(found: Context, reached: Reached) -> Moments:
    position = reached.position if found.position is None else found.position
    lag = max(reached.lag + reached.position - position, 0)
    return Moments(valid_at=found.valid_at, known_at=found.known_at, position=position, lag=lag)


def _uuid_of(item: Any) -> str:
    uuid: str = getattr(item, "fact" if item.kind == "change" else item.kind).uuid
    return uuid


class SearchFactsArguments(Arguments):
    """Graphiti's arguments of search_memory_facts, the moments, and the page."""

    QUIET: ClassVar = frozenset({"valid_at_after", "valid_at_before", "invalid_at_after", "invalid_at_before"})

    query: str = like(FactSearchQuery, "query")
    group_ids: Several = ()
    max_facts: int = like(FactSearchQuery, "limit", 10)
    center_node_uuid: str | None = like(FactSearchQuery, "center", None, "Facts near this entity first: name or id.")
    edge_types: Several = like(FactSearchQuery, "relations", (), "Relations, as lives_in.")
    valid_at: str | None = None
    known_at: str | None = None
    include_ended: bool = like(FactSearchQuery, "any_time", False, "Also what no longer holds, or not yet.")
    cursor: str | None = None
    valid_at_after: str | None = None
    valid_at_before: str | None = None
    invalid_at_after: str | None = None
    invalid_at_before: str | None = None


@tool(SearchFactsArguments, RecalledFacts)
async def search_memory_facts(access: Access, asked: SearchFactsArguments) -> Reply:
    """Find the facts that fit a query best. By default those that hold now; valid_at asks about another time."""
    groups, page = access.scope.several(asked.group_ids), page_of("search_memory_facts", asked.cursor)
    bounds = {name: read_time(name, getattr(asked, name), UTC) for name in asked.QUIET}
    filtered = any(bound is not None for bound in bounds.values())
    start = 0 if page is None else int(page.after[0])
    query = ask(
        FactSearchQuery,
        {
            "query": asked.query,
            "group_ids": groups,
            "limit": _MOST if filtered else min(start + asked.max_facts + 1, _MOST),
            "relations": asked.edge_types,
            "center": asked.center_node_uuid or None,
            "over": "facts",
            "min_probability": 0,
            **_moments_of(asked, page, any_time=filtered),
        },
    )
    found, reached = await run_as_of(access.served, facts.search, query, groups)
    fitting = [fact for fact in map(RecalledFact.of, found) if _within(fact, bounds)]
    part = cut("search_memory_facts", fitting, page, asked.max_facts, (reached.valid, reached.known))
    answer = RecalledFacts(
        group_ids=groups,
        as_of=Moments.of(reached),
        unavailable=found.unavailable,
        vectors_behind=found.vectors_behind,
        next_cursor=part.next_cursor,
        message="Facts retrieved successfully" if part.items else "No relevant facts found",
        facts=tuple(part.items),
    )
    return Reply(answer, block(answer, [f"- {of_fact(fact)}" for fact in answer.facts] or ["No facts fit."]))


def _moments_of(asked: SearchFactsArguments, page: Cursor | None, *, any_time: bool) -> dict[str, Any]:
    """Return the moments of a search: those of the first page, where it is about a later one."""
    if page is not None:
        return {"valid_at": page.valid, "known_at": page.known, "any_time": page.valid is None}
    valid, known = (read_time(name, getattr(asked, name), UTC) for name in ("valid_at", "known_at"))
    return {"valid_at": valid, "known_at": known, "any_time": asked.include_ended or (any_time and valid is None)}


def _within(fact: RecalledFact, bounds: dict[str, int | None]) -> bool:
    """Whether a fact begins and ends within the bounds that are given; an open end is within none."""

    def fits(field: str) -> bool:
        moment: datetime | None = getattr(fact, field)
        after, before = bounds[f"{field}_after"], bounds[f"{field}_before"]
        if moment is None:
            return after is None and before is None
        at = from_datetime(moment)
        return (after is None or at >= after) and (before is None or at <= before)

    return fits("valid_at") and fits("invalid_at")


class SearchNodesArguments(Arguments):
    """Graphiti's arguments of search_nodes, and the known moment."""

    query: str = like(EntitiesQuery, "like")
    group_ids: Several = ()
    max_nodes: int = like(FactSearchQuery, "limit", 10)
    entity_types: Several = like(FactSearchQuery, "entity_types", (), "Such as Person.")
    center_node_uuid: str | None = like(NeighbourhoodQuery, "name", None)
    known_at: str | None = None


@tool(SearchNodesArguments, RecalledNodes)
async def search_nodes(access: Access, asked: SearchNodesArguments) -> Reply:
    """Find people, places and things by name, with a summary of each."""
    groups, known = access.scope.several(asked.group_ids), read_time("known_at", asked.known_at, UTC)
    limit = _MOST if asked.entity_types or asked.center_node_uuid else asked.max_nodes
    found: list[list[Entity]] = []
    behind = 0
    for group in groups:
        query = ask(EntitiesQuery, {"like": asked.query, "group_id": group, "limit": limit, "known_at": known})
        try:
            nearest, reached = await run_as_of(access.served, entities.entities, query, groups)
        except InvalidInput as error:  # nothing embeds
            raise InvalidInput(error.reason, field="query") from None
        behind += nearest.vectors_behind
        kinds = {kind.casefold() for kind in asked.entity_types}
        found.append([each for each in nearest if not kinds or (each.type or "").casefold() in kinds])
    merged = [each for each in chain.from_iterable(zip_longest(*found)) if each is not None]
    describe = partial(_described, asked=asked, merged=merged, known=known)
    answer = RecalledNodes(
        group_ids=groups,
        as_of=Moments.of(reached),
        unavailable=None,
        vectors_behind=behind,
        message="Nodes retrieved successfully" if merged else "No relevant nodes found",
        nodes=tuple(await access.served.ask(describe)),
    )
    return Reply(answer, block(answer, [_node_line(node) for node in answer.nodes] or ["No names fit."]))


def _described(
    session: Any, asked: SearchNodesArguments, merged: Sequence[Entity], known: int | None
) -> list[RecalledNode]:
    if asked.center_node_uuid:
        groups = dict.fromkeys(each.group_id for each in merged)
        steps = _steps_from(session, asked.center_node_uuid, groups, known)
        merged = sorted(merged, key=lambda each: steps.get(each.uuid, _STEPS + 1))
    return [node_of(session, each, known) for each in merged[: asked.max_nodes]]


def _steps_from(session: Any, center: str, groups: Iterable[str], known: int | None) -> dict[str, int]:
    """Return how many steps entities are away from a centre."""
    steps: dict[str, int] = {}
    for group in groups:
        around = ask(NeighbourhoodQuery, {"name": center, "hops": _STEPS, "group_id": group, "known_at": known})
        for hop in entities.neighbourhood(session, around):
            for end in chain.from_iterable((fact.subject_uuid, fact.object_uuid) for fact in hop.facts):
                steps.setdefault(str(end), hop.hop)
    return {**steps, center: 0}


def node_of(session: Any, entity: Entity, known: int | None) -> RecalledNode:
    """Return an entity with what its profile says, as it was known at a moment; None: now."""
    about = {"name": entity.uuid, "group_id": entity.group_id, "known_at": known, "limit": _FACTS_OF_A_SUMMARY}
    return RecalledNode.of(entity, entities.entity(session, ask(EntityQuery, about)))


def _node_line(node: RecalledNode) -> str:
    kind = f" ({quote(node.labels[-1])})" if len(node.labels) > 1 else ""
    summary = f": {quote(node.summary)}" if node.summary else ""
    return f"- {quote(node.name)}{kind}{summary} {of_id(node.uuid)}"
