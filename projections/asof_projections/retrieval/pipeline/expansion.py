"""Graph expansion and community selection: what stands around the nodes that a question found."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from asof_projections.model.rows import CommunityRow
from asof_projections.ports import BeliefStore
from asof_projections.retrieval.pipeline.graph import FACTS, MemoryGraph
from asof_projections.retrieval.pipeline.nodes import Key, Reach

DECAY: Final = 0.5  # of a similarity, at each step
OF_COMMUNITY: Final = 0.1  # the similarity of what only a community brings

Reached = dict[Key, Reach]


def expand(graph: MemoryGraph, seeds: Reached, hops: int) -> Reached:
    """Return the seeds and what is at most so many steps away; a node keeps the similarity by which it was first found.

    A neighbour has half the similarity of the best node that leads to it.
    """
    reached, last = dict(seeds), seeds
    for hop in range(1, hops + 1):
        found: Reached = {}
        for key, around in graph.neighbours(sorted(last)).items():
            similarity = DECAY * last[key].similarity
            for other in around - reached.keys():
                if other not in found or found[other].similarity < similarity:
                    found[other] = Reach(similarity, "graph", hop)
        if not found:
            break
        reached |= found
        last = found
    return reached


def add_communities(
    graph: MemoryGraph, beliefs: BeliefStore, known: int | None, seeds: Iterable[Key], reached: Reached, most: int
) -> Reached:
    """Return what was reached with the communities of the seeds: their members, then the facts of those, latest first.

    Of each seed at most so many nodes are new.
    """
    ends = {seed: _entities(graph, seed) for seed in seeds}
    entities = sorted({uuid for uuids in ends.values() for uuid in uuids})
    if not entities or not most:
        return reached
    communities: defaultdict[str, list[CommunityRow]] = defaultdict(list)
    for community in beliefs.communities(None, known, of=entities):
        for member in community.members:
            communities[member.uuid].append(community)
    nodes: dict[str, list[Key]] = {}
    every = dict(reached)
    for uuids in ends.values():
        theirs = {community.uuid: community for uuid in uuids for community in communities[uuid]}
        for uuid in theirs.keys() - nodes.keys():
            nodes[uuid] = _nodes(graph, [member.uuid for member in theirs[uuid].members], most)
        new = dict.fromkeys(key for uuid in theirs for key in nodes[uuid] if key not in every)
        every |= dict.fromkeys(list(new)[:most], Reach(OF_COMMUNITY, "community"))
    return every


def _entities(graph: MemoryGraph, seed: Key) -> list[str]:
    """Return the entities of a seed: itself, or the ends of a fact, or those of the facts that a turn began."""
    if seed.kind == "entity":
        return [str(seed.id)]
    facts = [seed] if seed.kind == "fact" else sorted(graph.neighbours([seed]).get(seed, ()))
    ends = (key for fact in facts if fact.id in graph.facts for key in graph.ends(graph.facts[int(fact.id)]))
    return sorted(str(key.id) for key in ends if key.kind == "entity")


def _nodes(graph: MemoryGraph, members: Sequence[str], most: int) -> list[Key]:
    facts = graph.facts_of(members, most + FACTS)  # some of them may be there already
    return [*(Key("entity", uuid) for uuid in members), *(Key("fact", number) for number in facts)]
