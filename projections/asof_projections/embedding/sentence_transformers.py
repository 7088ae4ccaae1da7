"""An embedder for any model of sentence-transformers, with torch: for other weights than MiniLM's, or a GPU."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from asof_projections.embedding import weights
from asof_projections.embedding.extras import require
from asof_projections.embedding.ports import Vectors
from asof_streams.distribution import install_command
from asof_streams.errors import ModelUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHT_FILES: Final = (weights.MODEL, "pytorch_model.bin")


class SentenceTransformersEmbedder:
    """Embeds with a model: a directory, or the name of a model on the hub, which is downloaded if needed.

    With the weights of all-MiniLM-L6-v2 the model_id is that of MiniLMEmbedder, since the vectors are the same.
    """

    def __init__(self, model: str) -> None:
        require("sentence_transformers", command=install_command("torch"))
        self._name = model

    @cached_property
    def model_id(self) -> str:
        with self._file.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest == weights.SHA256[weights.MODEL]:
            return weights.MINILM_ID
        return weights.model_id(Path(self._name).name, digest)

    @cached_property
    def dimensions(self) -> int:
        return int(self._model.encode("", convert_to_numpy=True).shape[-1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        rows = self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(rows, np.float32)

    @cached_property
    def _model(self) -> "SentenceTransformer":
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra, and seconds of import

        try:
            return SentenceTransformer(self._name)
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"sentence-transformers cannot load {self._name} ({type(error).__name__}): "
                "give a model directory, or the name of a model that can be fetched"
            ) from None

    @property
    def _file(self) -> Path:
        """The file of weights: in the model's directory, or in the cache of the hub."""
        if Path(self._name).is_dir():
            files = [Path(self._name) / name for name in WEIGHT_FILES]
        else:
            from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415 - comes with the extra

            assert self._model is not None  # loading fetches
            cached = [try_to_load_from_cache(self._name, name) for name in WEIGHT_FILES]
            files = [Path(path) for path in cached if isinstance(path, str)]
        for path in files:
            if path.is_file():
                return path
        raise ModelUnavailable(
            f"{self._name} has none of {', '.join(WEIGHT_FILES)}: without them its vectors have no identity"
        )
