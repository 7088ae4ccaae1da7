"""The tools that ask what differs: what_changed between two moments, compare_beliefs between two beliefs of one."""

from functools import partial
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Time, like
from asof.mcp.belief_answers import BeliefsCompared, ChangesBetween, RecalledChange
from asof.mcp.found_answers import RecalledFact
from asof.mcp.identifiers import expect_known
from asof.mcp.pages import Cut, Pages
from asof.mcp.text import block, of_fact, when
from asof.mcp.tools import Access, Reply, tool
from asof.operations import history
from asof.operations.answers import Difference, Fact
from asof.operations.errors import InvalidInput
from asof.operations.queries import DiffQuery, ask
from asof.operations.service_answers import Reached, reached_by
from asof.operations.times import from_datetime, to_datetime

_PAGE: Final = 50  # changes


class Compared(NamedTuple):
    """Two points (valid, known): the first, and how far an answer goes, which has the second."""

    first: tuple[int, int] | None
    reached: Reached


class WhatChangedArguments(Arguments):
    """The arguments of what_changed."""

    since: Time = Field(description="A time, or words such as yesterday.")
    until: MaybeTime = None
    entity: str | None = like(DiffQuery, "about", None)
    axis: Literal["known", "valid"] = Field(
        "known", description="known: between what was known then and now. valid: in the world, by what is known now."
    )
    cursor: str | None = None
    group_id: str | None = None


@tool(WhatChangedArguments, ChangesBetween)
async def what_changed(access: Access, asked: WhatChangedArguments) -> Reply:
    """Show what differs between two moments: facts that began, ended, were learned, retracted or revised."""
    group = access.scope.one(asked.group_id)
    pages = Pages("what_changed", asked, [group])
    found, reached = await access.served.ask(partial(_changes, asked=asked, group=group, pages=pages))
    since = asked.time("since")
    assert since is not None
    answer = ChangesBetween(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=found.next_cursor,
        axis=asked.axis,
        since=to_datetime(since),
        until=to_datetime(since if reached.valid is None else reached.valid),
        changes=tuple(map(_change_of, found.items)),
    )
    heading = f"Since {when(answer.since)}, until {when(answer.until)}:"
    lines = list(map(_change_line, answer.changes)) or ["Nothing changed."]
    return Reply(answer, block(answer, [heading, *lines]))


def _changes(session: Any, asked: WhatChangedArguments, group: str, pages: Pages) -> tuple[Cut[Difference], Reached]:
    """Return what differs between two moments, and how far the answer goes."""
    since, until = asked.time("since"), asked.time("until")
    assert since is not None
    reached = reached_by(session, [group])
    valid, known = (reached.valid, reached.known) if pages.is_first else pages.moments
    if pages.is_first and until is not None:
        valid, known = until, until if asked.axis == "known" else known
    if valid is not None and since >= valid:
        raise InvalidInput("it must be before until, or before now", field="since")
    reached = reached._replace(valid=valid, known=known)
    first = None if known is None else (since, since if asked.axis == "known" else known)
    return _differences(session, asked.entity, None, group, pages, Compared(first, reached)), reached


class CompareBeliefsArguments(Arguments):
    """The arguments of compare_beliefs."""

    before: Time = Field(description="As it was known then.")
    after: MaybeTime = Field(None, description="And as it was known then; now, if left out.")
    valid_at: MaybeTime = Field(None, description="Of the world at this moment; now, if left out.")
    entity: str | None = like(DiffQuery, "about", None)
    relation: str | None = like(DiffQuery, "relation", None)
    cursor: str | None = None
    group_id: str | None = None


@tool(CompareBeliefsArguments, BeliefsCompared)
async def compare_beliefs(access: Access, asked: CompareBeliefsArguments) -> Reply:
    """Compare what was believed of one moment of the world at two times: what was learned, retracted or revised."""
    group = access.scope.one(asked.group_id)
    pages = Pages("compare_beliefs", asked, [group])
    found, reached = await access.served.ask(partial(_beliefs, asked=asked, group=group, pages=pages))
    before = asked.time("before")
    assert before is not None
    answer = BeliefsCompared(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=found.next_cursor,
        before=to_datetime(before),
        after=to_datetime(before if reached.known is None else reached.known),
        changes=tuple(map(_change_of, found.items)),
    )
    heading = f"What was known until {when(answer.before)}, and until {when(answer.after)}:"
    lines = list(map(_change_line, answer.changes)) or ["The same was believed."]
    return Reply(answer, block(answer, [heading, *lines]))


def _beliefs(session: Any, asked: CompareBeliefsArguments, group: str, pages: Pages) -> tuple[Cut[Difference], Reached]:
    """Return what differs between two beliefs, and the moments of the later one."""
    reached = reached_by(session, [group])
    before = asked.time("before")
    assert before is not None
    if pages.is_first:
        valid, after = asked.time("valid_at"), asked.time("after")
        valid = reached.valid if valid is None else valid
        latest = max(reached.known or before, session.now())
        if before >= (latest if after is None else after):
            raise InvalidInput("it must be before after, or before now", field="before")
        reached = reached._replace(valid=valid, known=reached.known if after is None else after)
    else:
        reached = reached._replace(valid=pages.moments[0], known=pages.moments[1])
    first = None if reached.valid is None else (reached.valid, before)
    return _differences(session, asked.entity, asked.relation, group, pages, Compared(first, reached)), reached


def _differences(
    session: Any, entity: str | None, relation: str | None, group: str, pages: Pages, compared: Compared
) -> Cut[Difference]:
    """Return a page of what differs, of an entity whichever end of a fact it is. NotFound: nobody has this name."""
    valid, known = compared.reached.valid, compared.reached.known
    if entity is not None:
        expect_known(session, entity, group, None)
    if compared.first is None or valid is None or known is None:
        return pages.cut([], _PAGE, (valid, known))
    points = {"start": compared.first, "stop": (valid, known), "relation": relation, "group_id": group}
    ends: list[dict[str, str | None]] = [{}] if entity is None else [{"about": entity}, {"object": entity}]
    found = [one for end in ends for one in history.diff(session, ask(DiffQuery, {**points, **end}))]
    each = {(one.change, _shown(one).uuid): one for one in found}  # of a fact about itself, one
    return pages.cut(sorted(each.values(), key=_start), _PAGE, (valid, known))


def _shown(found: Difference) -> Fact:
    fact = found.after or found.before
    assert fact is not None
    return fact


def _start(found: Difference) -> tuple[bool, int]:
    start = _shown(found).valid_at
    return start is not None, 0 if start is None else from_datetime(start)


def _change_of(found: Difference) -> RecalledChange:
    """Return what differs of one fact."""
    before, after = (None if fact is None else RecalledFact.of(fact) for fact in (found.before, found.after))
    return RecalledChange(change=found.change, before=before, after=after)


def _change_line(change: RecalledChange) -> str:
    """Return the line of what differs of one fact: its label, and the fact before and after."""
    match change.before, change.after:
        case RecalledFact() as before, RecalledFact() as after:
            return f"- {change.change}: {of_fact(before)}; now {of_fact(after)}"
        case before, after:
            fact = after or before
            return f"- {change.change}: {'' if fact is None else of_fact(fact)}"
