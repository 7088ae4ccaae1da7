"""The items of other memories' exports: one JSON document with lists of them, or JSON lines; and their fields."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from asof_streams.errors import InvalidInput
from asof_streams.instants import parse, render
from asof_streams.messages import TIMES, AnyMessage, FactStatement, Message, accept, check_group

Fields = Mapping[str, Any]
M = TypeVar("M", FactStatement, Message)

_IDS: Final = {"uuid", "uuid_", "id"}
_OWNERS: Final = ("group_id", "user_id", "agent_id", "run_id", "graph_id")  # whose an item is, the first that is there
_NANOSECONDS: Final = re.compile(r"(\.\d{6})\d+")
_ZONE_NAME: Final = re.compile(r"\[[^\]]*\]$")  # behind the offset, as Neo4j writes it
_WITH_OFFSET: Final = re.compile(r"(Z|[+-]\d\d:?\d\d)$", re.IGNORECASE)
_NOT_IN_NAMES: Final = re.compile(r"[^\w]+")
_BROKEN: Final = object()


Told = Iterator[tuple[AnyMessage, int | None]]
"""Messages, each with the time since when the other memory knew it."""


class ForeignItem(NamedTuple):
    """An item of an export: its number, from 1; where it stands; of which list it is; what forbids to read it."""

    number: int
    where: str
    kind: str
    fields: Fields
    fault: str = ""


def items_of(data: bytes, lists: tuple[str, ...]) -> Iterator[ForeignItem]:
    """Yield the items of a document, or else of JSON lines; of what is neither, one that says so."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        found = [(number, _line(line)) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        if found and not any(isinstance(fields, dict) for _, fields in found):
            number = error.lineno if isinstance(error, json.JSONDecodeError) else found[0][0]
            found = [(number, _BROKEN)]
        for number, fields in found:
            yield from _of_line(number, fields, lists)
        return
    yield from _numbered(_of_document(document, lists))


def _line(line: bytes) -> Any:
    """Return the value of a line; _BROKEN where it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return _BROKEN


def _of_line(number: int, fields: Any, lists: tuple[str, ...]) -> Iterator[ForeignItem]:
    if isinstance(fields, dict) and _is_page(fields, lists):
        for where, kind, item in _of_document(fields, lists):  # a page
            yield ForeignItem(number, f"line {number}, {where}", kind, item)
    elif isinstance(fields, dict):
        yield ForeignItem(number, f"line {number}", "", fields)
    else:
        yield ForeignItem(
            number, f"line {number}", "", {}, "it is not JSON" if fields is _BROKEN else "it is no JSON object"
        )


def _of_document(document: Any, lists: tuple[str, ...]) -> Iterator[tuple[str, str, Fields]]:
    found = {"": document} if isinstance(document, list) else document
    if not isinstance(found, dict):
        raise InvalidInput("it is no JSON object, list or lines of objects")
    if not isinstance(document, list) and not _is_page(found, lists):
        found = {"": [document]}
    for name in ("", *lists):
        for at, item in enumerate(found[name] if isinstance(found.get(name), list) else []):
            yield f"{name}[{at}]", name, item if isinstance(item, dict) else {}


def _is_page(fields: Fields, lists: tuple[str, ...]) -> bool:
    """Whether an object holds lists of items; an item may have lists of the same names, and has an id."""
    return any(isinstance(fields.get(name), list) for name in lists) and not fields.keys() & _IDS


def _numbered(found: Iterator[tuple[str, str, Fields]]) -> Iterator[ForeignItem]:
    for number, (where, kind, fields) in enumerate(found, 1):
        yield ForeignItem(number, where, kind, fields)


def accept_fields(kind: type[M], fields: dict[str, Any]) -> M:
    """Return a message of the fields that a door takes, whose times are text."""
    times = {name: render(fields[name]) for name in TIMES if fields.get(name) is not None}
    return accept(kind, fields | times)


def group_of(fields: Fields, group: str) -> str:
    """Return the group that an item names, or else the one given. InvalidInput: it cannot be one."""
    named = next((value for name in _OWNERS if isinstance(value := fields.get(name), str) and value), group)
    return check_group(named)


def first_of(fields: Fields, *names: str) -> Any:
    """Return the first of some fields that an item has; None: it has none of them."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def objects_of(fields: Fields, name: str) -> list[Fields]:
    """Return the objects in a list of an item; none where there is no such list."""
    listed = fields.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def relation_name(name: Any) -> Any:
    """Return the name of a relation as ontologies write it: WORKS_AT is works_at."""
    return _NOT_IN_NAMES.sub("_", name).strip("_").lower() if isinstance(name, str) else name


def time_of(fields: Fields, name: str) -> int | None:
    """Return a time; one without an offset is in UTC. InvalidInput: it is none."""
    given = fields.get(name)
    if given in (None, ""):
        return None
    if not isinstance(given, str):
        raise InvalidInput("a time is a string such as 2024-05-01T09:30:00Z", field=name)
    text = _NANOSECONDS.sub(r"\1", _ZONE_NAME.sub("", given.strip()))
    text = text if _WITH_OFFSET.search(text) else f"{text}Z"
    try:
        return parse(text.replace(" ", "T", 1))
    except InvalidInput as error:
        raise error.within(name) from None
