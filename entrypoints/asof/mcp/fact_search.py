"""The tool that finds exact facts: search_memory_facts."""

from datetime import datetime
from typing import Any, ClassVar, Final

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Several, like
from asof.mcp.found_answers import RecalledFact, RecalledFacts
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_fact
from asof.mcp.tools import Access, Reply, tool
from asof.operations import facts
from asof.operations.errors import InvalidInput
from asof.operations.queries import FactSearchQuery, ask
from asof.operations.service_answers import run_as_of
from asof.operations.times import from_datetime

_MOST: Final = 1_000  # facts of one search


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
