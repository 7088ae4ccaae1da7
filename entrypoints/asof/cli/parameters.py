"""The parameters of a command, derived from the fields of a query model."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from inspect import Parameter
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args

import typer
from pydantic import BaseModel

from asof.cli import show
from asof.operations.errors import InvalidInput
from asof.operations.operation import read_query
from asof.operations.times import in_instants, system

_OPTIONS: Final = {  # the others are called as their fields
    "group_id": "--group",
    "group_ids": "--groups",
    "relations": "--relation",
    "entity_types": "--entity-type",
    "qualifiers": "--qualifier",
    "kinds": "--kind",
}
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")  # as JSON has it
_LONGEST: Final = 400  # characters of a number
_METAVARS: Final = {
    "group_id": "ID",
    "group_ids": "ID",
    "uuid": "ID",
    "ref": "ID",
    "cursor": "CURSOR",
    "fact": "SENTENCE",
}
_LAST: Final = (
    "valid_at",
    "known_at",
    "any_time",
    "group_id",
    "group_ids",
    "all_groups",
    "limit",
    "cursor",
)  # in the help
_TYPES: Final = {
    "integer": int,
    "number": float,
    "boolean": bool,
    "string": str,
    "array": list[str],
    "object": list[str],
}
_MOST: Final = 1_000_000  # a greater bound is one that nobody meets: the help leaves it out


@dataclass(frozen=True)
class Parameters:
    """The parameters of a command that asks a query."""

    query: type[BaseModel]
    _: KW_ONLY
    arguments: Collection[str] = ()  # the fields that are positional, in their order
    required: Collection[str] = ()  # those that this command needs, though the query does not
    left_out: Collection[str] = ()  # those that the command line does not take
    times: Collection[str] = ()  # integers that are times
    names: Mapping[str, str] = field(default_factory=dict)  # of options and arguments that the field does not give
    fixed: Mapping[str, Any] = field(default_factory=dict)  # fields that the command itself decides
    defaults: Mapping[str, Any] = field(default_factory=dict)
    helps: Mapping[str, str] = field(default_factory=dict)  # of fields that do not describe themselves

    @cached_property
    def fields(self) -> list[str]:
        """The fields in the order of the help: arguments, filters, then those that most questions have."""
        out = {*self.arguments, *self.left_out, *self.fixed}
        rest = [name for name in self.query.model_fields if name not in out]
        rest.sort(key=lambda name: _LAST.index(name) if name in _LAST else -1)
        return [*self.arguments, *rest]

    def signature(self) -> list[Parameter]:
        """Return them as keyword parameters of a function, for Typer."""
        return [self._parameter(name) for name in self.fields]

    def read(self, given: Mapping[str, Any]) -> Any:
        """Return the query. InvalidInput names the field that is wrong."""
        chosen = {name: self._given(name, value) for name, value in given.items() if value is not None}
        fields = in_instants(chosen, system)
        for name, value in fields.items():
            if value != chosen[name]:
                show.talk(f"{self._name(name)} is {value}")
        return read_query(self.query, {**fields, **self.fixed})

    def _given(self, name: str, value: Any) -> Any:
        """Return what was given for a field; several NAME=VALUE as one object."""
        if not isinstance(value, list) or self._kind(name).get("type") != "object":
            return value
        pairs = [text.partition("=") for text in value]
        if not all(sign for _, sign, _ in pairs):
            raise InvalidInput("it is given as NAME=VALUE", field=name)
        return {key: number_of(text) if _NUMBER.fullmatch(text) else text for key, _, text in pairs}

    def _kind(self, name: str) -> dict[str, Any]:
        """Return the JSON schema of a field, of its first type where it has several."""
        schema: dict[str, Any] = self._properties[self._alias(name)]
        return next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)

    def told(self, error: InvalidInput) -> InvalidInput:
        """Return an error about a field as one about its option or argument."""
        names = {field: self._name(name) for name in self.fields for field in (name, self._alias(name))}
        return InvalidInput(error.reason, names.get(error.field or "", error.field))

    @cached_property
    def _properties(self) -> dict[str, Any]:
        properties: dict[str, Any] = self.query.model_json_schema()["properties"]
        return properties

    def _alias(self, name: str) -> str:
        return self.query.model_fields[name].alias or name

    def _name(self, name: str) -> str:
        """Return what a field is called on the command line."""
        if name in self.arguments:
            return self.names.get(name) or name.upper()
        return self.names.get(name) or _OPTIONS.get(name) or f"--{self._alias(name).replace('_', '-')}"

    def _parameter(self, name: str) -> Parameter:
        of_query = self.query.model_fields[name]
        schema, kind = self._properties[self._alias(name)], self._kind(name)
        is_time = name in self.times
        of_items = kind.get("items", {}).get("type")
        annotation: Any = Literal[tuple(kind["enum"])] if "enum" in kind else str if is_time else _TYPES[kind["type"]]
        annotation = list[int] if of_items == "integer" else annotation
        described: dict[str, Any] = {"help": self._help(name, schema, kind), "metavar": self._metavar(name, kind)}
        if annotation in (int, float):
            described["min"] = kind.get("minimum")
            described["max"] = kind.get("maximum") if kind.get("maximum", 0) < _MOST else None
        default = self.defaults.get(name, None if of_query.is_required() else of_query.default)
        if name in self.required or (of_query.is_required() and name not in self.defaults):
            default = Parameter.empty
        elif default is None:
            annotation = annotation | None
        is_argument = name in self.arguments
        info = typer.Argument(**described) if is_argument else typer.Option(self._name(name), **described)
        return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[annotation, info])

    def _help(self, name: str, schema: Mapping[str, Any], kind: Mapping[str, Any]) -> str:
        text = self.helps.get(name) or schema.get("description", "")
        *others, last = schema.get("examples") or kind.get("examples") or [""]
        if isinstance(last, list):
            return f"{text} Such as {last[0]}; given again, several."
        return f"{text} Such as {', '.join(others)}{' or ' if others else ''}{last}." if last else text

    def _metavar(self, name: str, kind: Mapping[str, Any]) -> str | None:
        if name in self.arguments:
            return self._name(name)
        if "enum" in kind or kind["type"] == "boolean":
            return None
        if kind["type"] == "object":
            return "NAME=VALUE"
        if choices := kind.get("items", {}).get("enum"):
            return "|".join(choices)
        python = _plain(self.query.model_fields[name].annotation)
        if issubclass(python, tuple):
            return "T[,K]"  # a point on both clocks
        if name in self.times or (python is int and kind["type"] == "string"):
            return "TIME"
        return _METAVARS.get(name, "N" if kind["type"] in ("integer", "number") else "NAME")


def number_of(text: str) -> int | float:
    """Return the number that a text is, as JSON writes it. InvalidInput: it is none, or too long to be read."""
    if not _NUMBER.fullmatch(text) or len(text) > _LONGEST:
        raise InvalidInput("it must be a number, such as 42 or 1.62")
    number: int | float = json.loads(text)
    return number


def _plain(annotation: Any) -> Any:
    """Return a type without None and without what is annotated."""
    inner = [one for one in get_args(annotation) if one is not NoneType]
    return _plain(inner[0]) if inner else annotation
