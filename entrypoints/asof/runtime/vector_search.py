"""Search with vectors: the embedder that the settings choose, and the index that follows the graph."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from asof.runtime import span_names
from asof.runtime.embedders import choose_embedder
from asof.runtime.graph_database import Of, vectors_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.prepared_vectors import PreparedVectors
from asof.runtime.stopwatch import Stopwatch
from asof.runtime.wiring import Opened, Progress
from asof.settings import Settings
from asof_projections.embedding import blas
from asof_projections.embedding.cache import CachedEmbedder, QuestionEmbedder
from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.model.answers import Hit, Hits
from asof_projections.model.queries import HEAD, FactSearchQuery
from asof_projections.model.rows import EntityRow, Moment, ObjectiveRow
from asof_projections.retrieval.pipeline.query_entities import QueryEntities
from asof_projections.retrieval.pipeline.search import PipelineSearch
from asof_projections.retrieval.pipeline.seeds import SearchVectors
from asof_projections.retrieval.question import content_words
from asof_projections.retrieval.relations import RelationVectors
from asof_projections.retrieval.search import NameSearch, Search
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.ports import Ids, VectorIndex
from asof_projections.vectors.projection import Texts, VectorProjection, facts_of, names_of, turns_of
from asof_streams import tracing
from asof_streams.errors import InvalidInput, ModelUnavailable, StorageFailed

_CONVERSATION_SECONDS: Final = 600.0  # after a search, within which the next one is expected
_REST_SECONDS: Final = 30.0  # for which an embedder that failed is not asked by a search
_FEW: Final = 32  # texts without a vector that a search embeds itself in any case
_OWN_SECONDS: Final = 0.25  # of processor time, for which the first search embeds more; the rest is left to `keep_up`
_OWN_PATIENCE: Final = 1.0  # seconds in all, where another machine embeds
_SOME: Final = max(8, 4 * blas.CORES)  # texts embedded at once in between: what a search waits for at most
_BESIDE: Final = 32  # texts embedded at once while searches go on
_SENTENCE: Final = 60  # characters: of longer texts fewer are embedded at once
_AHEAD: Final = 256  # texts of which those of about one length are embedded at once, which takes less time
_OBJECTIVES: Final = 100  # of a group that are compared with a text
_MANY: Final = 1_000  # vectors that are worth saving at once; fewer, at the end


class VectorSearch:
    """One generation opened for search. What few texts lack a vector get one before each answer, the others behind it.

    So no search waits for an import before it: what has no vector yet is found by words, and the answer says how much.
    prepared: what was read of its files before.
    """

    def __init__(
        self, places: DirectoryLayout, opened: Opened, settings: Settings, prepared: PreparedVectors | None = None
    ) -> None:
        self._prepared = prepared
        self._chosen = embedder = prepared.embedder if prepared else choose_embedder(settings)
        self._embedder = QuestionEmbedder(embedder, self._keep_question) if embedder else None
        self._vectors_file = places.vectors
        self._settings = settings
        self._relations = RelationVectors(embedder) if embedder else None
        self._beliefs = opened.beliefs
        self._names_file = places.names_index(opened.generation)
        self._file = places.index(opened.generation)
        self._episodes = opened.episodes
        self._turns_file = places.turns_index
        self._projection: VectorProjection | None = None  # until it is asked for
        self._names: VectorProjection | None = None
        self._turns: VectorProjection | None = None
        self._next = deque[list[str]]()  # texts that `keep_up` computes the vectors of, some at a time
        self._few = _FEW
        self.is_behind = False  # whether a search left vectors to `keep_up`
        self._lacking = 0  # of what the last search was among, how much has no vector
        self._is_open = True
        self._compared: tuple[Sequence[str], Vectors] | None = None  # the last texts that a text was compared with
        self._failure = ""  # of the embedder, when it was last asked
        self._rests_until = 0.0  # by the monotonic clock
        self._asked: FactSearchQuery | None = None  # last, about one group
        self._asked_at = 0.0  # by the monotonic clock

    @cached_property
    def _cache(self) -> CachedEmbedder | None:
        """The embedder with its file, opened with the first question that needs it. StorageFailed."""
        return CachedEmbedder(self._chosen, self._vectors_file) if self._chosen else None

    def _keep_question(self, text: str, vector: Vectors) -> None:
        """Keep the vector of a question in memory: in a conversation it is the next turn that is embedded."""
        if cache := self.__dict__.get("_cache"):
            cache.remember(text, vector)

    def search(self, query: FactSearchQuery, at: Moment) -> Hits[Hit]:
        """Return the best facts and turns of a moment. What has no vector yet is found by words.

        Without an embedder words alone decide; while it fails or its vectors cannot be kept too, and then the answer
        says so. One that failed rests for a while, so that no search waits for it.
        """
        self._asked = query if query.groups is not None and len(query.groups) == 1 else None
        self._asked_at = time.monotonic()
        return self._with_embedder(partial(self._search, query, at))

    def rank(self, query: FactSearchQuery, at: Moment) -> Hits[Hit]:
        """Return the best facts of a moment, however improbable, without probabilities; as `search` does otherwise."""
        return self._with_embedder(partial(self._rank, query, at))

    def _with_embedder(self, search: Callable[[Embedder | None], Hits[Hit]]) -> Hits[Hit]:
        if self._embedder is not None and time.monotonic() >= self._rests_until:
            with suppress(ModelUnavailable, StorageFailed), self._noting_failure():  # a full disk can be read
                return search(self._embedder)
        hits = search(None)
        hits.unavailable = self._failure or None
        return hits

    def _rank(self, query: FactSearchQuery, at: Moment, embedder: Embedder | None) -> Hits[Hit]:
        index = self._index(self._facts(), ()) if embedder else None
        return Hits(Search(self._beliefs, embedder, index, self._relations).rank(query, at))

    def _search(self, query: FactSearchQuery, at: Moment, embedder: Embedder | None) -> Hits[Hit]:
        self._lacking = 0
        if query.profile == "pipeline":
            hits = self._walk(query, at, embedder)
        else:
            hits = Hits()
            if query.over != "episodes":
                with tracing.span(span_names.SEARCH_FACTS) as span:
                    index = self._index_of_facts(query, at) if embedder else None
                    search = Search(self._beliefs, embedder, index, self._relations)
                    found, hits.probable = search.search_and_tell(query, at)
                    hits.extend(found)
                    span.note({span_names.RECORD_COUNT: len(found)})
            if query.over != "facts":
                with tracing.span(span_names.SEARCH_EPISODES) as span:
                    index = self._index_of_turns(query) if embedder else None
                    hits.episodes = EpisodeSearch(self._episodes, embedder, index).search(query, hits)
                    span.note({span_names.RECORD_COUNT: len(hits.episodes)})
        hits.vectors_behind = self._lacking
        tracing.current().note(
            {
                span_names.LEGS: ("words",) if embedder is None else ("words", "vectors"),
                span_names.PROFILE: query.profile,
                span_names.VECTORS_BEHIND: self._lacking,
            }
        )
        return hits

    def _walk(self, query: FactSearchQuery, at: Moment, embedder: Embedder | None) -> Hits[Hit]:
        """Search with the profile `pipeline`."""
        stopwatch = Stopwatch()
        with stopwatch("total_us"):
            meaning = None
            if embedder is not None:
                facts, turns = self._index_of_facts(query, at), self._index_of_turns(query)
                meaning = SearchVectors(embedder, facts, self._index_of_names(query, at), turns)
            hits = PipelineSearch(self._beliefs, self._episodes, meaning, self._settings.pipeline, stopwatch).search(
                query, at
            )
        hits.metrics = stopwatch.metrics()
        return hits

    def _index_of_facts(self, query: FactSearchQuery, at: Moment) -> VectorIndex:
        of = at._replace(deeds=True)  # as a search asks
        return self._index(self._facts(), [partial(self._beliefs.live, g, of) for g in query.groups or (None,)])

    def _index_of_names(self, query: FactSearchQuery, at: Moment) -> VectorIndex:
        names, known = self._named(), at.known
        assert names is not None, "there is no embedder"
        return self._index(names, [partial(self._beliefs.names_known, g, known) for g in query.groups or (None,)])

    def _index_of_turns(self, query: FactSearchQuery) -> VectorIndex:
        return self._index(self._said(), [lambda: self._episodes.turns(query.groups, query.known).n])

    def _index(self, projection: VectorProjection, searched: Sequence[Callable[[], Ids]]) -> VectorIndex:
        """Return an index, brought up to the graph if little is missing; else count what is missing of the searched."""
        if self._few and projection.unsaved == 0:  # as in most searches: nothing came since the last one
            return projection.index
        behind = projection.behind
        if self._few and not self.is_behind:
            worked, waited = time.process_time() + _OWN_SECONDS, time.monotonic() + _OWN_PATIENCE
            while behind > self._few and time.process_time() < worked and time.monotonic() < waited:
                with tracing.span(span_names.EMBED):
                    projection.catch_up_some(_BESIDE)
                behind = projection.behind
        if behind > self._few:
            self.is_behind = True
            self._lacking += sum(projection.lacking(numbers()) for numbers in searched)
        elif self._few:
            with tracing.span(span_names.EMBED):
                projection.catch_up()
                _save(projection, 1)
        return projection.index

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Keep the failure of the embedder, and let it rest; it is raised all the same."""
        try:
            yield
        except (ModelUnavailable, StorageFailed) as error:
            self._failure, self._rests_until = str(error), time.monotonic() + _REST_SECONDS
            raise
        self._failure = ""

    def like(self, query: str, known: int, group: str | None, limit: int) -> Hits[EntityRow]:
        """Return the entities whose names are nearest in meaning. InvalidInput: there are no vectors.

        Where names have no vector yet, those come first whose names are the same, or one slip away.
        """
        names = self._named()
        if names is None or self._embedder is None:
            raise InvalidInput("names are compared by their vectors, and the embedder is none: choose another", "like")
        self._lacking = 0
        index = self._index(names, [partial(self._beliefs.names_known, group, known)])
        rows = NameSearch(self._beliefs, self._embedder, index).like(query, known, group, limit=limit)
        if self._lacking:
            groups = None if group is None else [group]
            called = QueryEntities(self._beliefs, groups, HEAD if known is None else known, ()).find(query, None)
            rows = list({row.uuid: row for row in (*(match.entity for match in called), *rows)}.values())[:limit]
        hits = Hits[EntityRow](rows)
        hits.vectors_behind = self._lacking
        return hits

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return how similar a text is in meaning to each of some others: cosines; none where nothing embeds now.

        The others are embedded once, as long as they stay the same.
        """
        if self._chosen is None or self._embedder is None or time.monotonic() < self._rests_until:
            return []
        with suppress(ModelUnavailable), self._noting_failure():
            if self._compared is None or self._compared[0] != others:
                self._compared = others, self._chosen.embed(others)
            [vector] = self._embedder.embed([text])
            cosines: list[float] = (self._compared[1] @ vector).tolist()
            return cosines
        return []

    def objectives(self, text: str, group: str, known: int, least: float, limit: int) -> list[ObjectiveRow]:
        """Return the objectives of a group that are like a text in meaning, the nearest first; none if nothing embeds.

        least: the least cosine. Of more than 100 the most salient are compared. Their vectors are kept, each made when
        it is first needed, and erased with the group.
        """
        if self._embedder is None or self._cache is None or time.monotonic() < self._rests_until:
            return []
        with suppress(ModelUnavailable, StorageFailed), self._noting_failure():
            erasures = self._cache.erasures
            rows = self._beliefs.objectives(group, known, limit=_OBJECTIVES)
            if not rows:
                return []
            vectors = self._cache.embed([row.description for row in rows], [group] * len(rows), erasures)
            [vector] = self._embedder.embed([text])
            near = [(float(cosine), row) for cosine, row in zip(vectors @ vector, rows, strict=True) if cosine >= least]
            return [row for _, row in sorted(near, key=lambda each: -each[0])[:limit]]
        return []

    @property
    def group(self) -> str | None:
        """The group that the last search was about; None: there was none, or it was about several."""
        return None if self._asked is None else self._asked.group

    def read_ahead(self, now: int, known: int) -> None:
        """Bring up what the last search kept for the next one, as of a moment: so that nobody waits for what is new.

        That is which facts of its group hold, which texts have its words, and which turns are known. Nothing is read
        where the last search was long ago: an import after it would be read again and again, and nobody asks.
        """
        if self._asked is None or self._settings.in_arango:
            return
        if time.monotonic() - self._asked_at > _CONVERSATION_SECONDS:
            return
        group, words = self._asked.group, content_words(self._asked.query)
        for at in (Moment(now, known, deeds=True), Moment(None, known, ever=True, deeds=True)):
            self._beliefs.text(words, group, at, 1)
        self._episodes.turns(self._asked.groups, known)
        for projection in self._held():
            if isinstance(projection.index, FaissVectorIndex):
                projection.index.encode_some()

    @property
    def vectors(self) -> int:
        """The number of vectors in the index."""
        return 0 if self._projection is None else len(self._projection.index)

    def embed(self, progress: Progress | None = None) -> int:
        """Make every vector that is missing; return how many there are then. ModelUnavailable."""
        with self._noting_failure():
            for projection in self._every():
                projection.catch_up(progress)
                _save(projection, 1)
        return sum(len(projection.index) for projection in self._held())

    def keep_up(self, seconds: float, lock: AbstractContextManager[object] | None = None) -> bool:
        """Bring vectors up for about so long; return whether there is more to do.

        lock: of those who search meanwhile, who may have it while vectors are computed. None: whoever calls this
        searches in between, and from now on no search makes vectors itself.
        """
        most = _BESIDE
        if lock is None:
            self._few, most, lock = 0, _SOME, nullcontext()
        until = time.monotonic() + seconds
        with self._noting_failure():
            with lock:
                projections = self._every()
            for projection in projections:
                while self._add(projection, most, lock):
                    if time.monotonic() > until:
                        return True
        self.is_behind = False
        return False

    def _add(self, projection: VectorProjection, most: int, lock: AbstractContextManager[object]) -> bool:
        """Compute the vectors of some texts, and add them with the last of them; return whether there may be more."""
        if not self._next:
            with lock:
                missing = projection.missing(_AHEAD) if self._is_open else []
            self._next.extend(_alike(missing, most))
        if self._next and self._is_open and self._cache is not None:
            with tracing.span(span_names.EMBED):
                self._cache.compute(self._next.popleft())
            if self._next:
                return True
        with lock:
            if not self._is_open:  # it was closed meanwhile, as after a switch to another generation
                return False
            if projection.catch_up_some(_AHEAD):
                return True
            _save(projection, _MANY)
        return False

    def _every(self) -> list[VectorProjection]:
        """Return the vectors of facts, of names and of turns; none without an embedder."""
        if self._embedder is not None and self._is_open:
            self._facts()
            self._named()
            self._said()
        return self._held()

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
            index = self._read_before(self._turns_file) or FaissVectorIndex.open(
                self._turns_file, self._cache.model_id, self._cache.dimensions
            )
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
        index: VectorIndex = self._read_before(file) or vectors_of(
            self._settings, self._beliefs, of, file, self._cache.model_id, self._cache.dimensions
        )
        return VectorProjection(texts, self._cache, index)

    def _read_before(self, file: Path) -> FaissVectorIndex | None:
        return None if self._prepared is None else self._prepared.take(file)

    def _held(self) -> list[VectorProjection]:
        return [projection for projection in (self._projection, self._names, self._turns) if projection is not None]

    def close(self) -> None:
        """Save the vectors in memory, and close the cache."""
        self._is_open = False
        for projection in self._held():
            _save(projection, 1)
        if cache := self.__dict__.get("_cache"):
            cache.close()


def _alike(texts: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yield some texts at a time, the shortest first: at most so many, and no more than so many sentences have."""
    some: list[str] = []
    room = most * _SENTENCE
    for text in sorted(texts, key=len):
        if some and (len(some) == most or len(text) > room):
            yield some
            some, room = [], most * _SENTENCE
        some.append(text)
        room -= len(text)
    if some:
        yield some


def _save(projection: VectorProjection, least: int) -> None:
    """Save vectors if they differ by so many from the saved ones."""
    with suppress(StorageFailed):  # a reader may have no right to write; then they are made again next time
        projection.save(least)
