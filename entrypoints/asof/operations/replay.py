"""Replay of a log into a sink: another directory, a topic, standard output, or a projection of the user's own."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from asof.operations.logs import opened_log
from asof.runtime.replay import Projection, Replay, ReplayPosition, Sink
from asof.runtime.replay import replay as replay_log
from asof.runtime.replay_sinks import DirectorySink, ProjectionSink, expect_projection, load_projection
from asof.service.session import Session
from asof_projections.model.answers import LogEvent
from asof_projections.model.queries import FAR, EventsQuery, Name, Query
from asof_streams.errors import InvalidInput
from asof_streams.sqlite_log import SqliteLog

_CLASS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_FOLDER: Final = "replays"  # of the positions that are kept for sinks


class ReplayQuery(Query):
    """Replay a log into another directory, a topic, or a projection of your own."""

    log: Literal["messages", "episodic", "semantic"] = Field("semantic", description="The log.")
    start: int | None = Field(
        None, alias="from", ge=0, le=FAR, description="From this position on. Left out: where this sink stopped, or 0."
    )
    stop: int | None = Field(None, alias="to", ge=0, le=FAR, description="Before this position.")
    generation: Name | None = Field(None, description="Of the semantic log: the one that answers, if left out.")
    pace: float | None = Field(
        None, gt=0, le=1e9, allow_inf_nan=False, description="Times the original speed, such as 60; else no pause."
    )
    name: Name | None = Field(None, description="Under which its position is kept: that of the target, if left out.")


def replay_into(
    session: Session,
    query: ReplayQuery,
    target: str | Projection,
    *,
    show: Callable[[LogEvent], None] | None = None,
    follow: bool = False,
    partition: int | None = None,
) -> Replay:
    """Replay a log into a target until the log's end; return what was replayed. `follow`: then wait for more.

    target: a projection, or MODULE:CLASS of one; kafka://HOST:PORT/TOPIC; the path of a directory, for the messages
    log from its beginning; or "-", of which `show` gets each event. InvalidInput: it is none of them.
    """
    of = EventsQuery.model_validate({"log": query.log, "generation": query.generation})
    with (
        opened_log(session, of, partition) as (places, log, generation, wait),
        closing(_sink(session, query, target, log, generation, show)) as sink,
    ):
        kept = ReplayPosition(places.root / _FOLDER, query.name or _name_of(target), log)
        own = sink.position()
        if own is not None and query.start not in (None, own):
            raise InvalidInput(f"this target goes on at {own}: leave it out", field="from")
        start = query.start if query.start is not None else kept.load() if own is None else own
        return replay_log(
            log,
            sink,
            start,
            query.stop,
            save=kept.save if own is None and target != "-" else _forget,
            pace=query.pace,
            wait=wait if follow else None,
        )


def _sink(
    session: Session,
    query: ReplayQuery,
    target: str | Projection,
    log: SqliteLog,
    generation: str | None,
    show: Callable[[LogEvent], None] | None,
) -> Sink:
    if not isinstance(target, str):
        return ProjectionSink(expect_projection(target), query.log, generation)
    if target == "-" and show is not None:
        return ProjectionSink(_Lines(show), query.log, generation)
    if target.startswith("kafka:"):
        from asof.kafka.replay_topic import TopicSink

        return TopicSink(target, log.name, session.settings)
    if _CLASS.fullmatch(target):
        return ProjectionSink(load_projection(target), query.log, generation, closes=True)
    if query.log != "messages":
        raise InvalidInput("a directory makes its own events of messages: say --log messages", field="log")
    return DirectorySink(log, Path(target), session.settings)


class _Lines:
    """A projection that shows each event."""

    def __init__(self, show: Callable[[LogEvent], None]) -> None:
        self._show = show

    def apply(self, events: Sequence[LogEvent]) -> None:
        for event in events:
            self._show(event)


def _name_of(target: str | Projection) -> str:
    """Return the name under which the position of a target is kept."""
    if not isinstance(target, str):
        target = f"{type(target).__module__}:{type(target).__qualname__}"
    return _NOT_IN_NAMES.sub(".", target).strip("._-")[-100:].lstrip("._-") or "stdout"


def _forget(_: int) -> None:
    """Keep no position: the target does it, or it has none."""
