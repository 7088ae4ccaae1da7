"""The vectors of relations' names, kept while a generation is open: they are few, and every search needs them."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Embedder, Vectors

_KEPT: Final = 1_000


class RelationVectors:
    """Embeds the names of relations, each once as long as it is among the last that were asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def cosines(self, vector: Vectors, relations: Sequence[str]) -> NDArray[np.float64]:
        """Return the cosine of a vector with each relation's name."""
        names = list(dict.fromkeys(relations))
        vectors = self._of(names)
        cosines = {name: float(vectors[name] @ vector) for name in names}
        return np.array([cosines[name] for name in relations], np.float64)

    def _of(self, names: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        kept = self._vectors
        vectors = {name: kept[name] for name in names if name in kept}
        if new := [name for name in names if name not in kept]:
            vectors |= zip(new, self._embedder.embed([name.replace("_", " ") for name in new]), strict=True)
        self._vectors = dict([*((n, v) for n, v in kept.items() if n not in vectors), *vectors.items()][-_KEPT:])
        return vectors
