"""The spans of memory operations: of one that a session runs, and of messages that a service takes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from pydantic import BaseModel

from asof.runtime import span_names as names
from asof.runtime.replica_manifest import is_copy
from asof.service.session import Session
from asof_projections.model.answers import Episode, Fact, Hits
from asof_projections.model.contexts import Context
from asof_projections.model.queries import AnyTimeQuery, GroupQuery, KnownQuery, MomentQuery
from asof_projections.model.write_answers import Added, Erasure, Requested
from asof_streams import tracing
from asof_streams.errors import AsofError
from asof_streams.instants import render
from asof_streams.messages import AnyMessage, ErasureRequest, Message, RedactionRequest, WithdrawalRequest
from asof_streams.sqlite_log import SqliteLog
from asof_streams.tracing import OpenSpan, Value

_DELETES: Final = frozenset({ErasureRequest, RedactionRequest, WithdrawalRequest})


@contextmanager
def operation_span(name: str, session: Session, query: BaseModel) -> Iterator[Callable[[Any], None]]:
    """Make what happens meanwhile the span of an operation; the function that comes with it notes the answer.

    Words are noted only where the settings say so.
    """
    kind = names.MEMORY_OPERATIONS.get(name)
    is_captured = session.settings.trace_content
    asked: dict[str, Value | None] = {
        names.OPERATION_NAME: kind,
        names.OPERATION: name,
        names.STORE_ID: _group_of(query),
        names.QUERY_TEXT: getattr(query, "query", None) if is_captured else None,
        names.RECORDS: _records([query]) if is_captured and isinstance(query, Message) else None,
    }
    with tracing.span(kind or f"asof.{name}", asked) as span:
        now = session.now()

        def told(answer: Any) -> None:
            if span.is_recording:
                span.note(_noted(answer))
                if isinstance(query, GroupQuery):
                    span.note(_as_of(session, query, now))
                if is_captured and isinstance(answer, list):
                    span.note({names.RECORDS: _records([*answer, *getattr(answer, "episodes", ())])})

        yield told


@contextmanager
def submission_span(messages: Sequence[AnyMessage], *, is_captured: bool) -> Iterator[OpenSpan]:
    """Make what happens meanwhile the span of messages that are put on the log."""
    if not tracing.is_on():
        with tracing.span("") as span:
            yield span
        return
    groups = {message.group_id for message in messages}
    kind = names.DELETE if any(type(message) in _DELETES for message in messages) else names.UPSERT
    attributes: dict[str, Value | None] = {
        names.OPERATION_NAME: kind,
        names.STORE_ID: groups.pop() if len(groups) == 1 else None,
        names.RECORD_COUNT: len(messages),
        names.RECORDS: _records(messages) if is_captured else None,
    }
    with tracing.span(kind, attributes) as span:
        yield span


def _group_of(query: BaseModel) -> str | None:
    """Return the one group that a query or message is about; None: several, all or none."""
    if isinstance(query, GroupQuery):
        return query.groups[0] if query.groups is not None and len(query.groups) == 1 else None
    return getattr(query, "group_id", None)


def _noted(answer: Any) -> Mapping[str, Value | None]:
    match answer:
        case Added():
            return {names.RECORD_COUNT: 1, names.RECORD_ID: answer.episode_id, names.POSITION: answer.position}
        case Requested():
            return {names.RECORD_COUNT: 1, names.POSITION: answer.position}
        case Erasure():
            erased = None if answer.messages is None else len(answer.messages)
            return {names.RECORD_COUNT: erased, names.POSITION: answer.position}
        case Context():
            return {names.RECORD_COUNT: len(answer.items)}
        case Hits():
            return {names.RECORD_COUNT: len(answer) + len(answer.episodes)}
        case list():
            return {names.RECORD_COUNT: len(answer)}
    return {}


def _as_of(session: Session, query: GroupQuery, now: int) -> Mapping[str, Value | None]:
    """Return the moments and the generation that an answer is of, and how many messages wait behind it.

    Nothing, of partitions of which each has groups of its own, or where nothing was written.
    """
    found: dict[str, Value | None] = {}
    if isinstance(query, MomentQuery) and not (isinstance(query, AnyTimeQuery) and query.any_time):
        found[names.VALID_AT] = render(now if query.valid_at is None else query.valid_at)
    with suppress(AsofError):
        source = session.of(query.group)
        known, position = source.reached(query.group)
        if isinstance(query, KnownQuery):
            found[names.KNOWN_AT] = render(known if query.known_at is None else query.known_at)
        with SqliteLog(source.places.messages) as log:
            end = log.checkpoint() if is_copy(source.places.root) else log.end()
        found |= {
            names.GENERATION: source.opened().generation,
            names.POSITION: position,
            names.LAG: max(0, end - position),
        }
    return found


def _records(items: Iterable[Any]) -> str | None:
    """Return what was stored or found as the conventions want it: a list of records, as JSON; None: it has no words."""
    found = []
    for item in items:
        content = item.fact if isinstance(item, Fact) else getattr(item, "content", None)
        if content is not None:
            one: dict[str, Any] = {"content": content}
            if isinstance(item, Fact | Episode):
                one["id"] = item.uuid
            if (score := getattr(item, "score", None)) is not None:
                one["score"] = score
            found.append(one)
    return json.dumps(found, ensure_ascii=False) if found else None
