"""Chooses the embedder of the settings, and the fallback of `auto`. Heavy packages are imported once chosen."""

import logging
from functools import cache
from typing import TYPE_CHECKING

from asof_projections.embedding import weights
from asof_streams.errors import ModelUnavailable

if TYPE_CHECKING:
    from asof.settings import Settings
    from asof_projections.embedding.ports import Embedder

_log = logging.getLogger(__name__)


def choose_embedder(settings: "Settings") -> "Embedder | None":
    """Return the embedder of the settings; None where there are to be no vectors."""
    match settings.embedder:
        case "none":
            return None
        case "hash":
            from asof_projections.embedding.hashing import HashingEmbedder

            return HashingEmbedder()
        case "minilm":
            from asof_projections.embedding.minilm import MiniLMEmbedder

            return MiniLMEmbedder(settings.model_dir)
        case "sentence-transformers":
            from asof_projections.embedding.sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(settings.embedding_model)
        case "openai":
            from asof_projections.embedding.openai import OpenAIEmbedder

            return OpenAIEmbedder(
                base_url=settings.embedding_url,
                api_key=settings.embedding_key.get_secret_value() if settings.embedding_key else None,
                model=settings.embedding_model,
                dimensions=settings.embedding_dimensions,
            )
        case "auto":
            reason = embedder_fallback(settings)
            if reason is not None:
                _warn(reason)
            return choose_embedder(settings.model_copy(update={"embedder": resolve_embedder(settings)}))


def resolve_embedder(settings: "Settings") -> str:
    """Return the embedder's name; of `auto`, minilm where its weights and its extra are installed, else hash."""
    if settings.embedder != "auto":
        return settings.embedder
    return "minilm" if embedder_fallback(settings) is None else "hash"


def embedder_fallback(settings: "Settings") -> str | None:
    """Return why `auto` compares words instead of meaning, and the remedy; None where it does not fall back."""
    if settings.embedder != "auto":
        return None
    try:
        weights.require_minilm(settings.model_dir)
    except ModelUnavailable as error:
        return f"search compares words, not meaning: {error}"
    return None


@cache
def _warn(reason: str) -> None:
    """Log a warning, once in a process."""
    _log.warning(reason)
