"""BM25 over texts of which one knows which words they have: a word counts once, however often a text says it."""

import numpy as np
from numpy.typing import NDArray

_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # k1 and b


def word_weight(having: NDArray[np.floating] | float, texts: int) -> NDArray[np.float64]:
    """Return the weight of a word by how many of the texts have it: the inverse document frequency."""
    return np.asarray(np.log((texts + 1) / (having + 0.5)), np.float64)


def bm25(weights: NDArray[np.floating], words: NDArray[np.integer], usual: float) -> NDArray[np.float64]:
    """Return the scores of texts.

    weights: the summed weights of the words that each has. words: how many it has in all; usual: of how many on, they
    count for less.
    """
    lengths = 1 - _LENGTH_SHARE + _LENGTH_SHARE * words / usual
    return np.asarray(weights * (1 + _SATURATION) / (1 + _SATURATION * lengths), np.float64)
