"""The tool that finds people, places and things: search_nodes; and entities as every tool shows them."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import Any, ClassVar, Final

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Several, like
from asof.mcp.found_answers import RecalledNode, RecalledNodes
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_id
from asof.mcp.tools import Access, Reply, tool
from asof.operations import entities
from asof.operations.answers import Entity
from asof.operations.errors import InvalidInput
from asof.operations.queries import EntitiesQuery, EntityQuery, FactSearchQuery, NeighbourhoodQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import run_as_of

_MOST: Final = 1_000  # entities of one search
_FACTS_OF_A_SUMMARY: Final = 20
_STEPS: Final = 3  # from a centre; further is as far as unconnected


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
