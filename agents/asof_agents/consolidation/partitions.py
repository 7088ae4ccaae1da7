"""Partitions of a part of a graph into communities: by label propagation, or by Leiden where it is installed. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from asof_streams.consolidation_config import CommunityConfig
from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput


class Region(NamedTuple):
    """The part of a graph that a pass looks at: nodes that may move, amid communities of others, which stay.

    Labels below `communities` are communities that there are already; node n alone has the label `communities + n`.
    """

    communities: int
    labels: Sequence[int]  # of each node, before
    near: Sequence[Sequence[int]]  # the neighbours of each node among the nodes, ascending
    around: Sequence[Mapping[int, int]]  # how many neighbours of each node outside are of which community


Partition = Callable[[Region], Sequence[int]]
"""Returns the label of each node of a region."""


def partition_of(config: CommunityConfig) -> Partition:
    """Return the way of detecting communities that a configuration names. InvalidInput: it is not installed."""
    if config.algorithm == "label_propagation":
        return partial(propagate, sweeps=config.iterations)
    if find_spec("graspologic_native") is None:
        raise InvalidInput(f"Leiden needs graspologic-native. Get it with: {install_command('leiden')}")
    return partial(leiden, config=config)


def propagate(region: Region, sweeps: int) -> Sequence[int]:
    """Label propagation: each node, in order, joins the community of most of its neighbours, until none moves.

    Of equal communities its own one stays, else the smallest wins.
    """
    labels = list(region.labels)
    for _ in range(sweeps):
        moved = False
        for node, near in enumerate(region.near):
            counts = Counter(region.around[node])
            counts.update(labels[other] for other in near)
            if not counts:
                continue
            most = max(counts.values())
            if counts[labels[node]] != most:
                labels[node] = min(label for label, count in counts.items() if count == most)
                moved = True
        if not moved:
            break
    return labels


def leiden(region: Region, config: CommunityConfig) -> Sequence[int]:
    """The Leiden algorithm, from the communities that there are; each community outside is one node, which stays."""
    edges = [
        (str(node), str(other), 1.0) for node, near in enumerate(region.near) for other in near if node < other
    ] + [
        (str(node), f"c{label}", float(count))
        for node, around in enumerate(region.around)
        for label, count in sorted(around.items())
    ]
    if not edges:
        return region.labels
    names = dict.fromkeys(name for edge in edges for name in edge[:2])
    start = {name: int(name[1:]) if name[0] == "c" else region.labels[int(name)] for name in names}
    dense = {label: place for place, label in enumerate(dict.fromkeys(start.values()))}
    _, found = import_module("graspologic_native").leiden(
        edges,
        {name: dense[label] for name, label in start.items()},
        config.resolution,
        config.randomness,
        config.iterations,
        True,
        config.seed,
        1,
    )
    clusters: dict[int, list[int]] = {}
    anchors: dict[int, Counter[int]] = {}  # communities outside that a cluster has, by their edges to its nodes
    for name in names:
        if name[0] != "c":
            clusters.setdefault(found[name], []).append(int(name))
    for node, around in enumerate(region.around):
        for label, count in around.items():
            if found[f"c{label}"] == found[str(node)]:
                anchors.setdefault(found[str(node)], Counter())[label] += count
    labels = [region.communities + node for node in range(len(region.near))]
    for cluster, nodes in clusters.items():
        near = anchors.get(cluster)
        label = region.communities + min(nodes) if near is None else min(near, key=lambda at: (-near[at], at))
        for node in nodes:
            labels[node] = label
    return labels
