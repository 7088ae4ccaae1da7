"""Letting no vector of an erased group stay: neither by content nor in an index."""

from itertools import chain

from asof.runtime.layout import DirectoryLayout
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import ContractError


def erase_vectors(places: DirectoryLayout, generation: str, group: str) -> None:
    """Forget a group's vectors, by what the generation's graph still says of it; the next search makes the index anew.

    To be called before the graph forgets the group. Where the graph cannot say, all vectors are forgotten.
    """
    for index in (places.index(generation), places.names_index(generation)):
        index.unlink(missing_ok=True)
    if not places.vectors.exists():
        return
    try:
        with SqliteGraph(places.graph(generation), f"semantic.{generation}") as store:
            texts = [text for _, of, text in chain(store.sentences(), store.names()) if of == group]
    except ContractError:  # not there, damaged, or of another version: nobody knows whose the vectors are
        for suffix in ("", "-wal", "-shm"):
            places.vectors.with_name(places.vectors.name + suffix).unlink(missing_ok=True)
        return
    from asof_projections.embedding.cache import CachedEmbedder
    from asof_projections.embedding.hashing import HashingEmbedder

    cache = CachedEmbedder(HashingEmbedder(), places.vectors)  # what it forgets, it forgets of every model
    try:
        cache.forget(texts)
    finally:
        cache.close()
