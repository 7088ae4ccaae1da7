"""Random vectors for a directory: a search among any takes as long as among those of a model, which take minutes."""

from contextlib import closing
from typing import Any, Final

import numpy as np

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import open_reader
from asof.settings import Settings
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Vectors
from asof_projections.embedding.weights import MINILM_ID
from asof_projections.vectors.projection import facts_of, names_of, turns_of
from bench.indexes import filled_index


class RandomEmbedder:
    """Stands in for all-MiniLM-L6-v2."""

    model_id: Final = MINILM_ID
    dimensions: Final = 384

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    def embed(self, texts: Any) -> Vectors:
        drawn = self._random.standard_normal((len(texts), self.dimensions), np.float32)
        unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit


def give_vectors(places: DirectoryLayout) -> None:
    """Give every fact, name and turn of a directory a vector."""
    with closing(open_reader(places, Settings())) as opened, closing(_cache(places)) as cache:
        texts = {
            places.index(opened.generation): facts_of(opened.beliefs),
            places.names_index(opened.generation): names_of(opened.beliefs),
            places.turns_index: turns_of(opened.episodes),
        }
        for path, of in texts.items():
            filled_index(path, of, cache)


def _cache(places: DirectoryLayout) -> CachedEmbedder:
    return CachedEmbedder(RandomEmbedder(), places.vectors)
