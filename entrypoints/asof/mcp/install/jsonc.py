"""JSON with comments and trailing commas, as editors write it: where its members stand, so that one can be added.

Only the text of the new member is written; comments, order and layout of all else stay.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from asof.operations.errors import InvalidInput

_GAP: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SCALAR: Final = re.compile(r"[^\s,\]}/]++")
_DEEPEST: Final = 100


@dataclass(slots=True)
class _Object:
    """An object: where its braces stand, its members as (key, value), and where the last one ends."""

    opening: int
    members: dict[str, Any]
    positions: dict[str, "_Object"]
    closing: int = 0
    last: int | None = None  # the end of the last member, with the comma behind it
    comma: bool = False  # whether a comma stands behind it


def parse(text: str) -> Any:
    """Return the value of a text. InvalidInput: it is none; the message says at which line."""
    return _Parser(text).whole()[0]


def with_member(text: str, key: str, name: str, value: Any) -> str:
    """Return a text whose object under a key has one member more; that object is made, if there is none.

    InvalidInput: the text is no object, or what stands under the key is none.
    """
    if not text.strip():
        return json.dumps({key: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    whole, top = _Parser(text).whole()
    if not isinstance(whole, dict) or top is None:
        raise InvalidInput("the file is no JSON object")
    held = top.positions.get(key)
    if held is None and key in top.members:
        raise InvalidInput(f"what stands under {key!r} is no object")
    unit = _unit(text, top)
    if held is not None:
        return _inserted(text, held, name, value, unit * 2, unit)
    return _inserted(text, top, key, {name: value}, unit, unit)


def _unit(text: str, top: _Object) -> str:
    """Return by what the members of the outermost object are set in."""
    found = re.compile(r"\{[ \t]*\r?\n([ \t]+)(?=\")").match(text, top.opening)
    return found[1] if found else "  "


def _inserted(text: str, into: _Object, key: str, value: Any, indent: str, unit: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps({key: value}, indent=unit, ensure_ascii=False).splitlines()[1:-1]
    added = newline.join(indent + line.removeprefix(unit) for line in lines)
    outer = indent.removesuffix(unit)
    if into.last is None:  # it is empty; a comment in it stays
        inside = text[into.opening + 1 : into.closing].rstrip()
        return f"{text[: into.opening + 1]}{inside}{newline}{added}{newline}{outer}{text[into.closing :]}"
    comma = "" if into.comma else ","
    rest = text[into.last : into.closing].rstrip()
    return f"{text[: into.last]}{comma}{rest}{newline}{added}{newline}{outer}{text[into.closing :]}"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text

    def whole(self) -> tuple[Any, _Object | None]:
        start = self._gap(0)
        value, end, found = self._value(start, 0)
        if self._gap(end) != len(self._text):
            raise self._wrong(end)
        return value, found

    def _gap(self, at: int) -> int:
        found = _GAP.match(self._text, at)
        return at if found is None else found.end()

    def _wrong(self, at: int) -> InvalidInput:
        line = self._text.count("\n", 0, at) + 1
        return InvalidInput(f"line {line} is no JSON: mend it and try again")

    def _value(self, at: int, depth: int) -> tuple[Any, int, _Object | None]:
        sign = self._text[at : at + 1]
        if depth > _DEEPEST:
            raise self._wrong(at)
        if sign == "{":
            found = self._object(at, depth)
            return found.members, found.closing + 1, found
        if sign == "[":
            values, end = self._array(at, depth)
            return values, end, None
        matched = (_STRING if sign == '"' else _SCALAR).match(self._text, at)
        if matched is None:
            raise self._wrong(at)
        try:
            return json.loads(matched[0], strict=False), matched.end(), None
        except ValueError:
            raise self._wrong(at) from None

    def _object(self, at: int, depth: int) -> _Object:
        found = _Object(at, {}, {})
        at = self._gap(at + 1)
        while self._text[at : at + 1] != "}":
            name = _STRING.match(self._text, at)
            colon = self._gap(name.end()) if name else at
            if name is None or self._text[colon : colon + 1] != ":" or (found.last is not None and not found.comma):
                raise self._wrong(at)
            value, end, inner = self._value(self._gap(colon + 1), depth + 1)
            key = json.loads(name[0], strict=False)
            found.members[key] = value
            found.positions.pop(key, None)
            if inner is not None:
                found.positions[key] = inner
            at, found.last = self._gap(end), end
            found.comma = self._text[at : at + 1] == ","
            if found.comma:
                found.last = at + 1
                at = self._gap(at + 1)
        found.closing = at
        return found

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        at, comma = self._gap(at + 1), True
        while self._text[at : at + 1] != "]":
            if not comma:
                raise self._wrong(at)
            value, end, _ = self._value(at, depth + 1)
            values.append(value)
            at = self._gap(end)
            comma = self._text[at : at + 1] == ","
            at = self._gap(at + 1) if comma else at
        return values, at + 1
