"""Letting no vector of an erased group stay: neither by content nor in an index."""

from asof.places import Places
from asof_projections.graph.sqlite import SqliteGraph
from asof_streams.errors import ContractError


def forget_vectors(places: Places, generation: str, group: str) -> None:
    """Forget a group's vectors, by what the generation's graph still says of it; the next search makes the index anew.

    To be called before the graph forgets the group. Where the graph cannot say, all vectors are forgotten.
    """
    places.index(generation).unlink(missing_ok=True)
    if not places.vectors.exists():
        return
    try:
        with SqliteGraph(places.graph(generation), f"semantic.{generation}") as store:
            sentences = [sentence for _, of, sentence in store.sentences() if of == group]
    except ContractError:  # not there, damaged, or of another version: nobody knows whose the vectors are
        for suffix in ("", "-wal", "-shm"):
            places.vectors.with_name(places.vectors.name + suffix).unlink(missing_ok=True)
        return
    from asof_projections.embedding.cache import CachedEmbedder
    from asof_projections.embedding.hashing import HashingEmbedder

    cache = CachedEmbedder(HashingEmbedder(), places.vectors)  # what it forgets, it forgets of every model
    try:
        cache.forget(sentences)
    finally:
        cache.close()
