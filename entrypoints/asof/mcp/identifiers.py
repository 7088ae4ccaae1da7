"""Ids as agents give them: whole, or the first letters that texts show."""

import re
from contextlib import suppress
from functools import partial
from typing import Any, Final

from asof.mcp.tools import Access
from asof.operations import entities, facts, logs
from asof.operations.answers import EpisodeRecord, Fact
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.operation import Operation
from asof.operations.queries import EntityQuery, EpisodeQuery, FactQuery, ask
from asof.operations.service_answers import run

_BEGINNING: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]{0,26})?")
SEVERAL: Final = "several ids begin so: give more letters"


def is_beginning(text: str) -> bool:
    """Whether a text is the first letters of an id, as texts show them."""
    return _BEGINNING.fullmatch(text) is not None


def expect_known(session: Any, name: str, group: str, known: int | None) -> None:
    """Refuse a name, or an id, that no entity of a group has, as it was known at a moment; None: now. NotFound."""
    try:
        entities.expect_entity(session, name, ask(EntityQuery, {"name": name, "group_id": group, "known_at": known}))
    except NotFound:
        raise unknown_entity() from None


def unknown_entity() -> NotFound:
    """Return the refusal of a name, or an id, that no entity of the group has."""
    return NotFound("no entity of this group has this name or id, as of then: search_nodes finds names")


async def episode_of(access: Access, text: str) -> EpisodeRecord:
    """Return the caller's episode of an id. NotFound: they have none. InvalidInput: several ids begin so."""
    unknown = NotFound("no episode of this address has this id: lists of episodes show the ids")
    found: EpisodeRecord = await _owned(access, text, logs.episode, EpisodeQuery, unknown)
    return found


async def fact_of(access: Access, text: str) -> Fact:
    """Return the caller's fact of an id, as it is believed now; it raises as `episode_of` does."""
    unknown = NotFound("no fact of this address has this uuid: search_memory_facts shows them")
    found: Fact = await _owned(access, text, facts.fact, FactQuery, unknown)
    return found


async def _owned(access: Access, text: str, operation: Operation[Any, Any], query: Any, unknown: NotFound) -> Any:
    found = []
    for uuid in await access.served.ask(partial(_ids, text=text)):
        with suppress(NotFound):
            one = await run(access.served, operation, ask(query, {"id": uuid}))
            found += [one] if access.scope.owns(one.group_id) else []
    if len(found) > 1:
        raise InvalidInput(SEVERAL)
    if not found:
        raise unknown
    return found[0]


def _ids(session: Any, text: str) -> list[str]:
    if not is_beginning(text):
        return [text]
    return list(dict.fromkeys(uuid for source in session.sources.every() for uuid in source.ids(text)))
