"""The answers and failures of language models that the graphs of a directory have recorded."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed


def find_answer(stores: Iterable[SqliteGraph], group: str, request: str) -> ExtractionAnswered | None:
    """Return a model's answer to a request, from whichever graph has it."""
    answers = (store.answer(group, request) for store in stores)
    return next((answered for answered in answers if answered and answered.answer), None)  # "": it was suppressed


def find_failure(stores: Iterable[SqliteGraph], group: str, request: str, cause: int) -> ExtractionFailed | None:
    """Return the failure of a request about a message, from whichever graph has it."""
    return next(filter(None, (store.failure(group, request, cause) for store in stores)), None)


def open_answers(opened: ExitStack, places: DirectoryLayout, also: str | None = None) -> list[SqliteGraph]:
    """Open the graphs that have answers: of the episodic log, then of each generation.

    also: a generation that is in no catalogue, because its build is not complete; there may be none of this name.
    """
    names = [info.name for info in existing(places).generations]
    if also is not None and also not in names and places.graph(also).exists():
        names.append(also)
    logs = {"episodic": places.episodes} | {f"semantic.{name}": places.graph(name) for name in names}
    return [opened.enter_context(SqliteGraph(path, log)) for log, path in logs.items()]


def each_reply(
    stores: Iterable[SqliteGraph], group: str | None
) -> Iterator[tuple[str, ExtractionAnswered | ExtractionFailed]]:
    """Yield the answers and failures of a group, or of all, with their groups; each where it was recorded first.

    A generation that uses the answer of another records it too.
    """
    earlier: list[SqliteGraph] = []
    for store in stores:
        yield from _first_in(store, earlier, group)
        earlier.append(store)


def build_replies(parts: Iterable[DirectoryLayout], name: str) -> Iterator[ExtractionAnswered | ExtractionFailed]:
    """Yield the answers and failures that a build has recorded so far and nothing else had, over all partitions."""
    for places in parts:
        with ExitStack() as opened:
            stores = open_answers(opened, places, name)
            for store in (one for one in stores if one.path == places.graph(name)):
                others = [other for other in stores if other is not store]
                yield from (reply for _, reply in _first_in(store, others, None))


def _first_in(
    store: SqliteGraph, earlier: Sequence[SqliteGraph], group: str | None
) -> Iterator[tuple[str, ExtractionAnswered | ExtractionFailed]]:
    for name, answered in store.answers(group):
        if all(one.answer(name, answered.request) is None for one in earlier):
            yield name, answered
    for name, cause, failed in store.failures(group):
        if all(one.failure(name, failed.request, cause) is None for one in earlier):
            yield name, failed
