"""The arguments of tools: their limits and defaults are those of the queries, and their schemas are short.

A list of tools is read by a language model with each request, so a schema has no more than what a call is made by.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, PrivateAttr
from pydantic.fields import FieldInfo

from asof.operations.errors import InvalidInput
from asof.operations.queries import instant
from asof.operations.times import in_instants, system

_DROPPED: Final = ("title", "examples", "maxLength", "pattern", "maxItems")


_TIME: Final = object()  # marks the arguments that are times
Time = Annotated[str, _TIME]
"""A time as an agent says it: RFC 3339, a date, or words. An answer says as which instant it was read."""
MaybeTime = Annotated[str | None, _TIME]


class Arguments(BaseModel):
    """The base of all arguments. Null is as good as leaving one out."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_by_name=True)

    QUIET: ClassVar[frozenset[str]] = frozenset()
    """Arguments of Graphiti's that are taken, and listed in the profile `graphiti` alone."""
    PAGING: ClassVar[frozenset[str]] = frozenset({"cursor"})
    """Arguments that may differ from page to page of a list."""

    _instants: dict[str, int] = PrivateAttr(default_factory=dict)

    @property
    def zone(self) -> tzinfo:
        """The zone of times that name none."""
        return UTC

    def time(self, name: str) -> int | None:
        """Return a time by its name in microseconds, always the same; None: it was left out. InvalidInput: it is none.

        It has to be one that is marked as a time: the answer then says which instant it is.
        """
        assert name in self._times_by_name()
        if name not in self._instants:
            instant = read_time(name, getattr(self, self._times_by_name()[name]), self.zone)
            if instant is None:
                return None
            self._instants[name] = instant
        return self._instants[name]

    def use_times(self, instants: Mapping[str, int]) -> None:
        """Take times as these instants from now on: what was left out, or was read for an earlier page."""
        self._instants.update(instants)

    def times(self) -> dict[str, int]:
        """Return every time that was given, or is used in place of one, by its name; those of parts with their place.

        InvalidInput: one of them is no time.
        """
        read = {name: self.time(name) for name in self._times_by_name()}
        return {name: instant for name, instant in (*read.items(), *self._times_of_parts()) if instant is not None}

    def _times_of_parts(self) -> Iterator[tuple[str, int]]:
        for field in type(self).model_fields:
            parts = getattr(self, field)
            for number, part in enumerate(parts if isinstance(parts, tuple) else ()):
                if isinstance(part, Arguments):
                    yield from ((f"{field}.{number}.{name}", instant) for name, instant in part.times().items())

    @classmethod
    def _times_by_name(cls) -> dict[str, str]:
        """Return the fields that are times, by the names that agents see."""
        fields = cls.model_fields.items()
        return {field.alias or name: name for name, field in fields if _TIME in field.metadata}


def like(query: type[BaseModel], name: str, default: Any = ..., description: str | None = None) -> Any:
    """Return a field with the limits of a query's field; with its own default and description, or without."""
    field: FieldInfo = copy(query.model_fields[name])
    field.alias = field.validation_alias = field.serialization_alias = None
    field.description, field.default = description, default
    return field


def _one_or_several(value: Any) -> Any:
    return [value] if isinstance(value, str) else () if value is None else value


Several = Annotated[tuple[str, ...], BeforeValidator(_one_or_several)]
"""A list of texts; one text, as some clients send it, is a list of one."""


def schema_of(arguments: type[Arguments], left_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON schema of arguments: types, limits, defaults and what is needed."""
    whole = arguments.model_json_schema(by_alias=True)
    whole = _inline(whole, whole.get("$defs", {}))
    named = {name: part for name, part in whole.get("properties", {}).items() if name not in left_out}
    schema: dict[str, Any] = {"type": "object", "properties": {name: _short(part) for name, part in named.items()}}
    if needed := [name for name in whole.get("required", ()) if name in named]:
        schema["required"] = needed
    return schema


def _inline(part: Any, models: Mapping[str, Any]) -> Any:
    """Return a part of a schema with the models in place of what refers to them."""
    if isinstance(part, list):
        return [_inline(each, models) for each in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        return _inline(models[part["$ref"].rpartition("/")[2]], models)
    return {name: _inline(each, models) for name, each in part.items()}


def _short(part: Mapping[str, Any]) -> dict[str, Any]:
    short = {name: value for name, value in part.items() if name not in _DROPPED}
    kinds = [kind for kind in short.pop("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        short = {**_short(kinds[0]), **short}
    elif kinds:
        short["type"] = [kind["type"] for kind in kinds]
    if isinstance(short.get("items"), Mapping):
        short["items"] = _short(short["items"])
    if "properties" in short:
        for unused in ("description", "additionalProperties"):
            short.pop(unused, None)
        short["properties"] = {name: _short(each) for name, each in short["properties"].items()}
    if short.get("default", ...) in (None, [], ""):
        del short["default"]
    return short


def read_time(field: str, text: str | None, zone: tzinfo, *, now: int | None = None) -> int | None:
    """Return a time in microseconds: RFC 3339, a date, or words seen from now; without an offset, it is of the zone.

    InvalidInput: it is no time, or may mean two.
    """
    if text is None:
        return None
    clock = system if now is None else lambda: now
    try:
        read: Any = in_instants({"valid_at": text}, clock, zone=zone)["valid_at"]
        return instant(_with_zone(read, zone))
    except InvalidInput as error:
        raise InvalidInput(error.reason, field=field) from None


def _with_zone(text: str, zone: tzinfo) -> str:
    """Return a time of a day that has no offset as one in a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is not None or len(text) <= len("2024-05-01"):
        return text
    return moment.replace(tzinfo=zone).isoformat()
