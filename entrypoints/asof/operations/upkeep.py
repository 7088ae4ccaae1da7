"""The operations on a memory as a whole: how much it holds, whether it is whole, and the graph as text."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from asof.operations.moments import moment_of
from asof.operations.operation import operation
from asof.runtime import embedders, integrity
from asof.runtime.integrity import Check
from asof.runtime.log_compression import LogCompression, compress_logs
from asof.runtime.repair import repair as mend
from asof.runtime.snapshots import take_snapshots
from asof.service.session import Session
from asof_projections.graph.sqlite_store.snapshots import GraphSnapshot
from asof_projections.model.answers import Embedded
from asof_projections.model.queries import ExportQuery, Query
from asof_projections.model.rows import Moment
from asof_projections.queries import export as documents
from asof_streams.errors import DamagedData, EmptyMemory, InvalidInput

P = TypeVar("P", str, bytes)


class StatsQuery(Query):
    """Count what is there."""


class EmbedQuery(Query):
    """Make the vectors that are missing."""


class VerifyQuery(Query):
    """Check every log and every projection."""


class RepairQuery(Query):
    """Make again what is damaged."""


class CompressQuery(Query):
    """Compress the older records of the logs."""


class SnapshotQuery(Query):
    """Take a snapshot of each graph."""


@operation()
def stats(session: Session, query: StatsQuery) -> dict[str, Any]:
    """Return how much there is, how far each log and store has come, and what was parked and why."""
    del query
    sources = session.sources.every()
    for source in sources:
        source.process_backlog()
    counts = [integrity.stats(source.places) for source in sources]
    counted = counts[0] if len(counts) == 1 else integrity.together(counts, [s.places.root.name for s in sources])
    return {
        **counted,
        "embedder": embedders.resolve_embedder(session.settings),
        "embedder_fallback": embedders.embedder_fallback(session.settings),
    }


@operation(vectors=lambda _: True)
def embed(session: Session, query: EmbedQuery) -> Embedded:
    """Make the vectors that facts, names and episodes lack; return how many there are then. Others wait meanwhile.

    No search needs it: what lacks a vector is found by words, and is embedded behind it.
    """
    del query
    try:
        return Embedded(sum(source.embed(session.progress) for source in session.sources.every()))
    except EmptyMemory:
        return Embedded(0)


@operation(items="checks")
def verify(session: Session, query: VerifyQuery) -> list[Check]:
    """Check every hash chain, and that every store equals one built anew from its log."""
    del query
    checks: list[Check] = []
    sources = session.sources.every()
    for source in sources:
        with suppress(DamagedData):  # it is among what is found, beside all else
            source.process_backlog()
        where = f"{source.places.root.name}: " if len(sources) > 1 else ""
        checks += (
            replace(check, what=where + check.what) for check in integrity.verify(source.places, session.progress)
        )
    return checks


@operation(items="checks")
def repair(session: Session, query: RepairQuery) -> list[Check]:
    """Make again what `verify` finds damaged, each from the log before it; return what became of it. WriterBusy."""
    del query
    if session.on_kafka:
        raise InvalidInput("on Kafka a worker keeps the directory: stop it, delete the directory, and start it again")
    session.release()
    checks: list[Check] = []
    for source in session.sources.every():
        checks += mend(source.places, session.settings, session.progress)
    return checks


@operation(items="logs")
def compress(session: Session, query: CompressQuery) -> list[LogCompression]:
    """Compress the records of each log but its newest, also while another process writes; return how much each shrank.

    InvalidInput: the directory is a copy of topics. DamagedLog: all before the damage is compressed.
    """
    del query
    return list(compress_logs(session.places, session.progress))


@operation(items="graphs")
def snapshot(session: Session, query: SnapshotQuery) -> list[GraphSnapshot]:
    """Take a snapshot of each graph, also while another process writes; return what was taken.

    A graph that is lost or cannot be read is then made of its snapshot and the rest of its log. NotFound: a graph was
    never made. DamagedView: one is damaged. WriterBusy: an erasure is under way.
    """
    del query
    taken: list[GraphSnapshot] = []
    sources = session.sources.every()
    for source in sources:
        source.process_backlog()
        where = f"{source.places.root.name}: " if len(sources) > 1 else ""
        taken += (replace(one, log=where + one.log) for one in take_snapshots(source.places, session.progress))
    return taken


def export(session: Session, query: ExportQuery) -> Iterator[str]:
    """Yield the graph as text, as it is read: what is believed as of a moment, or what was recorded.

    What happened before the moment is there too, and what is planned. InvalidInput: the form is no text.
    """
    return _unlocked(session, _text(session, query))


def export_file(session: Session, query: ExportQuery) -> Iterator[bytes]:
    """Yield what `export` does, or Parquet, as the bytes of a file; text is UTF-8.

    InvalidInput: it is Parquet, and pyarrow is not installed.
    """
    if query.format == "parquet":
        return _unlocked(session, _facts_file(session, query))
    return (piece.encode() for piece in export(session, query))


def _unlocked(session: Session, pieces: Iterator[P]) -> Iterator[P]:
    """Yield pieces, each read under the session's lock: not while whoever asks does something with one."""
    while True:
        with session.lock:
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


def _text(session: Session, query: ExportQuery) -> Iterator[str]:
    if query.format == "parquet":
        raise InvalidInput("parquet is no text: --output FILE writes it to a file", "format")
    opened = session.of(query.group).opened()
    if query.episodic:
        yield from documents.episodic(
            opened.episodes, query.group, Moment(query.valid_at, query.known_at), details=query.details
        )
        return
    yield from documents.semantic(
        opened.beliefs, query.group, _moment(session, query), query.format, details=query.details
    )


def _facts_file(session: Session, query: ExportQuery) -> Iterator[bytes]:
    yield from documents.facts_file(session.of(query.group).opened().beliefs, query.group, _moment(session, query))


def _moment(session: Session, query: ExportQuery) -> Moment:
    at = moment_of(session, query)
    return Moment(query.valid_at, at.known, ever=True) if query.versions else at
