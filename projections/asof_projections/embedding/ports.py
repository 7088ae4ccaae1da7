"""What an embedder is: texts in, unit vectors out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into directions whose cosine says how near their meanings are."""

    @property
    def model_id(self) -> str:
        """Name and digest of the weights: vectors compare only with vectors of the same model_id."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of unit length a text, in order, shape (len(texts), dimensions).

        A text's row does not depend on the texts beside it (within 1e-6). Raises ModelUnavailable.
        """
        ...
