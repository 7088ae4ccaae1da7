"""The embedder that needs no weights: its vectors are made of a text's words and their parts.

It is lexical, not semantic: "car" is near "cars" and far from "automobile". It is for use without a model.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from asof_projections.embedding.ports import Vectors

DIMENSIONS: Final = 384
PART_LENGTHS: Final = (3, 4)
_WORD: Final = re.compile(r"\w+")


class HashingEmbedder:
    """Signed feature hashing of words and their parts of three and four characters; the same on every machine."""

    model_id: Final = "lexical-hashing-v1"  # a new number whenever a text would get another vector
    dimensions: Final = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for place, weight in _features(text):
                row[place] += weight
            if not row.any():  # no words, or features that cancel out: still a direction, one that all such texts share
                row[0] = 1
        vectors /= np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        return vectors


def _features(text: str) -> Iterator[tuple[int, float]]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield from _word_features(word)


@lru_cache(maxsize=65_536)
def _word_features(word: str) -> tuple[tuple[int, float], ...]:
    """Return the places and weights of a word; its parts together weigh as much as the whole word."""
    framed = f"<{word}>"  # so that a part at the start or the end of a word is another part
    parts = [framed[at : at + size] for size in PART_LENGTHS for at in range(len(framed) - size + 1)]
    weight = 1 / len(parts) ** 0.5
    return (_place(f"word {word}", 1.0), *(_place(f"part {part}", weight) for part in parts))


def _place(feature: str, weight: float) -> tuple[int, float]:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (number >> 1) % DIMENSIONS, weight if number & 1 else -weight
