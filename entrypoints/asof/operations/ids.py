"""Ids as doors take and show them: short ones, the first letters of an id, eight or more; and those of literals."""

import re
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from asof.service.session import Session
from asof_projections.model.answers import Fact
from asof_streams.errors import AccessDenied, InvalidInput, NotFound, UnavailableError
from asof_streams.ids import derive
from asof_streams.messages import FactStatement

Q = TypeVar("Q", bound=BaseModel)

_SHORT: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]{0,26})?")
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]{0,27})?")
_SEVERAL: Final = "several ids begin so: give more letters"
_FIELDS: Final = ("id", "episode_id", "entity", "into", "merge_id", "name", "about", "center")


def object_node(fact: Fact) -> str:
    """Return the id of the node that a fact points to, as Graphiti has it: equal literals of a group are one."""
    return fact.object_uuid or derive("literal", fact.group_id, fact.object)


def is_id(text: str) -> bool:
    """Whether a text looks like an id that asof gave, or like the first letters of one."""
    return _ID.fullmatch(text) is not None


def has_short_ref(stated: FactStatement) -> bool:
    """Whether a structured fact may name another one by the first letters of its id. An assertion names its own ref."""
    return stated.op != "assert" and stated.ref is not None and _SHORT.fullmatch(stated.ref) is not None


def with_whole_ref(session: Session, stated: FactStatement) -> FactStatement:
    """Return a structured fact whose ref is whole, where that is the first letters of an id of its group.

    The ref that a producer gave a fact of the group stays. So does a text that no id begins with, and any ref where the
    memory cannot be asked: a producer on Kafka may have refs of its own that look so. InvalidInput: several ids begin
    so.
    """
    if not has_short_ref(stated):
        return stated
    try:
        found = session.of(stated.group_id).statements_called(stated.group_id, stated.ref or "")
    except (NotFound, AccessDenied, UnavailableError):  # NotFound: nothing was ever written
        return stated
    if len(found) > 1:
        raise InvalidInput(_SEVERAL, field="ref")
    return stated.model_copy(update={"ref": found[0]}) if found else stated


def with_whole_refs(session: Session, statements: Sequence[FactStatement]) -> list[FactStatement]:
    """Return structured facts, each as `with_whole_ref` returns it. InvalidInput names the number of the statement."""
    return [_numbered(number, session, stated) for number, stated in enumerate(statements)]


def _numbered(number: int, session: Session, stated: FactStatement) -> FactStatement:
    try:
        return with_whole_ref(session, stated)
    except InvalidInput as error:
        raise error.within(f"statements.{number}") from None


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
        raise InvalidInput(_SEVERAL, field=field)
    return found.pop() if found else text
