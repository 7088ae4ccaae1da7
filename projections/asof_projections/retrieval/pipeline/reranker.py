"""Re-ranking: filters and a weighed sum over similarity, centrality and recency, blended with the mindset. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from asof_projections.model.queries import Mindset
from asof_projections.model.rows import Moment
from asof_projections.retrieval.pipeline.configuration import PipelineConfig
from asof_projections.retrieval.pipeline.mindset import Features, rules
from asof_projections.retrieval.pipeline.nodes import Node, Ranked
from asof_streams.instants import INF, SECOND

MINDSET_SHARE: Final = 0.15  # of a score; the rest is that of the weighed sum
_FOUND: Final = frozenset({"meaning", "words", "name"})  # by the question itself


def rank(nodes: Sequence[Node], config: PipelineConfig, at: Moment, mindset: Mindset | None) -> list[Ranked]:
    """Return the best nodes of each kind, at most `final_top_k` of each, best first; of equals the one said first."""
    asked = _asked(nodes, at)
    most = max((node.degree for node in nodes), default=0) or 1
    ranked = [_scored(node, config, asked, most, mindset) for node in nodes if _passes(node, config)]
    ranked.sort(key=lambda each: (-each.score, each.node.time, each.node.key))
    seen: Counter[str] = Counter()
    best = []
    for each in ranked:
        seen[each.node.key.kind] += 1
        if seen[each.node.key.kind] <= config.final_top_k:
            best.append(each)
    return best


def _asked(nodes: Sequence[Node], at: Moment) -> int:
    """Return the instant from which ages count: the valid time that is asked about, else the known one.

    Where both clocks are lifted it is that of the latest node.
    """
    if at.valid is not None:
        return at.valid
    latest = max((node.time for node in nodes), default=0)
    return latest if at.known is None or at.known >= INF - 1 else at.known


def _passes(node: Node, config: PipelineConfig) -> bool:
    first, last = config.time_range or (node.time, node.time)
    return first <= node.time <= last and config.entity_type_filter in (None, node.key.kind)


def _scored(node: Node, config: PipelineConfig, asked: int, most: int, mindset: Mindset | None) -> Ranked:
    centrality = node.degree / most
    recency = recency_of(node.time, asked, config.temporal_decay_half_life_secs)
    base = (
        config.vector_sim_weight * node.reach.similarity
        + config.graph_centrality_weight * centrality
        + config.recency_weight * recency
    )
    if mindset is None:
        return Ranked(node, base, centrality, recency, None)
    features = Features(node.confidence, node.reach.way in _FOUND, centrality, node.text)
    fit = rules()[mindset].score(features)
    return Ranked(node, (1 - MINDSET_SHARE) * base + MINDSET_SHARE * fit, centrality, recency, fit)


def recency_of(time: int, asked: int, half_life_seconds: int) -> float:
    """Return 1 for what was said at the moment that is asked about or later, a half after each half-life."""
    age = max(asked - time, 0) / SECOND
    return float(0.5 ** (age / half_life_seconds))
