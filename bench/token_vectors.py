"""Late interaction over the vectors of MiniLM's tokens, to measure with: each token of a question looks for the nearest
token of a turn, and the signal is the mean of the cosines.

The turns' vectors are 8-bit numbers in a memory-mapped file, and are read for the best candidates alone.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding import weights
from asof_projections.embedding.minilm import MiniLMEmbedder, _Encoder, _tensors
from asof_projections.embedding.ports import Vectors
from asof_projections.retrieval.question import STOP_WORDS
from bench.retrieval import Asked

BEST: Final = 100  # candidates whose token vectors are read
LAYERS: Final = {"last layer": slice(5, 6), "layers 4-6": slice(3, 6), "layers 1-6": slice(0, 6)}  # their mean
WORDS: Final = ("all words", "no stop words")
Column = NDArray[np.float64]


class TokenVectors(MiniLMEmbedder):
    """The vectors of a text's tokens, of unit length, for each choice of layers and words."""

    def __init__(self) -> None:
        super().__init__()
        file = weights.VerifiedFile(self._directory, weights.MODEL)
        self._layers_of: Final = _LayersEncoder(file, _tensors(file.content))

    def of(self, text: str) -> dict[str, Vectors]:
        """Return a row for each token, by the name of the choice."""
        tokens = self._tokenizer.encode(text)
        spans = {n: tokens.word_to_chars(word) for n, word in enumerate(tokens.word_ids) if word is not None}
        words = {n: text[slice(*span)].casefold() for n, span in spans.items() if span}
        places = list(spans) or [0]
        telling = [n for n in places if words.get(n, "").isalnum() and words[n] not in STOP_WORDS] or places
        layers = self._layers_of.layers(np.array([tokens.ids]))
        chosen: dict[str, Vectors] = {}
        for name, which in LAYERS.items():
            means = np.mean(layers[which], axis=0)
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            chosen |= {f"{name}, {kind}": means[rows] for kind, rows in zip(WORDS, (places, telling), strict=True)}
        return chosen


class _LayersEncoder(_Encoder):
    def layers(self, ids: NDArray[np.int64]) -> list[Vectors]:
        """Return what each layer makes of one text's tokens."""
        x = self._norm(self._words.of(ids) + self._positions[: ids.shape[1]])
        made = []
        for layer in self._layers:
            x = layer(x)
            made.append(x[0])
        return made


class LateInteraction:
    """The token vectors of all turns, for one choice, in a memory-mapped file."""

    def __init__(self, path: Path, turns: Mapping[tuple[str, str], Vectors]) -> None:
        ends = np.cumsum([0, *(len(rows) for rows in turns.values())])
        self._place: Final = dict(zip(turns, pairwise(ends.tolist()), strict=True))
        every = np.concatenate([*turns.values()])
        (every * (127 / np.abs(every).max())).round().astype(np.int8).tofile(path)  # the scale makes no difference
        self._rows: Final = np.memmap(path, np.int8, "r").reshape(every.shape)
        self.bytes_a_turn: Final = path.stat().st_size / len(turns)

    def signal(self, asked: Asked, question: Vectors, scores: Column) -> Column:
        """Return the mean of the greatest cosines, spread from 0 to 1 among the best candidates; 0 of the others."""
        best = np.argsort(-scores, kind="stable")[:BEST]
        places = [self._place[asked.group, asked.names[n]] for n in best]
        tokens = np.concatenate([self._rows[first:end] for first, end in places]).astype(np.float32)
        starts = np.cumsum([0, *(end - first for first, end in places[:-1])])
        near = np.maximum.reduceat(question @ tokens.T, starts, axis=1).mean(0)
        column = np.zeros(len(scores))
        column[best] = (near - near.min()) / max(float(np.ptp(near)), 1e-9)
        return column
