"""An operation: one thing that can be asked or done, written once for every door.

An operation is a function of a session and a query. Its query model says which parameters there are, its answer type
says what comes back; doors derive their parameters, options, tables, JSON and descriptions from both.
"""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, create_model

from asof.operations.times import in_instants
from asof.service.session import Session
from asof.service.spans import operation_span
from asof_projections.model.answers import Page
from asof_projections.model.queries import DEFAULT_GROUP, ExportQuery, GroupQuery, ask, instant
from asof_streams import tracing
from asof_streams.errors import EmptyMemory, InvalidInput
from asof_streams.events import Event
from asof_streams.messages import TIMES, validate

__all__ = ["DEFAULT_GROUP", "ExportQuery", "GroupQuery", "Operation", "operation", "read_query"]

Q = TypeVar("Q", bound=BaseModel)
A = TypeVar("A")


class Operation(Generic[Q, A]):
    """A function (session, query) -> answer, with its models."""

    def __init__(
        self,
        run: Callable[[Session, Q], A],
        items: str | None,
        vectors: Callable[[Any], bool],
        empty: Callable[[Session, Any], Any] | None = None,
    ) -> None:
        hints = get_type_hints(run)
        self.run = run
        self.name: Final[str] = run.__name__
        self.doc: Final[str] = run.__doc__ or ""
        self.query: Final[type[Q]] = hints["query"]
        self.answer: Final[Any] = hints["return"]
        self.items: Final = items  # the name of a list in JSON
        self.needs_vectors: Final = vectors  # whether a query needs the embedder
        self.is_paged: Final[bool] = issubclass(get_origin(self.answer) or object, Page)
        self.item: Final[Any] = get_args(self.answer)[0] if items else self.answer
        self.lists: Final = items is not None and "limit" in self.query.model_fields  # what a memory holds
        self._empty: Final = empty

    def __call__(self, session: Session, query: Q) -> A:
        """Return the answer. It is a span, where somebody traces."""
        return self._traced(self.run, session, query) if tracing.is_on() else self.run(session, query)

    def _traced(self, run: Callable[[Session, Q], A], session: Session, query: Q) -> A:
        with operation_span(self.name, session, query) as told:
            answer = run(session, query)
            told(answer)
        return answer

    def ask(self, session: Session, /, **fields: Any) -> A:
        """Return the answer to the query that has these fields, from any thread; others wait meanwhile.

        Times may be words, seen from the session's now. A list of what a memory holds is empty where nothing was ever
        written. InvalidInput names the field that is wrong.
        """
        query = read_query(self.query, in_instants(fields, session.now))
        with session.lock:
            if tracing.is_on():
                return self._traced(self._run_or_list_nothing, session, query)
            return self._run_or_list_nothing(session, query)

    def _run_or_list_nothing(self, session: Session, query: Q) -> A:
        try:
            return self.run(session, query)
        except EmptyMemory:
            if not self.lists:
                raise
            empty: Any = self._empty(session, query) if self._empty else (get_origin(self.answer) or list)()
            return empty  # type: ignore[no-any-return]

    @cached_property
    def model(self) -> Any:
        """The type of the answer in JSON: a list stands in an object, with what is said of it beside it."""
        if self.items is None:
            return self.answer
        fields: dict[str, Any] = {self.items: (self._list, ...)}
        fields |= {name: (kind, ...) for name, kind in self._beside.items()}
        title = "".join(part.title() for part in self.name.split("_"))
        return create_model(f"{title}Answer", __doc__=self.doc.split("\n")[0], **fields)

    @cached_property
    def _json(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._list if self.items else self.answer)

    @cached_property
    def _json_beside(self) -> Mapping[str, TypeAdapter[Any]]:
        return {name: TypeAdapter(kind) for name, kind in self._beside.items()}

    @property
    def _beside(self) -> Mapping[str, Any]:
        """The fields beside a list in JSON: the type of each by its name."""
        beside: Mapping[str, Any] = getattr(get_origin(self.answer), "BESIDE", {})
        return beside

    @property
    def _list(self) -> Any:
        return list.__class_getitem__(self.item)

    def to_json(self, answer: A) -> Any:
        """Return an answer as JSON's own types; a list as a list, unless another one stands beside it."""
        if any(get_origin(kind) is list for kind in self._beside.values()):
            return json.loads(self.dump(answer))
        return self._json.dump_python(answer, mode="json")

    def dump(self, answer: A) -> bytes:
        """Return an answer as the JSON document of a service: a list in an object, with its cursor or its note."""
        body = self._json.dump_json(answer)
        if self.items is None:
            return body
        beside = {name: adapter.dump_json(getattr(answer, name)) for name, adapter in self._json_beside.items()}
        parts = {self.items: body, **beside}
        return b"{%s}" % b",".join(b'"%s":%s' % (name.encode(), part) for name, part in parts.items())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name: another process has the same operations."""
        return _named, (self.run.__module__, self.name)


def _named(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def operation(
    *,
    items: str | None = None,
    vectors: Callable[[Any], bool] = lambda _: False,
    empty: Callable[[Session, Any], Any] | None = None,
) -> Callable[[Callable[[Session, Q], A]], Operation[Q, A]]:
    """Make a function (session, query) -> answer an operation. `items` names a list in JSON.

    `empty` returns the answer of a memory to which nothing was ever written, where that is more than an empty list.
    """

    def made(run: Callable[[Session, Q], A]) -> Operation[Q, A]:
        return Operation(run, items, vectors, empty)

    return made


def read_query(kind: type[Q], fields: Mapping[str, Any]) -> Q:
    """Return a query, or a message to be put on the log, from the fields that a door was given.

    Times are read alike in both. InvalidInput names the field that is wrong, and the nearest one to an unknown field.
    """
    if not issubclass(kind, Event):
        return ask(kind, fields)
    return validate(kind, {name: _instant(name, value) if name in TIMES else value for name, value in fields.items()})


def _instant(name: str, time: Any) -> int | None:
    try:
        return None if time is None else instant(time)
    except InvalidInput as error:
        raise error.within(name) from None
