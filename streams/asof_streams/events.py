"""What an event is, and how stored bytes become one again: types by name, versions by number, upcasting on read.

Type names are strings that asof owns, never Python paths; a released event never changes its meaning. A newer
version than this code knows stops the reader; an older one is brought up to date one step at a time.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from asof_streams.errors import DecodeError
from asof_streams.ids import derive


class Event(BaseModel):
    """One thing that happened. Written once, never changed, readable for ever.

    `type`, `version` and all else that every event has travel in the envelope (Record), not in the payload.
    Times are UTC microseconds; None is an open end.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: ClassVar[str]
    version: ClassVar[int] = 1
    since: ClassVar[int] = 0  # the version after which only optional fields came, so that payloads are read as they are

    def encode(self) -> bytes:
        """Return the payload as it is stored: JSON in field order, absent values left out."""
        return self.__pydantic_serializer__.to_json(self, exclude_none=True)


E = TypeVar("E", bound=Event)


class Draft(NamedTuple):
    """An event about to be appended: its envelope but for what the log itself adds (position and term)."""

    group: str
    recorded_at: int  # of the message that caused it
    cause: int  # position of that message
    place: int  # place within the batch that this cause gave
    size: int  # size of that batch; all of it is visible or none
    event: Event


class Record(NamedTuple):
    """An event as read from a log: position, envelope and payload."""

    position: int
    group: str
    recorded_at: int
    cause: int
    place: int
    size: int
    term: int  # of the writer: rises each time a process takes the log over
    event: Event

    def id_in(self, log: str) -> str:
        """Return the event's id, made from its cause; `log` is the log's name."""
        return derive("event", log, self.cause, self.place, self.event.type)


_TYPES: Final[dict[str, type[Event]]] = {}
_UPCASTERS: Final[dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]]] = {}


def register(cls: type[E]) -> type[E]:
    """Make an event class readable by its type name (a class decorator)."""
    assert cls.type not in _TYPES, f"two classes for {cls.type}"
    _TYPES[cls.type] = cls
    return cls


def upcaster(type_: str, version: int) -> Callable[[Callable[[dict[str, Any]], dict[str, Any]]], None]:
    """Register the one step that turns the payload of `version` into that of `version + 1`. Pure."""

    def add(step: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        _UPCASTERS[type_, version] = step

    return add


def types() -> dict[str, type[Event]]:
    """Return every known event class by type name."""
    return dict(_TYPES)


@cache
def known(type_: str, version: int) -> type[Event]:
    """Return the class of a stored event. DecodeError: a newer asof wrote it."""
    cls = _TYPES.get(type_)
    if cls is None:
        raise DecodeError(f"unknown event type {type_}: a newer asof wrote it; upgrade this one")
    if version > cls.version:
        raise DecodeError(f"{type_} version {version} is newer than {cls.version}: upgrade asof")
    return cls


def decode(type_: str, version: int, payload: bytes) -> Event:
    """Return the event that was stored. DecodeError says why it cannot be read."""
    cls = known(type_, version)
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
