"""The answer of the pipeline: hits, the ranking behind them, and the context; also of several partitions together."""

from collections.abc import Iterable, Sequence
from dataclasses import fields

from asof_projections.model.answers import (
    Entity,
    EpisodeHit,
    Hit,
    Hits,
    RankedNode,
    Retrieval,
    RetrievalMetrics,
    Scores,
)
from asof_projections.model.queries import FactSearchQuery, Mindset
from asof_projections.model.rows import EntityRow
from asof_projections.retrieval.pipeline.graph import MemoryGraph
from asof_projections.retrieval.pipeline.nodes import Key, Ranked
from asof_projections.retrieval.pipeline.prompt_text import assemble_context
from asof_streams.ids import shown_id


def answer_of(
    ranked: Sequence[Ranked],
    graph: MemoryGraph,
    entities: Sequence[EntityRow],
    mindset: Mindset | None,
    query: FactSearchQuery,
) -> Hits[Hit]:
    """Return the facts and turns that were ranked, best first; behind the turns those that say the facts."""
    facts = [each for each in ranked if each.node.key.kind == "fact"]
    turns = [each for each in ranked if each.node.key.kind == "turn"]
    hits: Hits[Hit] = Hits(
        Hit.of(graph.facts[int(each.node.key.id)], _rounded(each.score), None, _scores(each), None) for each in facts
    )
    says: dict[Key, list[str]] = {}
    for each in facts:
        for end in graph.ends(graph.facts[int(each.node.key.id)]):
            if end.kind == "turn":
                says.setdefault(end, []).append(each.node.uuid)
    if query.over != "facts":
        sources = sorted(says.keys() - {each.node.key for each in turns})
        graph.read_turns(int(key.id) for key in sources)
        hits.episodes = [
            EpisodeHit.of(
                graph.turns[int(each.node.key.id)],
                _rounded(each.score),
                None,
                _scores(each),
                tuple(says.get(each.node.key, ())),
            )
            for each in turns
        ]
        hits.episodes += [
            EpisodeHit.of(graph.turns[int(key.id)], None, None, Scores(None, None), tuple(says[key]))
            for key in sources
            if key.id in graph.turns
        ]
    known = tuple(map(Entity.of, entities))
    hits.retrieval = Retrieval(mindset, known, _context(hits, known, query.limit), tuple(map(_shown, ranked)), None)
    return hits


def merged_retrieval(found: Sequence[Hits[Hit]], hits: Hits[Hit], limit: int) -> Retrieval | None:
    """Return what the pipeline made of one question in several partitions, whose best are `hits`; None: it did not."""
    parts = [each.retrieval for each in found if each.retrieval is not None]
    if not parts:
        return None
    entities = tuple(entity for part in parts for entity in part.entities)
    ranking = sorted((node for part in parts for node in part.ranking), key=lambda node: -node.score)
    return Retrieval(parts[0].mindset, entities, _context(hits, entities, limit), tuple(ranking), None)


def summed(metrics: Sequence[RetrievalMetrics | None]) -> RetrievalMetrics | None:
    """Return what one question took in several partitions, which are asked one after the other."""
    taken = [[getattr(each, field.name) for field in fields(each)] for each in metrics if each is not None]
    return RetrievalMetrics(*map(sum, zip(*taken, strict=True))) if taken else None


def _context(hits: Hits[Hit], entities: Iterable[Entity], limit: int) -> str:
    memories = [(hit.score, f"{hit.fact} (planned)" if hit.planned else hit.fact) for hit in hits]
    memories += [
        (hit.score, f"{hit.role}: {hit.content}" if hit.role else hit.content)
        for hit in hits.episodes
        if hit.score is not None
    ]
    return assemble_context(sorted(memories, key=lambda memory: -memory[0])[:limit], entities)


def _scores(each: Ranked) -> Scores:
    reach = each.node.reach
    parts = {reach.way: _rounded(reach.similarity)}
    return Scores(parts.get("words"), parts.get("meaning"))


def _shown(each: Ranked) -> RankedNode:
    node, reach = each.node, each.node.reach
    return RankedNode(
        node.key.kind,
        shown_id(node.uuid),
        _rounded(each.score),
        _rounded(reach.similarity),
        _rounded(each.centrality),
        _rounded(each.recency),
        None if each.mindset is None else _rounded(each.mindset),
        reach.way,
        reach.hops,
    )


def _rounded(part: float) -> float:
    return round(part, 6)
