"""The retrieval pipeline: from a question to the memories that fit it, and a text of them for a prompt.

    mindset → query embedding → vector search and query entities → graph expansion → communities → re-ranking → context

It reads facts, entities and turns as of one moment. Without an embedder words take the place of vectors: the share of a
question's words that a memory has is then its similarity. Whoever wants to know what a step takes gives a `measure`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, get_args

from asof_projections.model.answers import Hit, Hits, Retrieval, RetrievalMetrics
from asof_projections.model.queries import FactSearchQuery, Mindset
from asof_projections.model.rows import Moment
from asof_projections.ports import BeliefStore, TurnStore
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.retrieval.pipeline.answers import answer_of
from asof_projections.retrieval.pipeline.configuration import PipelineConfig
from asof_projections.retrieval.pipeline.expansion import Reached, add_communities, expand
from asof_projections.retrieval.pipeline.graph import MemoryGraph
from asof_projections.retrieval.pipeline.mindset import mindset_of
from asof_projections.retrieval.pipeline.nodes import Key, Node, Reach
from asof_projections.retrieval.pipeline.query_entities import Match, QueryEntities
from asof_projections.retrieval.pipeline.reranker import rank
from asof_projections.retrieval.pipeline.seeds import Scope, SearchVectors, by_meaning, by_words, embed

Step = Literal[
    "query_embedding_us",
    "vector_search_us",
    "entity_extraction_us",
    "graph_expansion_us",
    "community_selection_us",
    "reranking_us",
    "context_assembly_us",
]
Measure = Callable[[Step], AbstractContextManager[object]]
_UNSURE: Final = 0.5  # the confidence of what has none


class PipelineSearch:
    """Searches the facts of one generation and the turns behind them; without vectors, by words."""

    def __init__(
        self,
        beliefs: BeliefStore,
        episodes: TurnStore,
        meaning: SearchVectors | None = None,
        config: PipelineConfig | None = None,
        measure: Measure = lambda _: nullcontext(),
    ) -> None:
        self._beliefs = beliefs
        self._episodes = episodes
        self._meaning = meaning
        self._config = config or PipelineConfig()
        self._measure = measure

    @consistent_read
    def search(self, query: FactSearchQuery, at: Moment) -> Hits[Hit]:
        """Return the best facts and turns as of a moment, best first, with what the pipeline made of the question."""
        begun = self._episodes.begin_read()
        try:
            return self._search(query, at._replace(deeds=True), self._config.of(query))
        finally:
            if begun:
                self._episodes.end_read()

    def _search(self, query: FactSearchQuery, at: Moment, config: PipelineConfig) -> Hits[Hit]:
        mindset = _mindset(query, config)
        among = self._beliefs.numbers(query, at, None) if query.is_filtered else None
        scope = Scope(query, at, self._episodes.turns(config.namespace, query.known), among)
        seeds = self._seeds(scope, config)
        with self._measure("entity_extraction_us"):
            entities = self._entities(scope, config) if config.enable_entity_extraction else []
            for match in entities:
                key = Key("entity", match.entity.uuid)
                if key not in seeds or seeds[key].similarity < match.share:
                    seeds[key] = Reach(match.share, "name")
        graph = MemoryGraph(self._beliefs, self._episodes, scope.turns, at, among)
        with self._measure("graph_expansion_us"):
            reached = expand(graph, seeds, config.graph_expansion_hops)
        with self._measure("community_selection_us"):
            if config.enable_community_expansion:
                most = config.max_community_members
                reached = add_communities(graph, self._beliefs, at.known, sorted(seeds), reached, most)
        with self._measure("reranking_us"):
            ranked = rank(_nodes(graph, reached), config, at, mindset)
        with self._measure("context_assembly_us"):
            return answer_of(ranked, graph, [match.entity for match in entities], mindset, query)

    def _seeds(self, scope: Scope, config: PipelineConfig) -> Reached:
        if self._meaning is None:
            with self._measure("vector_search_us"):
                return by_words(self._beliefs, self._episodes, scope, config)
        with self._measure("query_embedding_us"):
            vectors = embed(scope.query.query, self._meaning, scope.turns)
        with self._measure("vector_search_us"):
            return by_meaning(self._beliefs, self._meaning, vectors, scope, config)

    def _entities(self, scope: Scope, config: PipelineConfig) -> Sequence[Match]:
        names = QueryEntities(self._beliefs, config.namespace, scope.query.known, config.ner_labels)
        return names.find(scope.query.query, self._meaning and (self._meaning.embedder, self._meaning.names))


def retrieval_of_nothing(query: FactSearchQuery, config: PipelineConfig) -> Retrieval:
    """Return what the pipeline makes of a question where nothing was ever written: no step takes any time."""
    metrics = RetrievalMetrics(**dict.fromkeys([*get_args(Step), "total_us"], 0)) if query.explain else None
    return Retrieval(_mindset(query, config.of(query)), (), "", (), metrics)


def _mindset(query: FactSearchQuery, config: PipelineConfig) -> Mindset | None:
    return config.query_mindset or mindset_of(query.query)


def _nodes(graph: MemoryGraph, reached: Reached) -> list[Node]:
    """Return what was reached as it is ranked. A fact that does not hold at the moment, or is filtered out, is none."""
    graph.read_facts(int(key.id) for key in reached if key.kind == "fact")
    graph.read_turns(int(key.id) for key in reached if key.kind == "turn")
    facts = {key: graph.facts[int(key.id)] for key in reached if key.kind == "fact" and key.id in graph.facts}
    edges = [(key, end) for key, fact in facts.items() for end in graph.ends(fact) if end in reached]
    degrees = Counter(end for edge in edges for end in edge)
    heard = _latest((end, graph.time_of(facts[key])) for key, end in edges)
    nodes = [
        Node(key, fact.uuid, fact.fact, graph.time_of(fact), fact.confidence, reached[key], degrees[key])
        for key, fact in facts.items()
    ]
    for key, reach in reached.items():
        if key.kind == "turn" and (turn := graph.turns.get(int(key.id))) is not None:
            nodes.append(Node(key, turn.uuid, turn.content, turn.valid_at, _UNSURE, reach, degrees[key]))
        if key.kind == "entity":  # it is as recent as what is known of it
            uuid = str(key.id)
            name, introduced = graph.introduced(uuid) if key not in heard else (graph.names[uuid], 0)
            nodes.append(Node(key, uuid, name, heard.get(key, introduced), _UNSURE, reach, degrees[key]))
    return nodes


def _latest(times: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    latest: dict[Key, int] = {}
    for key, time in times:
        latest[key] = max(time, latest.get(key, time))
    return latest
