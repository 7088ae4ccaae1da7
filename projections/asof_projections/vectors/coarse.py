"""Vectors in 8 bits a dimension: half as much memory to read through as in 16. Products are off by less than a bound.

A scan of many vectors waits for memory, so it takes little more than half as long here. It serves to find candidates.

Each component is rounded after an offset that is drawn once for its dimension. So errors are independent of each other,
also in vectors with a pattern, such as those of words that are counted, and add up as a random walk does.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Vectors

_SPREAD: Final = 6.0  # times as large as the mean one a component may be; of a larger one, a part is cut off
_LEVELS: Final = 126  # and an offset
_DEVIATIONS: Final = 8.0  # which a sum of independent errors exceeds once in 10^13
_LONGEST: Final = 1.01  # the length of a row, which 16 bits put a little off 1
_TINY: Final = 1e-30  # a greatest component, so that nothing is divided by 0
_CHUNK: Final = 512  # rows encoded at once: what a core's cache holds


class Estimates(NamedTuple):
    """The rows of the greatest estimates, greatest first."""

    scores: NDArray[np.float64]
    rows: NDArray[np.int64]
    error: float  # by how much a score may be off


class CoarseCodes:
    """Holds rows in FAISS's memory. The range of a component depends on the dimensions alone, never on the content."""

    def __init__(self, faiss: Any, dimensions: int) -> None:
        quantizer = faiss.ScalarQuantizer.QT_8bit_direct_signed
        self._index = faiss.IndexScalarQuantizer(dimensions, quantizer, faiss.METRIC_INNER_PRODUCT)
        self._step: Final = min(1.0, _SPREAD / dimensions**0.5) / _LEVELS
        self._offsets, self._thresholds = np.random.default_rng(0).random((2, dimensions), np.float32)
        self._cut = 0.0  # the longest part that was cut off a row, in steps

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def extend(self, codes: NDArray[np.float16]) -> None:
        """Append rows."""
        self._reserve(len(codes))
        for start in range(0, len(codes), _CHUNK):
            levels = codes[start : start + _CHUNK].astype(np.float32)
            levels /= np.float32(self._step)
            levels += self._offsets
            np.rint(levels, out=levels)
            if np.abs(levels).max() > _LEVELS + 1:
                kept = np.clip(levels, -_LEVELS - 1, _LEVELS + 1)
                self._cut = max(self._cut, float(np.linalg.norm(levels - kept, axis=1).max()))
                levels = kept
            self._index.add_sa_codes((levels + 128).astype(np.uint8))

    def _reserve(self, count: int) -> None:
        """Reserve memory for `count` more rows, since growth by doubling leaves the old blocks behind.

        FAISS has no other way.
        """
        held = self._index.codes.size()
        self._index.codes.resize(held + count * self._index.code_size)
        self._index.codes.resize(held)

    def search(self, query: Vectors, most: int, parameters: Any) -> Estimates:
        """Return so many rows. parameters: of FAISS, such as a selector of rows. FAISS takes a query of whole numbers.

        Of a component, the share that is lost decides whether it is rounded up: above a threshold of its dimension.
        """
        step = max(float(np.abs(query).max()), _TINY) / _LEVELS
        levels = np.floor(query / step + self._thresholds).astype(np.float32)
        [scores], [rows] = self._index.search(levels.reshape(1, -1), most, params=parameters)
        length = float(np.linalg.norm(levels)) * step
        of_rows, of_query = 12**-0.5 * self._step * length, 0.5 * step * _LONGEST  # deviations, at most
        error = _DEVIATIONS * float(np.hypot(of_rows, of_query)) + self._cut * self._step * length
        exact = scores.astype(np.float64) - float(levels @ self._offsets)
        return Estimates(exact * (step * self._step), rows.astype(np.int64), error)
