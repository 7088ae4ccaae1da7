"""The port of an embedder: it turns texts into unit vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors, whose cosine is the similarity of their meanings."""

    @property
    def model_id(self) -> str:
        """Name and digest of the weights: vectors compare only with vectors of the same model_id."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of unit length for each text, in order, shape (len(texts), dimensions).

        A text's vector does not depend on the other texts (within 1e-6). ModelUnavailable.
        """
        ...
