"""Graphiti on its embedded database, where its package is installed, with a model that answers rightly.

A statement is an edge, and its source the episode of that; one in the words of another joins its edge. The model is
asked which of the facts that a search finds contradict a new one, and knows which relations have one object at a time;
what follows for the times of edges is up to Graphiti. It keeps when it came to know of an edge and of its end. A
retracted statement is deleted, and what it had ended stays ended. Names that turn out to be of one entity stay two.
"""

import ast
import asyncio
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid5

from asof_projections.embedding.hashing import HashingEmbedder
from bench.graphiti import open_graphiti
from bench.two_clocks.told import MANY, SAME, SINGLE, Ended, Question, Retracted, Stated, kind_of

_GROUP: Final = "story"
_FACT: Final = re.compile(rf"(.+) ({'|'.join((*SINGLE, *MANY, SAME))}) (.+) since \S+")
_LISTS: Final = re.compile(r"<(?:EXISTING FACTS|FACT INVALIDATION CANDIDATES)>\s*(\[.*?\])\s*</")
_NEW: Final = re.compile(r"<NEW FACT>\s*(.*?)\s*</NEW FACT>")


class GraphitiMemory:
    """Tells by `add_triplet`, and by saving and deleting edges; asks for the edges of a node."""

    def __init__(self, folder: Path) -> None:
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        os.environ["EMBEDDING_DIM"] = "384"
        folder.mkdir(parents=True, exist_ok=True)
        self._loop = asyncio.new_event_loop()
        self._nodes: Any = import_module("graphiti_core.nodes")
        self._edges: Any = import_module("graphiti_core.edges").EntityEdge
        self._graph = self._run(_opened(folder / "graph"))
        self._known: dict[str, Any] = {}  # nodes by name
        self._edge_of: dict[str, str] = {}  # ids by ref
        self._ended: dict[str, str] = {}  # what an ending ends, by its ref

    def reset(self, single: Sequence[str]) -> None:
        """Begin with an empty graph."""

    def state(self, said: Stated) -> None:
        """Add an edge, known from when it was recorded; Graphiti ends those that it contradicts."""
        source, target = (self._node(name, said.recorded) for name in (said.subject, said.object))
        edge = self._edges(
            source_node_uuid=source.uuid,
            target_node_uuid=target.uuid,
            name=said.relation,
            fact=f"{said.subject} {said.relation} {said.object} since {said.start.date()}",
            group_id=_GROUP,
            created_at=said.recorded,
            valid_at=said.start,
            invalid_at=said.end,
            episodes=[said.ref],
        )
        episode = self._nodes.EpisodicNode(
            uuid=said.ref,
            name=said.ref,
            group_id=_GROUP,
            source="text",
            source_description="",
            content="",
            valid_at=said.recorded,
        )
        began = datetime.now(UTC)
        found = self._run(self._graph.add_triplet(source, edge, target, episode)).edges
        for one in found:
            if one.expired_at is not None and one.expired_at >= began:  # by the clock of the machine
                self._save(one, expired_at=said.recorded)
        self._edge_of[said.ref] = found[0].uuid

    def end(self, said: Ended) -> None:
        """Write the end into the edge, and since when it is known."""
        self._ended[said.ref] = said.of
        self._save(self._edge(said.of), invalid_at=said.at, expired_at=said.recorded)

    def retract(self, said: Retracted) -> None:
        """Delete the edge, unless it has another source; where an ending is retracted, open it again."""
        if said.of in self._ended:
            self._save(self._edge(self._ended[said.of]), invalid_at=None, expired_at=None)
            return
        edge = self._edge(said.of)
        edge.episodes.remove(said.of)
        self._save(edge) if edge.episodes else self._run(edge.delete(self._graph.driver))

    def ask(self, question: Question) -> frozenset[str]:
        """Answer from the edges of a node that hold at both times."""
        subject, relation, valid, known = question.subject, question.relation, question.valid, question.known
        match kind_of(question):
            case "two hops":
                between = self._objects(subject, relation, valid, known)
                found = [self._objects(one, question.then or "", valid, known) for one in between]
                return frozenset[str]().union(*found)
            case "known since":
                since = [edge.created_at for edge in self._saying(question)]
                return frozenset([min(since).date().isoformat()] if since else [])
            case "what changed":
                before, after = (self._objects(subject, relation, valid, at) for at in (known, None))
                return frozenset([f"-{one}" for one in before - after] + [f"+{one}" for one in after - before])
            case "who says so":
                return frozenset(ref for edge in self._saying(question) for ref in edge.episodes)
            case _:
                return self._objects(subject, relation, valid, known)

    def _saying(self, question: Question) -> list[Any]:
        held = self._held(question.subject, question.relation, question.valid, None)
        return [edge for edge in held if edge.target_node_uuid == _id(question.object or "")]

    def _objects(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> frozenset[str]:
        names = {node.uuid: name for name, node in self._known.items()}
        return frozenset(names[edge.target_node_uuid] for edge in self._held(subject, relation, valid, known))

    def _held(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> list[Any]:
        edges = self._run(self._edges.get_by_node_uuid(self._graph.driver, _id(subject)))
        slot = [edge for edge in edges if edge.source_node_uuid == _id(subject) and edge.name == relation]
        return [edge for edge in slot if _holds(edge, valid, known)]

    def _node(self, name: str, at: datetime) -> Any:
        if name not in self._known:
            node = self._nodes.EntityNode(uuid=_id(name), name=name, group_id=_GROUP, created_at=at)
            self._run(node.generate_name_embedding(self._graph.embedder))
            self._run(node.save(self._graph.driver))
            self._known[name] = node
        return self._known[name]

    def _edge(self, ref: str) -> Any:
        return self._run(self._edges.get_by_uuid(self._graph.driver, self._edge_of[ref]))

    def _save(self, edge: Any, **times: datetime | None) -> None:
        for name, at in times.items():
            setattr(edge, name, at)
        if edge.fact_embedding is None:
            self._run(edge.generate_embedding(self._graph.embedder))
        self._run(edge.save(self._graph.driver))

    def _run(self, made: Any) -> Any:
        return self._loop.run_until_complete(made)


def _holds(edge: Any, valid: datetime, known: datetime | None) -> bool:
    """Return whether an edge holds at a time as it was known at another, when its end may not have been known yet."""
    times = (edge.valid_at, edge.invalid_at, edge.created_at, edge.expired_at)
    start, end, since, ended = (at and at.replace(tzinfo=UTC) for at in times)  # the database keeps no zone
    if known is not None and since > known:
        return False
    is_open = end is None or (known is not None and ended is not None and ended > known)
    return bool(start <= valid and (is_open or valid < end))


def _id(name: str) -> str:
    return str(uuid5(UUID(int=0), name))


def contradicted(prompt: str) -> dict[str, list[int]]:
    """Return what the model answers to a prompt: the other facts of the slot of a new one, of one object at a time."""
    [new] = _NEW.findall(prompt)
    listed = [one for facts in _LISTS.findall(prompt) for one in ast.literal_eval(facts)]
    said, facts = _FACT.fullmatch(new), [(one["idx"], _FACT.fullmatch(one["fact"])) for one in listed]
    assert said
    slot = [(number, fact) for number, fact in facts if fact and fact.group(1, 2) == said.group(1, 2)]
    others = [number for number, fact in slot if fact[2] in SINGLE and fact[3] != said[3]]
    return {"duplicate_facts": [], "contradicted_facts": others}


async def _opened(path: Path) -> Any:
    llm: Any = import_module("graphiti_core.llm_client.client")

    class Model(llm.LLMClient):  # type: ignore[misc]
        async def _generate_response(self, messages: list[Any], *_: Any, **__: Any) -> dict[str, Any]:
            return contradicted(messages[-1].content)

    return await open_graphiti(path, Model(None), HashingEmbedder())
