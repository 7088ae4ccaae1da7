"""The tools that ask for facts and entities: recall, search_memory_facts, search_nodes."""

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from functools import partial
from itertools import chain, zip_longest
from typing import Any, ClassVar, Final

from pydantic import Field

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Several, like
from asof.mcp.found_answers import Recalled, RecalledFact, RecalledFacts, RecalledItem, RecalledNode, RecalledNodes
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_fact, of_id, with_moments
from asof.mcp.tools import Access, Reply, tool
from asof.operations import context, entities, facts
from asof.operations.answers import Context, Entity
from asof.operations.errors import InvalidInput
from asof.operations.queries import (
    MAX_BUDGET,
    MIN_BUDGET,
    ContextQuery,
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
    valid_at: MaybeTime = Field(None, description="As the world was then; now, if left out.")
    known_at: MaybeTime = Field(None, description="As it was known then; all, if left out.")
    max_tokens: int = Field(1_200, ge=MIN_BUDGET + _LAST_LINE, le=MAX_BUDGET)
    kinds: Several = Field((), description="Of: entity, fact, change, episode.")
    min_probability: float | None = like(ContextQuery, "min_probability", None)
    timezone: str = like(ContextQuery, "timezone", "UTC")
    group_id: str | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone that is asked for."""
        return zone_of(self.timezone)


@tool(RecallArguments, Recalled)
async def recall(access: Access, asked: RecallArguments) -> Reply:
    """Recall what is known about a question: facts with their dates, what changed, what was said. Call it first."""
    group = access.scope.one(asked.group_id)
    given = {name: getattr(asked, name) for name in ("query", "timezone", "kinds", "min_probability")}
    query = ask(ContextQuery, {**given, "budget": asked.max_tokens - _LAST_LINE})
    moments = {name: asked.time(name) for name in ("valid_at", "known_at")}
    reached = await access.served.ask(partial(reached_by, groups=[group]))
    found = await run(access.served, context.context, query.model_copy(update={"group_id": group, **moments}))
    as_of = _moments(found, reached)
    text = with_moments(found.text, as_of)
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
    PAGING: ClassVar = frozenset({"cursor", "max_facts"})

    query: str = like(FactSearchQuery, "query")
    group_ids: Several = ()
    max_facts: int = like(FactSearchQuery, "limit", 10)
    center_node_uuid: str | None = like(FactSearchQuery, "center", None, "Facts near this entity first: name or id.")
    edge_types: Several = like(FactSearchQuery, "relations", (), "Relations, as lives_in.")
    valid_at: MaybeTime = None
    known_at: MaybeTime = None
    include_ended: bool = like(FactSearchQuery, "any_time", False, "Also what no longer holds, or not yet.")
    cursor: str | None = None
    valid_at_after: MaybeTime = None
    valid_at_before: MaybeTime = None
    invalid_at_after: MaybeTime = None
    invalid_at_before: MaybeTime = None


@tool(SearchFactsArguments, RecalledFacts)
async def search_memory_facts(access: Access, asked: SearchFactsArguments) -> Reply:
    """Find the facts that fit a query best. By default those that hold now; valid_at asks about another time."""
    groups = access.scope.several(asked.group_ids)
    pages = Pages("search_memory_facts", asked, groups)
    bounds = {name: asked.time(name) for name in asked.QUIET}
    filtered = any(bound is not None for bound in bounds.values())
    query = ask(
        FactSearchQuery,
        {
            "query": asked.query,
            "group_ids": groups,
            "limit": _MOST if filtered else min(pages.start + asked.max_facts + 1, _MOST),
            "relations": asked.edge_types,
            "center": asked.center_node_uuid or None,
            "over": "facts",
            "min_probability": 0,
            **_moments_of(asked, pages, any_time=filtered),
        },
    )
    found, reached = await run_as_of(access.served, facts.search, query, groups)
    fitting = [fact for fact in map(RecalledFact.of, found) if _within(fact, bounds)]
    part = pages.cut(fitting, asked.max_facts, (reached.valid, reached.known))
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


def _moments_of(asked: SearchFactsArguments, pages: Pages, *, any_time: bool) -> dict[str, Any]:
    """Return the moments of a search: those of the first page, where it is about a later one."""
    if not pages.is_first:
        valid, known = pages.moments
        return {"valid_at": valid, "known_at": known, "any_time": valid is None}
    valid, known = asked.time("valid_at"), asked.time("known_at")
    if valid is not None and asked.include_ended:
        raise InvalidInput("it is of any time: leave it or valid_at out", field="include_ended")
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
    """Graphiti's arguments of search_nodes, the known moment, and the page."""

    PAGING: ClassVar = frozenset({"cursor", "max_nodes"})

    query: str = like(EntitiesQuery, "like")
    group_ids: Several = ()
    max_nodes: int = like(FactSearchQuery, "limit", 10)
    entity_types: Several = like(FactSearchQuery, "entity_types", (), "Such as Person.")
    center_node_uuid: str | None = like(NeighbourhoodQuery, "name", None)
    known_at: MaybeTime = None
    cursor: str | None = None


@tool(SearchNodesArguments, RecalledNodes)
async def search_nodes(access: Access, asked: SearchNodesArguments) -> Reply:
    """Find people, places and things by name, with a summary of each."""
    groups = access.scope.several(asked.group_ids)
    pages = Pages("search_nodes", asked, groups)
    known = asked.time("known_at") if pages.is_first else pages.moments[1]
    limit = _MOST if asked.entity_types or asked.center_node_uuid else min(pages.start + asked.max_nodes + 1, _MOST)
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
    if asked.center_node_uuid:
        merged = await access.served.ask(partial(_nearest, center=asked.center_node_uuid, merged=merged, known=known))
    part = pages.cut(merged, asked.max_nodes, (None, reached.known))
    answer = RecalledNodes(
        group_ids=groups,
        as_of=Moments.of(reached),
        unavailable=None,
        vectors_behind=behind,
        next_cursor=part.next_cursor,
        message="Nodes retrieved successfully" if part.items else "No relevant nodes found",
        nodes=await access.served.ask(partial(nodes_of, found=part.items, known=known)),
    )
    return Reply(answer, block(answer, [_node_line(node) for node in answer.nodes] or ["No names fit."]))


def _nearest(session: Any, center: str, merged: Sequence[Entity], known: int | None) -> list[Entity]:
    """Return entities by how far they are from a centre."""
    steps = _steps_from(session, center, dict.fromkeys(each.group_id for each in merged), known)
    return sorted(merged, key=lambda each: steps.get(each.uuid, _STEPS + 1))


def _steps_from(session: Any, center: str, groups: Iterable[str], known: int | None) -> dict[str, int]:
    """Return how many steps entities are away from a centre."""
    steps: dict[str, int] = {}
    for group in groups:
        around = ask(NeighbourhoodQuery, {"name": center, "hops": _STEPS, "group_id": group, "known_at": known})
        for hop in entities.neighbourhood(session, around):
            for end in chain.from_iterable((fact.subject_uuid, fact.object_uuid) for fact in hop.facts):
                steps.setdefault(str(end), hop.hop)
    return {**steps, center: 0}


def nodes_of(session: Any, found: Iterable[Entity], known: int | None) -> tuple[RecalledNode, ...]:
    """Return entities with what their profiles say, as it was known at a moment; None: now."""
    return tuple(_node_of(session, each, known) for each in found)


def _node_of(session: Any, entity: Entity, known: int | None) -> RecalledNode:
    about = {"name": entity.uuid, "group_id": entity.group_id, "known_at": known, "limit": _FACTS_OF_A_SUMMARY}
    return RecalledNode.of(entity, entities.entity(session, ask(EntityQuery, about)))


def _node_line(node: RecalledNode) -> str:
    kind = f" ({quote(node.labels[-1])})" if len(node.labels) > 1 else ""
    summary = f": {quote(node.summary)}" if node.summary else ""
    return f"- {quote(node.name)}{kind}{summary} {of_id(node.uuid)}"
