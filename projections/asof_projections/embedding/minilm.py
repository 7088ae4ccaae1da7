"""all-MiniLM-L6-v2 without torch: a BERT encoder of six layers, mean pooling, unit length.

Texts are grouped by their number of tokens, so nothing is padded and nothing masked; and every matrix product runs
over one text at a time, in one thread, so a text's vector is the same to the last bit whatever stands beside it in a
batch and however many cores there are. A vector recomputed by a replay is therefore the vector that was stored.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding import blas, weights
from asof_projections.embedding.ports import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LAYERS: Final = 6
HEADS: Final = 12
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 256  # of a text, with the two that mark its ends; the rest is not read, as in sentence-transformers
BATCH_TOKENS: Final = 1024  # worked on at once by one thread: bounds its memory (some 30 MB) without costing speed
BLOCK: Final = 32  # outputs of a matrix computed at once
SMALL: Final = 1_000_000  # multiplications of a product that OpenBLAS takes as small
SUMS: Final = {384: (384,), 1536: (448, 448, 320, 320)}  # terms that a larger product adds up at once, by width
SLAB_ROWS: Final = 64  # of the wide activations: what stays in a core's cache during the dozen passes of _gelu
SAID_WORDS: Final = 2_048  # that are kept, of 30,522: 3 MB
_WORDS: Final = "embeddings.word_embeddings.weight"
EPSILON: Final = np.float32(1e-12)  # the model's own, in its layer normalisation


class MiniLMEmbedder:
    """Embeds with the weights in a directory, or in the installed package; they are loaded at the first text."""

    model_id: Final = weights.MINILM_ID
    dimensions: Final = DIMENSIONS

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = weights.require_minilm(directory)

    def embed(self, texts: Sequence[str]) -> Vectors:
        encode = self._tokenizer.encode  # one by one: the batch form starts threads, which do not survive a fork
        tokens = [encode(text).ids for text in texts]
        encoder = self._encoder  # loaded before there are threads
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)

        def fill(rows: list[int]) -> None:
            vectors[rows] = encoder(np.array([tokens[row] for row in rows]))

        batches = list(_batches(tokens))
        if len(batches) == 1:
            fill(batches[0])  # a question: a thread for it would cost more than it saves
            return vectors
        with ThreadPoolExecutor(blas.CORES) as threads:
            for done in [threads.submit(fill, rows) for rows in batches]:
                done.result()
        return vectors

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

        tokenizer = Tokenizer.from_str(bytes(weights.VerifiedFile(self._directory, weights.TOKENIZER).content).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _encoder(self) -> "_Encoder":
        blas.use_one_thread()
        file = weights.VerifiedFile(self._directory, weights.MODEL)
        return _Encoder(file, _tensors(file.content))


def _tensors(file: NDArray[np.uint8]) -> dict[str, Vectors]:
    """Return the tensors of 32-bit numbers in a safetensors file, where they lie: a mapped file is read as needed.

    The file begins with the length of a JSON object, and that object: of each tensor type, shape and place.
    """
    start = 8 + int(file[:8].view("<u8")[0])
    described = json.loads(bytes(file[8:start]))
    places = {name: tensor for name, tensor in described.items() if tensor.get("dtype") == "F32"}
    return {name: _tensor(file[start:], **tensor) for name, tensor in places.items()}


def _tensor(data: NDArray[np.uint8], dtype: str, shape: list[int], data_offsets: tuple[int, int]) -> Vectors:
    del dtype
    first, end = data_offsets
    return data[first:end].view("<f4").reshape(shape)


def _batches(tokens: list[list[int]]) -> Iterator[list[int]]:
    """Yield numbers of texts that have equally many tokens, long texts first, so that no thread is left with them.

    Of few texts no batch is larger than what each core has to do.
    """
    by_length = defaultdict[int, list[int]](list)
    for row, ids in enumerate(tokens):
        by_length[len(ids)].append(row)
    most = min(BATCH_TOKENS, -(-sum(map(len, tokens)) // blas.CORES))
    for length in sorted(by_length, reverse=True):
        rows, size = by_length[length], max(1, most // length)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


class _Encoder:
    """The forward pass: token ids of texts of one length, shape (texts, tokens), to unit vectors (texts, 384)."""

    def __init__(self, file: weights.VerifiedFile, tensors: dict[str, Vectors]) -> None:
        self._words = _Words(file, tensors[_WORDS])
        # one sentence a text, so every token is of type 0: its vector is added to the positions once
        self._positions = (
            tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._norm = _Norm.read(tensors, "embeddings")
        room = _Room(LAYERS * 12 * DIMENSIONS**2)
        self._layers = []
        for number in range(LAYERS):
            self._layers.append(_Layer.read(tensors, f"encoder.layer.{number}", room))
            file.release()  # the layer is copied; vectors of words are read when a text has them

    def __call__(self, ids: NDArray[np.int64]) -> Vectors:
        x = self._norm(self._words.of(ids) + self._positions[: ids.shape[1]])
        for layer in self._layers:
            x = layer(x)
        pooled: Vectors = x.mean(axis=1)
        pooled /= np.sqrt(np.square(pooled).sum(axis=1, keepdims=True))
        return pooled


class _Words:
    """The vectors of words, each read from the file when it is said; those that were said last are kept.

    Few of all words are said. By the mapping each would bring the pages around its own, until all 47 MB stay in memory.
    """

    def __init__(self, file: weights.VerifiedFile, table: Vectors) -> None:
        self._file = file
        self._start = table.ctypes.data - file.content.ctypes.data
        self._size = table.strides[0]
        self._row = lru_cache(SAID_WORDS)(self._read)

    def of(self, ids: NDArray[np.int64]) -> Vectors:
        """Return the vectors of words by their numbers, of any shape."""
        said, places = np.unique(ids, return_inverse=True)
        rows = np.frombuffer(b"".join(map(self._row, said.tolist())), np.float32)
        vectors: Vectors = rows.reshape(len(said), -1)[places.reshape(ids.shape)]
        return vectors

    def _read(self, number: int) -> bytes:
        return self._file.read(self._start + number * self._size, self._size)


class _Room:
    """Memory for all matrices. An array of more than 4 MB lies in huge pages, where the system has them.

    A single text waits for its matrices, and an eighth less where they do not lie in pages of 4 KB.
    """

    def __init__(self, numbers: int) -> None:
        self._free = np.empty(numbers, np.float32)

    def keep(self, matrix: Vectors) -> Vectors:
        """Return a copy of a matrix, which is contiguous and lies behind the one before."""
        kept, self._free = self._free[: matrix.size].reshape(matrix.shape), self._free[matrix.size :]
        kept[...] = matrix
        return kept


@dataclass(frozen=True, slots=True)
class _Linear:
    """x times a matrix, plus a bias. x has shape (texts, tokens, width): numpy takes one text's product at a time.

    OpenBLAS copies both sides of a large product before it multiplies, and for a text of a few tokens the copy of the
    matrix takes longer than the product. Small products it takes from where they are, and those of a matrix whose
    columns lie side by side in half the time of one that lies the other way round, as it does in the file.

    So a large product is made of small ones, of fewer tokens and terms. Its terms are added up as OpenBLAS would, so
    the result is the same to the last bit.
    """

    blocks: Vectors  # (width out / BLOCK, width in, BLOCK)
    bias: Vectors

    @classmethod
    def read(cls, tensors: dict[str, Vectors], room: _Room, *names: str) -> "_Linear":
        weight = np.concatenate([tensors[f"{name}.weight"] for name in names])  # (width out, width in)
        blocks = room.keep(weight.reshape(-1, BLOCK, weight.shape[1]).swapaxes(1, 2))
        return cls(blocks, np.concatenate([tensors[f"{name}.bias"] for name in names]))

    def __call__(self, x: Vectors) -> Vectors:
        texts, tokens, width = x.shape
        y = np.empty((texts, tokens, len(self.bias)), np.float32)
        out = y.reshape(texts, tokens, -1, BLOCK).swapaxes(1, 2)
        if tokens * width * BLOCK <= SMALL or not blas.has_small_products():
            np.matmul(x[:, np.newaxis], self.blocks, out=out)
        else:
            self._multiply_in_parts(x, out)
        y += self.bias
        return y

    def _multiply_in_parts(self, x: Vectors, out: Vectors) -> None:
        tokens, sums = x.shape[1], SUMS[x.shape[2]]
        times = -(-tokens * max(sums) * BLOCK // SMALL)
        rows = -(-tokens // times)
        for first in range(0, tokens, rows):
            some, its_out = x[:, np.newaxis, first : first + rows], out[:, :, first : first + rows]
            np.matmul(some[..., : sums[0]], self.blocks[:, : sums[0]], out=its_out)
            for start, stop in pairwise(accumulate(sums)):
                its_out += some[..., start:stop] @ self.blocks[:, start:stop]


@dataclass(frozen=True, slots=True)
class _Norm:
    """Layer normalisation, in place."""

    weight: Vectors
    bias: Vectors

    @classmethod
    def read(cls, tensors: dict[str, Vectors], name: str) -> "_Norm":
        return cls(tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"])

    def __call__(self, x: Vectors) -> Vectors:
        x -= np.add.reduce(x, axis=-1, keepdims=True) / np.float32(DIMENSIONS)  # `mean` takes several steps around it
        variance = np.einsum("tni,tni->tn", x, x) / np.float32(DIMENSIONS)
        x /= np.sqrt(variance + EPSILON)[..., np.newaxis]
        x *= self.weight
        x += self.bias
        return x


@dataclass(frozen=True, slots=True)
class _Layer:
    """One transformer layer: attention, then two linear maps with a GELU between them; each added to its input."""

    query_key_value: _Linear
    merge: _Linear
    attention_norm: _Norm
    widen: _Linear
    narrow: _Linear
    norm: _Norm

    @classmethod
    def read(cls, tensors: dict[str, Vectors], name: str, room: _Room) -> "_Layer":
        attention = f"{name}.attention"
        return cls(
            _Linear.read(tensors, room, *(f"{attention}.self.{part}" for part in ("query", "key", "value"))),
            _Linear.read(tensors, room, f"{attention}.output.dense"),
            _Norm.read(tensors, f"{attention}.output"),
            _Linear.read(tensors, room, f"{name}.intermediate.dense"),
            _Linear.read(tensors, room, f"{name}.output.dense"),
            _Norm.read(tensors, f"{name}.output"),
        )

    def __call__(self, x: Vectors) -> Vectors:
        x = self.attention_norm(self.merge(_attend(self.query_key_value(x))) + x)
        return self.norm(self.narrow(_gelu(self.widen(x))) + x)


def _attend(x: Vectors) -> Vectors:
    """Let every token of a text take up from the others what its heads ask for; x holds queries, keys and values."""
    texts, tokens, _ = x.shape
    query, key, value = x.reshape(texts, tokens, 3, HEADS, -1).transpose(2, 0, 3, 1, 4)
    scores: Vectors = (query * np.float32((DIMENSIONS // HEADS) ** -0.5)) @ key.swapaxes(-1, -2)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    taken: Vectors = scores @ value
    return taken.swapaxes(1, 2).reshape(texts, tokens, DIMENSIONS)


# erf(z) = 1 - (a1 t + ... + a5 t^5) exp(-z^2), t = 1 / (1 + p z), for z >= 0, within 1.5e-7: Abramowitz, Stegun 7.1.26.
# With z = |x| / sqrt(2), half of what is taken off is the tail 1 - Phi(|x|) of the normal distribution.
_P: Final = np.float32(0.3275911 / 2**0.5)
_A: Final = [np.float32(a / 2) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)]


def _gelu(x: Vectors) -> Vectors:
    """Apply x Phi(x) in place, written as max(x, 0) - |x| (1 - Phi(|x|)); numpy has no erf of its own."""
    flat = x.reshape(-1, x.shape[-1])
    for start in range(0, len(flat), SLAB_ROWS):
        slab = flat[start : start + SLAB_ROWS]
        size = np.abs(slab)
        t = size * _P
        t += np.float32(1)
        np.reciprocal(t, out=t)
        tail = t * _A[0]
        for a in _A[1:]:
            tail += a
            tail *= t
        np.square(size, out=t)
        t *= np.float32(-0.5)
        tail *= np.exp(t, out=t)
        tail *= size
        np.maximum(slab, 0, out=slab)
        slab -= tail
    return x
