"""The nodes that the pipeline ranks: facts, turns and entities, and how a question reached each."""

from typing import Literal, NamedTuple

from asof_projections.retrieval.pipeline.configuration import Kind

Way = Literal["meaning", "words", "name", "graph", "community"]


class Key(NamedTuple):
    """A node: the number of a fact or turn, or the id of an entity."""

    kind: Kind
    id: int | str


class Reach(NamedTuple):
    """The way from a question to a node: the similarity, the leg that found it, and the steps through the graph."""

    similarity: float
    way: Way
    hops: int = 0


class Node(NamedTuple):
    """A node with what ranking needs of it."""

    key: Key
    uuid: str
    text: str
    time: int  # when it was said last
    confidence: float
    reach: Reach
    degree: int  # neighbours among the candidates


class Ranked(NamedTuple):
    """A node with its score and the parts of that."""

    node: Node
    score: float
    centrality: float
    recency: float
    mindset: float | None  # None: the question has none
