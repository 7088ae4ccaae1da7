"""Vector indexes to measure with: the saved one of a file, with a vector for each text."""

from pathlib import Path

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import Texts, VectorProjection


def filled_index(path: Path, texts: Texts, cache: CachedEmbedder) -> FaissVectorIndex:
    """Return the saved index of a file, with a vector for each text."""
    index = FaissVectorIndex.open(path, cache.model_id, cache.dimensions)
    projection = VectorProjection(texts, cache, index)
    projection.catch_up()
    projection.save()
    return index
