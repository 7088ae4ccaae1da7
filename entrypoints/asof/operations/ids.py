"""Ids as doors take and show them: short ones, the first letters of an id, eight or more; and those of literals."""

import re
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from asof.service.session import Session
from asof_projections.model.answers import Fact
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.ids import derive

Q = TypeVar("Q", bound=BaseModel)

_SHORT: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]{0,26})?")
_FIELDS: Final = ("id", "ref", "episode_id", "entity", "into", "merge_id", "name", "about", "center")


def object_node(fact: Fact) -> str:
    """Return the id of the node that a fact points to, as Graphiti has it: equal literals of a group are one."""
    return fact.object_uuid or derive("literal", fact.group_id, fact.object)


def with_whole_ids(session: Session, query: Q) -> Q:
    """Return a query, or a message, whose short ids are whole; what no id begins with stays as it is.

    InvalidInput: several ids begin so.
    """
    given: dict[str, Any] = {name: getattr(query, name, None) for name in _FIELDS}
    short = {name: text for name, text in given.items() if isinstance(text, str) and _SHORT.fullmatch(text)}
    whole = {name: _whole(session, name, text) for name, text in short.items()}
    return query.model_copy(update=whole) if whole else query


def _whole(session: Session, field: str, text: str) -> str:
    try:
        found = {uuid for source in session.sources.every() for uuid in source.ids(text)}
    except NotFound:  # nothing was ever written
        return text
    if len(found) > 1:
        raise InvalidInput("several ids begin so: give more letters", field=field)
    return found.pop() if found else text
