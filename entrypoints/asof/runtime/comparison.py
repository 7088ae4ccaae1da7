"""A comparison of two generations of a directory, opened for reading."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing
from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.queries.comparison import Comparison, GenerationView
from asof_streams.sqlite_log import SqliteLog


@contextmanager
def open_comparison(places: DirectoryLayout, base: str, other: str, known: int) -> Iterator[tuple[Comparison, int]]:
    """Open two generations side by side; yield their comparison, and the known moment that it is as of.

    The directory's own graphs are read, also where questions are answered by a graph database. A writer commits one
    generation after the other: where one is behind, both are asked as of the last message that it has.
    NotFound: there is no such generation.
    """
    catalog = existing(places)
    names = [catalog[name].name for name in (base, other)]
    with ExitStack() as opened:
        stores = []
        for name in names:
            store = SqliteGraph(places.graph(name), f"semantic.{name}")
            opened.callback(store.close)
            store.begin_read()
            opened.callback(store.end_read)
            stores.append(store)
        known = min(known, _known_to_all(places, [store.checkpoint() for store in stores], known))
        views = []
        for store in stores:
            episodes = EpisodeReader(places.episodes, store.checkpoint)
            opened.callback(episodes.close)
            views.append(GenerationView(store, episodes, known))
        yield Comparison(*views), known


def _known_to_all(places: DirectoryLayout, checkpoints: list[int], known: int) -> int:
    """Return when the last record of the episodic log was recorded that every store has followed."""
    first = min(checkpoints)
    if first == max(checkpoints) or first == 0:
        return known
    with SqliteLog(places.episodic) as records:
        return records.recorded_at(first - 1)
