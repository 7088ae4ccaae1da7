"""Search with vectors: the embedder that the settings choose, and the index that follows the graph."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from asof.runtime.embedders import choose_embedder
from asof.runtime.graph_database import Of, vectors_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.stopwatch import Stopwatch
from asof.runtime.wiring import Opened, Progress
from asof.settings import Settings
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Embedder
from asof_projections.model.answers import Hit, Hits
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import EntityRow, Moment
from asof_projections.retrieval.pipeline.search import PipelineSearch
from asof_projections.retrieval.pipeline.seeds import SearchVectors
from asof_projections.retrieval.relations import RelationVectors
from asof_projections.retrieval.search import NameSearch, Search
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import Texts, VectorProjection, facts_of, names_of, turns_of
from asof_streams.errors import InvalidInput, ModelUnavailable, StorageFailed

_REST_SECONDS: Final = 30.0  # for which an embedder that failed is not asked by a search
_SOME: Final = 8  # sentences embedded at once in between: what a search waits for at most
_MANY: Final = 1_000  # vectors that are worth saving at once; fewer, at the end


class VectorSearch:
    """One generation opened for search. Its index is brought up to the graph before each answer, or kept up between."""

    def __init__(self, places: DirectoryLayout, opened: Opened, settings: Settings) -> None:
        self._embedder = choose_embedder(settings)  # of questions: they are not kept
        self._cache = CachedEmbedder(self._embedder, places.vectors) if self._embedder else None
        self._pipeline = settings.pipeline
        self._relations = RelationVectors(self._embedder) if self._embedder else None
        self._beliefs = opened.beliefs
        self._names_file = places.names_index(opened.generation)
        self._file = places.index(opened.generation)
        self._episodes = opened.episodes
        self._turns_file = places.turns_index
        self._projection: VectorProjection | None = None  # until it is asked for
        self._names: VectorProjection | None = None
        self._turns: VectorProjection | None = None
        self._kept_up = False
        self._failure = ""  # of the embedder, when it was last asked
        self._rests_until = 0.0  # by the monotonic clock

    def search(self, query: FactSearchQuery, at: Moment, progress: Progress | None = None) -> Hits[Hit]:
        """Return the best facts and turns of a moment. What an index that is kept up lacks is found by words.

        Without an embedder words alone decide; while it fails too, and then the answer says so. One that failed rests
        for a while, so that no search waits for it.
        """
        if self._embedder is not None and time.monotonic() >= self._rests_until:
            with suppress(ModelUnavailable), self._noting_failure():
                return self._search(query, at, self._embedder, progress)
        hits = self._search(query, at, None, None)
        hits.unavailable = self._failure or None
        return hits

    def _search(
        self, query: FactSearchQuery, at: Moment, embedder: Embedder | None, progress: Progress | None
    ) -> Hits[Hit]:
        if query.profile == "pipeline":
            return self._walk(query, at, embedder, progress)
        hits: Hits[Hit] = Hits()
        if query.over != "episodes":
            index = self._caught_up(self._facts(), progress).index if embedder else None
            hits.extend(Search(self._beliefs, embedder, index, self._relations).search(query, at))
        if query.over != "facts":
            index = self._caught_up(self._said(), progress).index if embedder else None
            hits.episodes = EpisodeSearch(self._episodes, embedder, index).search(query, hits)
        return hits

    def _walk(
        self, query: FactSearchQuery, at: Moment, embedder: Embedder | None, progress: Progress | None
    ) -> Hits[Hit]:
        """Search with the profile `pipeline`."""
        stopwatch = Stopwatch()
        with stopwatch("total_us"):
            followed = (self._facts(), self._named(), self._said()) if embedder else ()
            indexes = [self._caught_up(each, progress).index for each in followed if each is not None]
            meaning = SearchVectors(embedder, *indexes) if embedder else None
            hits = PipelineSearch(self._beliefs, self._episodes, meaning, self._pipeline, stopwatch).search(query, at)
        hits.metrics = stopwatch.metrics()
        return hits

    def _caught_up(self, projection: VectorProjection, progress: Progress | None) -> VectorProjection:
        """Bring an index up to the graph, unless it is kept up."""
        if not self._kept_up:
            projection.catch_up(progress)
            _save(projection, 1)
        return projection

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Keep the failure of the embedder, and let it rest; it is raised all the same."""
        try:
            yield
        except ModelUnavailable as error:
            self._failure, self._rests_until = str(error), time.monotonic() + _REST_SECONDS
            raise
        self._failure = ""

    def like(self, query: str, known: int, group: str | None, limit: int) -> list[EntityRow]:
        """Return the entities whose names are nearest in meaning. InvalidInput: there are no vectors."""
        names = self._named()
        if names is None or self._embedder is None:
            raise InvalidInput("names are compared by their vectors, and the embedder is none: choose another")
        if not self._kept_up:
            names.catch_up()
            _save(names, 1)
        return NameSearch(self._beliefs, self._embedder, names.index).like(query, known, group, limit=limit)

    @property
    def vectors(self) -> int:
        """How many vectors there are to compare with."""
        return 0 if self._projection is None else len(self._projection.index)

    def keep_up(self, seconds: float) -> bool:
        """Bring vectors up for about so long; return whether there is more to do. From now on no search does it."""
        self._kept_up = True
        until = time.monotonic() + seconds
        with self._noting_failure():
            self._facts()
            self._named()
            self._said()
            for projection in self._held():
                while projection.catch_up_some(_SOME):
                    if time.monotonic() > until:
                        return True
                _save(projection, _MANY)
        return False

    def _facts(self) -> VectorProjection:
        """Return the vectors of facts, opened with the first question that needs them."""
        if self._projection is None:
            self._projection = self._following("fact", facts_of(self._beliefs), self._file)
        assert self._projection is not None, "there is no embedder"
        return self._projection

    def _said(self) -> VectorProjection:
        """Return the vectors of turns, opened with the first question that needs them.

        Turns are in the directory alone, also where a graph database has the facts.
        """
        assert self._cache is not None, "there is no embedder"
        if self._turns is None:
            index = FaissVectorIndex.open(self._turns_file, self._cache.model_id, self._cache.dimensions)
            self._turns = VectorProjection(turns_of(self._episodes), self._cache, index)
        return self._turns

    def _named(self) -> VectorProjection | None:
        """Return the vectors of names, opened with the first question that needs them."""
        if self._names is None:
            self._names = self._following("name", names_of(self._beliefs), self._names_file)
        return self._names

    def _following(self, of: Of, texts: Texts, file: Path) -> VectorProjection | None:
        if self._cache is None:
            return None
        index = vectors_of(self._beliefs, of, file, self._cache.model_id, self._cache.dimensions)
        return VectorProjection(texts, self._cache, index)

    def _held(self) -> list[VectorProjection]:
        return [projection for projection in (self._projection, self._names, self._turns) if projection is not None]

    def close(self) -> None:
        """Save what is held, and close the cache."""
        for projection in self._held():
            _save(projection, 1)
        if self._cache is not None:
            self._cache.close()


def _save(projection: VectorProjection, least: int) -> None:
    """Save vectors if they differ by so many from what is saved."""
    with suppress(StorageFailed):  # a reader may have no right to write; then they are made again next time
        if projection.unsaved >= least:
            projection.save()
