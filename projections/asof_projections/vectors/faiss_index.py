"""A vector index in FAISS: flat, 16 bits a dimension, exact.

Rows are sorted by id, so that equal content has equal bytes, and an id is found by bisection. Candidates among many
rows are found by their coarse codes, and scored by their own: where the codes leave any doubt, all rows are scanned.
"""

import logging
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Vectors
from asof_projections.vectors import snapshot
from asof_projections.vectors.coarse import CoarseCodes, Estimates
from asof_projections.vectors.ports import Ids, LiveFacts
from asof_streams.errors import DamagedView

log = logging.getLogger(__name__)

SPARE: Final = 16  # candidates beyond the k asked for: they show that none was missed
MARGIN: Final = 5e-5  # more than FAISS's sums of 32-bit products can be off, in whatever order it adds
SPARSE: Final = 64  # times as large as its place among the ids may an id be
MANY: Final = 16_384  # rows from which on a scan of coarse codes is worth their memory
ESTIMATED: Final = 512  # rows with the greatest estimates that are candidates at most, or
TIMES: Final = 4  # as many as are asked for; and
AGAIN: Final = 8  # times as many, where those leave a doubt: a scan of all rows' own vectors takes far longer
ENCODED: Final = 4_096  # rows encoded at once: in what a search may wait for
WORTH: Final = 50  # scans of many rows without their codes take longer by as much as it takes to make these
RESCORED: Final = 128  # candidates scored at once: what a core's cache holds

Codes = NDArray[np.float16]


class _Allowed(NamedTuple):
    """The rows that a search is limited to."""

    ids: Ids | None  # as they were asked for
    size: int
    parameters: Any  # of FAISS; None: all rows
    rows: NDArray[np.bool] | None  # which they are; None: all


class _OtherModelError(Exception):
    """A saved index is of another model, as after a change of the embedder; its name is the text."""


class FaissVectorIndex:
    """Holds each vector once, in FAISS's memory, as float16. Safe to share between threads."""

    def __init__(self, path: Path, model_id: str, dimensions: int) -> None:
        """Make an empty index that saves to `path`; `open` reads a saved one."""
        import faiss  # noqa: PLC0415 - takes a second

        faiss.omp_set_num_threads(1)  # a query is work for one thread; more would only wait for each other
        self._faiss: Any = faiss
        self._path = path
        self._model_id = model_id
        self._dimensions = dimensions
        self._lock = threading.Lock()  # FAISS moves its memory when it grows
        self._view: Codes | None = None  # of that memory; None: rows came or went since it was looked for
        self._clear()
        self.position = 0

    @classmethod
    def open(cls, path: Path, model_id: str, dimensions: int) -> Self:
        """Open a saved index. If its file is missing, damaged or of another model, it is empty, at position 0.

        It is a projection, so its log restores it. StorageFailed: the file cannot be read.
        """
        index = cls(path, model_id, dimensions)
        try:
            snapshot.read(path, index._room)
        except FileNotFoundError:
            return index
        except _OtherModelError as other:
            log.info("the vector index is of %s: it is made anew with %s", other, model_id)
            return cls(path, model_id, dimensions)
        except DamagedView:
            log.warning("the vector index is damaged and made anew", extra={"file": str(path)})
            return cls(path, model_id, dimensions)
        return index

    def __len__(self) -> int:
        return len(self._ids)

    def encode_some(self) -> bool:
        """Make the coarse codes of some rows, where there are many; return whether others have none yet."""
        with self._lock:
            if len(self) >= MANY:
                self._coarse.extend(self._codes[len(self._coarse) :][:ENCODED])
            return len(self._coarse) < len(self) >= MANY

    def add(self, ids: Ids | Sequence[int], vectors: Vectors, groups: Sequence[str] = ()) -> None:
        del groups  # erasing a group removes its ids
        assert vectors.shape == (len(ids), self._dimensions)
        # the last, where an id is given twice; rounded by numpy, for FAISS's own rounding is not always to the nearest
        given, last = np.unique(np.asarray(ids, np.int64)[::-1], return_index=True)
        codes = vectors[::-1][last].astype(np.float16)
        with self._lock:
            rows = np.searchsorted(self._held, given)
            held = self._held.take(rows, mode="clip") == given if len(self) else np.zeros(len(given), np.bool)
            if held.any():
                self._codes[rows[held]] = codes[held]
                self._forget_estimates()
            self._insert(given[~held], codes[~held])

    def remove(self, ids: Ids | Sequence[int]) -> None:
        with self._lock:
            gone = np.isin(self._held, np.asarray(ids, np.int64))
            self._index.remove_ids(self._selector(gone))
            self._view = None
            self._ids = array("q", self._held[~gone].tobytes())
            self._forget_estimates()

    def clear(self) -> None:
        with self._lock:
            self._path.unlink(missing_ok=True)
            self._clear()
            self.position = 0

    def search(self, query: Vectors, k: int, among: Ids | LiveFacts | None = None) -> list[tuple[int, float]]:
        ids = among.numbers() if isinstance(among, LiveFacts) else among
        with self._lock:
            rows = self._among_most(query, k, ids) if ids is not None and ids is not among else _NONE
            if not len(rows):
                allowed = self._rows_of(ids)
                if min(k, allowed.size) <= 0:
                    return []
                rows = self._candidates(query, k, allowed)
            found, scores = self._held[rows], self._scores(rows, query)
        nearest = np.lexsort((found, -scores))[:k]
        return list(zip(found[nearest].tolist(), scores[nearest].tolist(), strict=True))

    def cosines(self, query: Vectors, ids: Ids) -> NDArray[np.float64]:
        found = np.full(len(ids), np.nan)
        with self._lock:
            if len(self):
                rows = np.searchsorted(self._held, ids).clip(max=len(self) - 1)
                held = np.flatnonzero(self._held[rows] == ids)
                if len(held):
                    found[held] = self._scores(rows[held], query)
        return found

    def save(self, position: int) -> None:
        with self._lock:
            digest = snapshot.digest(self._body)
            header = snapshot.Header(self._model_id, self._dimensions, len(self), position, digest)
            snapshot.write(self._path, header, self._body)
            self.position = position

    def digest(self) -> str:
        with self._lock:
            return snapshot.digest(self._body)

    def _clear(self) -> None:
        quantizer = self._faiss.ScalarQuantizer.QT_fp16
        self._index = self._faiss.IndexScalarQuantizer(self._dimensions, quantizer, self._faiss.METRIC_INNER_PRODUCT)
        self._ids = array("q")  # grows in place, which a numpy array does not
        self._view = None
        self._forget_estimates()

    def _forget_estimates(self) -> None:
        """Drop the coarse codes: rows are other than they were. Searches among many make them anew."""
        self._coarse = CoarseCodes(self._faiss, self._dimensions)
        self._uncoded = 0  # scans of many rows that did without
        self._allowed: _Allowed | None = None  # of the last search
        self._scanned: tuple[bytes, dict[int, Estimates]] | None = None  # the last query; scans of all rows, by size

    @property
    def _held(self) -> Ids:
        """The ids, by row: a view, valid until rows come or go."""
        return np.frombuffer(self._ids, np.int64)

    @property
    def _codes(self) -> Codes:
        """The vectors, by row: FAISS's own memory, valid until rows come or go."""
        if not len(self):
            return np.empty((0, self._dimensions), np.float16)
        if self._view is None:
            memory = self._faiss.rev_swig_ptr(self._index.codes.data(), self._index.codes.size())
            self._view = memory.view(np.float16).reshape(-1, self._dimensions)
        return self._view

    @property
    def _body(self) -> list[memoryview]:
        return [self._held.view(np.uint8).data, self._codes.reshape(-1).view(np.uint8).data]

    def _room(self, header: snapshot.Header) -> list[memoryview]:
        """Allocate the buffers of the index for a file, so that it is read without a copy."""
        if (header.model_id, header.dimensions) != (self._model_id, self._dimensions):
            raise _OtherModelError(header.model_id)
        self._ids = array("q", bytes(header.count * snapshot.ID_BYTES))
        self._index.codes.resize(header.count * self._dimensions * snapshot.CODE_BYTES)
        self._index.ntotal = header.count
        self._view = None
        self.position = header.position
        return self._body

    def _insert(self, ids: Ids, codes: Codes) -> None:
        """Insert new ids, ascending. They are nearly always larger than the old ones; else all rows are rewritten."""
        if len(ids) and len(self) and ids[0] < self._ids[-1]:
            ids, codes = np.concatenate([self._held, ids]), np.concatenate([self._codes, codes])
            order = np.argsort(ids)
            ids, codes = ids[order], codes[order]
            self._clear()
        self._allowed = self._scanned = None
        self._index.add_sa_codes(codes.view(np.uint8))
        self._view = None
        self._ids.frombytes(ids.tobytes())

    def _rows_of(self, ids: Ids | None) -> _Allowed:
        """Return the rows of some ids; those of an array that cannot change are kept for the next search."""
        if self._allowed is None or self._allowed.ids is not ids:
            self._allowed = self._select(ids)
        allowed = self._allowed
        if ids is None or ids.flags.writeable:
            self._allowed = None
        return allowed

    def _select(self, ids: Ids | None) -> _Allowed:
        if ids is None or (len(ids) == len(self) and np.array_equal(ids, self._held)):
            return _Allowed(ids, len(self), None, None)
        if not len(self) or self._ids[0] < 0 or self._ids[-1] >= SPARSE * len(self):
            rows = np.isin(self._held, ids)
        else:  # quicker, where it is not much larger than the ids
            chosen = np.zeros(self._ids[-1] + 1, np.bool)
            chosen[ids[(ids >= 0) & (ids < len(chosen))]] = True
            rows = chosen[self._held]
        count = int(np.count_nonzero(rows))
        if count == len(self):
            return _Allowed(ids, count, None, None)
        return _Allowed(ids, count, self._faiss.SearchParameters(sel=self._selector(rows)), rows)

    def _among_most(self, query: Vectors, k: int, ids: Ids) -> Ids:
        """Return rows that certainly include the k nearest of some ids, ascending; none, where that is not certain.

        Only where most rows are theirs: to look a few candidates up among the ids is faster than to mark all rows.
        """
        if k <= 0 or len(self) < MANY or 2 * len(ids) < len(self) or self._are_many_uncoded or not self._is_coded():
            return _NONE

        def are_among(rows: Ids) -> NDArray[np.bool]:
            candidates = self._held[rows]
            found: NDArray[np.bool] = ids[np.searchsorted(ids, candidates).clip(max=len(ids) - 1)] == candidates
            return found

        return self._estimated(k, partial(self._scan_all, query, are_among))

    def _candidates(self, query: Vectors, k: int, allowed: _Allowed) -> Ids:
        """Return rows that certainly include the k nearest, and some others.

        FAISS adds in 32 bits, so its scores may be off by MARGIN. It searches for more candidates until the last is
        further from the k-th than that, or until all are candidates.
        """
        _, count, parameters, _ = allowed
        if count >= MANY and self._is_coded():
            rows = self._estimated(k, partial(self._scan, query, allowed))
            if len(rows):
                return rows
        asked = k + SPARE
        while True:
            [scores], [rows] = self._index.search(query.reshape(1, -1), min(asked, count), params=parameters)
            if asked >= count or scores[k - 1] - scores[-1] > MARGIN:
                return np.asarray(rows, np.int64)
            asked *= 4

    def _is_coded(self) -> bool:
        """Return whether all rows have coarse codes. A few get them now; many, once that is worth it.

        The first search of a process would take ten times as long otherwise.
        """
        if self._are_many_uncoded and self._uncoded < WORTH:
            self._uncoded += 1
            return False
        self._coarse.extend(self._codes[len(self._coarse) :])
        return True

    @property
    def _are_many_uncoded(self) -> bool:
        return len(self) - len(self._coarse) > ENCODED

    def _estimated(self, k: int, scan: Callable[[int], tuple[Estimates, float]]) -> Ids:
        """Return rows that certainly include the k nearest, by their coarse codes; none, where that is not certain.

        scan: returns so many rows, or fewer, by their estimates; and what all the others are at most estimated at.

        A text that is repeated often has as many equal vectors, and they are all candidates: then more are looked at.
        """
        most = max(ESTIMATED, TIMES * k)
        for asked in (most, AGAIN * most):
            found, rest = scan(asked)
            if len(found.scores) < k:
                continue
            least = found.scores[k - 1] - 2 * (found.error + MARGIN)
            if rest < least:
                rows: Ids = found.rows[found.scores >= least]
                return rows
        return _NONE

    def _scan(self, query: Vectors, allowed: _Allowed, asked: int) -> tuple[Estimates, float]:
        """Scan the rows that are allowed; where those are most, all of them."""
        if 2 * allowed.size < len(self):
            found = self._coarse.search(query, min(asked, allowed.size), allowed.parameters)
            return found, float("-inf") if asked >= allowed.size else float(found.scores[-1])
        return self._scan_all(query, None if allowed.rows is None else allowed.rows.__getitem__, asked)

    def _scan_all(
        self, query: Vectors, are_among: Callable[[Ids], NDArray[np.bool]] | None, asked: int
    ) -> tuple[Estimates, float]:
        """Scan all rows. Scans are kept: a question is often asked about facts that hold and about those of any time.

        are_among: returns which of some rows count; None: all do.
        """
        question = query.tobytes()
        if self._scanned is None or self._scanned[0] != question:
            self._scanned = question, {}
        scans = self._scanned[1]
        if asked not in scans:
            scans[asked] = self._coarse.search(query, min(asked, len(self)), None)
        found = scans[asked]
        rest = float("-inf") if asked >= len(self) else float(found.scores[-1])
        if are_among is not None:
            among = are_among(found.rows)
            found = Estimates(found.scores[among], found.rows[among], found.error)
        return found, rest

    def _scores(self, rows: Ids, query: Vectors) -> NDArray[np.float64]:
        """Return cosines in 64 bits. Each row is summed alone in one order, so that equal vectors have equal scores."""
        exact, codes = query.astype(np.float64) * _BIAS, self._codes
        pieces = (rows[start : start + RESCORED] for start in range(0, len(rows), RESCORED))
        return np.concatenate([np.vecdot(_wide(codes[piece]), exact) for piece in pieces])

    def _selector(self, rows: NDArray[np.bool]) -> Any:
        """Select rows by bitmap, FAISS's fastest selector for few rows and for many."""
        return self._faiss.IDSelectorBitmap(np.packbits(rows, bitorder="little"))


_NONE: Final[Ids] = np.empty(0, np.int64)  # no rows
_SIGN_AND_REST: Final = np.int32(-0x70000001)  # all bits but the three that a sign is spread over
_BIAS: Final = 2.0**112  # 127 - 15, the difference of the exponents' biases


def _wide(codes: Codes) -> NDArray[np.float64]:
    """Return numbers in 64 bits, divided by _BIAS, all exactly. numpy's own way takes three times as long."""
    bits = codes.view(np.int16).astype(np.int32)
    bits <<= 13  # the place of the exponent and the fraction among 32 bits
    bits &= _SIGN_AND_REST
    return bits.view(np.float32).astype(np.float64)
