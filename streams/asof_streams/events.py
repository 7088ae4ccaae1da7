"""Events and their stored form: types by name, versions by number, upcasters that bring old payloads up to date.

Type names are strings that asof owns, never Python paths, and a released event never changes its meaning. A version
newer than this code knows stops the reader; an older one is upcast on read, one version at a time.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from asof_streams.errors import DecodeError
from asof_streams.ids import derive


class Event(BaseModel):
    """The base of all events: immutable, written once, readable by every later version.

    The payload holds the fields of the subclass. `type`, `version` and the fields that all events have (Record) are
    in the envelope. Times are UTC microseconds; None is an open end.
    """

    # A process reads few of them, so each is built with the first: pydantic holds a lock meanwhile since 2.14.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    type: ClassVar[str]
    version: ClassVar[int] = 1
    since: ClassVar[int] = 0  # later versions add optional fields only, so their payloads need no upcaster; 0: none

    def encode(self) -> bytes:
        """Return the stored payload: JSON in field order, without None."""
        return self.__pydantic_serializer__.to_json(self, exclude_none=True)


E = TypeVar("E", bound=Event)
_new: Final = object.__new__
_NONE_SET: Final[set[str]] = set()  # of every event that is not validated: events are frozen, so nobody adds to it
# What pydantic keeps in each of its slots; object.__setattr__ would look for the slot by its name each time.
_put_fields, _put_fields_set, _put_extra, _put_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


def event_of(cls: type[E], fields: dict[str, Any]) -> E:
    """Return an event of values that are known to be valid, without a validation: a tenth of what that costs.

    fields: all that the class has, in their order, as validation would leave them; the event keeps the dict.
    """
    event = _new(cls)
    _put_fields(event, fields)
    _put_fields_set(event, _NONE_SET)
    _put_extra(event, None)
    _put_private(event, None)
    return event


class Draft(NamedTuple):
    """An event about to be appended; the log adds its position and term."""

    group: str
    recorded_at: int  # of the message that caused it
    cause: int  # position of that message
    place: int  # within the batch of this cause, from 0
    size: int  # of the batch; readers see all of it or nothing
    event: Event


class Record(NamedTuple):
    """An event as a log returns it: position, envelope and payload."""

    position: int
    group: str
    recorded_at: int
    cause: int
    place: int
    size: int
    term: int  # of the writer; it rises each time a process takes the log over
    event: Event

    def id_in(self, log: str) -> str:
        """Return the event's id, derived from its cause and the name of its log."""
        return derive("event", log, self.cause, self.place, self.event.type)


_TYPES: Final[dict[str, type[Event]]] = {}
_UPCASTERS: Final[dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]]] = {}


def register(cls: type[E]) -> type[E]:
    """Register an event class under its type name (a class decorator)."""
    assert cls.type not in _TYPES, f"two classes for {cls.type}"
    _TYPES[cls.type] = cls
    return cls


def upcaster(type_: str, version: int) -> Callable[[Callable[[dict[str, Any]], dict[str, Any]]], None]:
    """Register the pure function that turns a payload of `version` into one of `version + 1` (a decorator)."""

    def add(step: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        _UPCASTERS[type_, version] = step

    return add


def types() -> dict[str, type[Event]]:
    """Return every known event class by type name."""
    return dict(_TYPES)


@cache
def event_class(type_: str, version: int) -> type[Event]:
    """Return the class of a stored event. DecodeError: a newer version of asof wrote it."""
    cls = _TYPES.get(type_)
    if cls is None:
        raise DecodeError(f"unknown event type {type_}: a newer asof wrote it; upgrade this one")
    if version > cls.version:
        raise DecodeError(f"{type_} version {version} is newer than {cls.version}: upgrade asof")
    return cls


def decode(type_: str, version: int, payload: bytes) -> Event:
    """Return a stored event, upcast to its newest version. DecodeError names the type, and the fields that do not fit.

    Example: `decode("fact.ended", 1, payload)`.
    """
    cls = event_class(type_, version)
    try:
        if version == cls.version or version >= cls.since > 0:
            return cls.__pydantic_validator__.validate_json(payload)  # type: ignore[no-any-return]
        state = json.loads(payload)
        for step in range(version, cls.version):
            state = _UPCASTERS[type_, step](state)
        return cls.model_validate(state)
    except ValidationError as error:
        where = ", ".join(".".join(map(str, e["loc"])) for e in error.errors(include_input=False, include_url=False))
        raise DecodeError(f"{type_} version {version} does not fit its model at: {where}") from None
    except (KeyError, ValueError):
        raise DecodeError(f"{type_} version {version} cannot be brought up to version {cls.version}") from None
