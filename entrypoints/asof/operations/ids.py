"""Short ids: the first letters of an id, eight or more, where no other id of a memory begins so."""

import re
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from asof.service.session import Session
from asof_streams.errors import InvalidInput, NotFound

Q = TypeVar("Q", bound=BaseModel)

_SHORT: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]{0,26})?")
_FIELDS: Final = ("id", "ref", "episode_id", "entity", "into", "merge_id", "name", "about", "center")


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
