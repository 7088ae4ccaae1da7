"""Search with vectors: the embedder that the settings choose, and the index that follows the graph."""

import time
from contextlib import suppress
from typing import Final

from asof.bootstrap import Opened, Progress
from asof.places import Places
from asof.settings import Settings
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Embedder
from asof_projections.rows import Moment
from asof_projections.search import Hit, Search
from asof_projections.vector_projection import VectorProjection
from asof_streams.errors import ModelUnavailable, StorageFailed

_SOME: Final = 8  # sentences embedded at once in between: what a search waits for at most
_MANY: Final = 1_000  # vectors that are worth saving at once; fewer, at the end


def choose_embedder(settings: Settings) -> Embedder | None:
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
            return _best(settings)


def _best(settings: Settings) -> Embedder:
    """Return all-MiniLM-L6-v2 where its weights and its extra are installed, else the lexical hash."""
    try:
        return choose_embedder(settings.model_copy(update={"embedder": "minilm"})) or _lexical(settings)
    except ModelUnavailable:
        return _lexical(settings)


def _lexical(settings: Settings) -> Embedder:
    embedder = choose_embedder(settings.model_copy(update={"embedder": "hash"}))
    assert embedder is not None
    return embedder


class Searching:
    """One generation opened for search. Its index is brought up to the graph before each answer, or kept up between."""

    def __init__(self, places: Places, opened: Opened, settings: Settings) -> None:
        self._embedder = choose_embedder(settings)  # of questions: they are not kept
        self._cache = CachedEmbedder(self._embedder, places.vectors) if self._embedder else None
        index = places.index(opened.generation)
        self._projection = VectorProjection(opened.beliefs, self._cache, index) if self._cache else None
        self._beliefs = opened.beliefs
        self._kept_up = False

    def search(
        self, query: str, at: Moment, group: str | None, limit: int, progress: Progress | None = None
    ) -> list[Hit]:
        """Return the best facts of a moment. Where the index is kept up, what it has not come to is found by words."""
        projection = self._projection
        if projection is None:
            return Search(self._beliefs).search(query, at, group, limit=limit)
        if not self._kept_up:
            projection.catch_up(progress)
            self._save(1)
        return Search(self._beliefs, self._embedder, projection.index).search(query, at, group, limit=limit)

    @property
    def vectors(self) -> int:
        """How many vectors there are to compare with."""
        return 0 if self._projection is None else len(self._projection.index)

    def keep_up(self, seconds: float) -> bool:
        """Bring the index up for about so long; return whether there is more to do. From now on no search does it."""
        self._kept_up = True
        until = time.monotonic() + seconds
        while self._projection is not None and self._projection.catch_up_some(_SOME):
            if time.monotonic() > until:
                return True
        self._save(_MANY)
        return False

    def _save(self, least: int) -> None:
        """Save the index if it differs by so much from what is saved."""
        with suppress(StorageFailed):  # a reader may have no right to write; then it is made again next time
            if self._projection is not None and self._projection.unsaved >= least:
                self._projection.save()

    def close(self) -> None:
        """Save the index, and close the cache."""
        self._save(1)
        if self._cache is not None:
            self._cache.close()
