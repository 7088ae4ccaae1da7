"""The seeds of the pipeline: the nodes nearest in meaning to a question, or where there are no vectors, in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.graph.ports import Turns
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import Moment
from asof_projections.ports import BeliefStore, TurnStore
from asof_projections.retrieval.pipeline.configuration import PipelineConfig
from asof_projections.retrieval.pipeline.expansion import Reached
from asof_projections.retrieval.pipeline.nodes import Key, Reach
from asof_projections.retrieval.question import Question, content_words
from asof_projections.retrieval.signals import SIGNALS
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.ports import LiveFacts, VectorIndex


class SearchVectors(NamedTuple):
    """An embedder, and the vectors of facts, names and turns that it made."""

    embedder: Embedder
    facts: VectorIndex
    names: VectorIndex
    turns: VectorIndex


class Scope(NamedTuple):
    """Among what seeds are looked for."""

    query: FactSearchQuery
    at: Moment
    turns: Turns
    among: NDArray[np.int64] | None  # the facts that filters leave; None: all

    @property
    def groups(self) -> Sequence[str | None]:
        """The groups; [None] for all."""
        return (None,) if self.query.groups is None else self.query.groups


def embed(question: str, meaning: SearchVectors, turns: Turns) -> Vectors:
    """Return the vector of a question, and of the same as turns are compared: they have no speakers' names."""
    nameless = Question.of(question, turns.names).text
    return meaning.embedder.embed([question, nameless])


def by_meaning(
    beliefs: BeliefStore, meaning: SearchVectors, vectors: Vectors, scope: Scope, config: PipelineConfig
) -> Reached:
    """Return the `vector_top_k` nodes nearest to a question, as far as `min_similarity` lets them be."""
    count, (query, at, turns, among) = config.vector_top_k, scope
    live = LiveFacts(query.group, at, lambda: beliefs.live(query.group, at)) if among is None else among
    known = np.unique(np.concatenate([beliefs.names_known(group, at.known) for group in scope.groups]))
    nearest = [("fact", *found) for found in meaning.facts.search(vectors[0], count, live)]
    nearest += [("name", *found) for found in meaning.names.search(vectors[0], count, known)]
    if not query.is_about_facts:
        nearest += [("turn", *found) for found in meaning.turns.search(vectors[1], count, turns.n)]
    seeds: Reached = {}
    for kind, number, cosine in sorted(nearest, key=lambda each: (-each[2], *each[:2]))[:count]:
        if cosine < config.min_similarity:
            break
        if kind == "name":
            for row in beliefs.named([number]):
                seeds.setdefault(Key("entity", row.uuid), Reach(cosine, "meaning"))
        else:
            seeds[Key("fact" if kind == "fact" else "turn", number)] = Reach(cosine, "meaning")
    return seeds


def by_words(beliefs: BeliefStore, episodes: TurnStore, scope: Scope, config: PipelineConfig) -> Reached:
    """Return the facts and turns that have words of a question, each with the share of those that it has.

    A share depends on nothing that was said later, or in another group; in turns a rare word weighs more.
    """
    query = scope.query
    shares = list(_facts_with_words(beliefs, content_words(query.query).split(), scope, config.vector_top_k))
    if not query.is_about_facts:
        found = EpisodeSearch(episodes).candidates(query.query, query.groups, query.known, config.vector_top_k)
        coverage = found.signals[:, SIGNALS.index("coverage")].tolist()
        shares += [(Key("turn", n), share) for n, share in zip(found.numbers.tolist(), coverage, strict=True)]
    shares.sort(key=lambda each: (-each[1], each[0]))
    best = shares[: config.vector_top_k]
    return {key: Reach(share, "words") for key, share in best if share >= config.min_similarity}


def _facts_with_words(
    beliefs: BeliefStore, words: Sequence[str], scope: Scope, count: int
) -> Iterator[tuple[Key, float]]:
    group, at = scope.query.group, scope.at
    pool = [number for number, _ in beliefs.text(" ".join(words), group, at, count, scope.among)]
    among = np.array(sorted(pool), np.int64)
    distinct = dict.fromkeys(word.casefold() for word in words)
    having = Counter(number for word in distinct for number, _ in beliefs.text(word, group, at, count, among))
    for number in pool:
        yield Key("fact", number), having[number] / len(distinct)
