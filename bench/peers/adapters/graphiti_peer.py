"""Graphiti on its embedded database, Kuzu, with the shared embedder. It takes messages one after the other."""

import asyncio
import os
import warnings
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from bench.graphiti import open_graphiti
from bench.peers.child import embedder
from bench.peers.subjects import Fact, Message, text_of

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
os.environ["EMBEDDING_DIM"] = "384"
warnings.filterwarnings("ignore", category=DeprecationWarning)
_GROUP = "bench"
_ALL = 1_000  # facts
_IDS = UUID(int=0)


class NewPeer:
    version = version("graphiti-core")

    def __init__(self, folder: Path, model: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._nodes: Any = import_module("graphiti_core.nodes")
        self._edges: Any = import_module("graphiti_core.edges")
        self._graph = self._loop.run_until_complete(_opened(folder / "graph", model))

    def load(self, facts: Sequence[Fact]) -> None:
        bulk: Any = import_module("graphiti_core.utils.bulk_utils")
        known: dict[str, Any] = {}
        for start in range(0, len(facts), 200):
            edges, nodes = [], []
            for fact in facts[start : start + 200]:
                new = [node for node in self._ends(fact) if node.uuid not in known]
                known |= {node.uuid: node for node in new}
                nodes += new
                edges.append(self._edge(fact))
            self._run(bulk.add_nodes_and_edges_bulk(self._graph.driver, [], [], nodes, edges, self._graph.embedder))

    def state(self, fact: Fact) -> None:
        source, target = self._ends(fact)
        self._run(self._graph.add_triplet(source, self._edge(fact), target))

    def entity(self, fact: Fact) -> object:
        return self._run(self._edges.EntityEdge.get_by_node_uuid(self._graph.driver, _id(fact["subject"])))

    def hops(self, fact: Fact) -> object:
        walk: Any = import_module("graphiti_core.search.search_utils").edge_bfs_search
        every: Any = import_module("graphiti_core.search.search_filters").SearchFilters()
        return self._run(walk(self._graph.driver, [_id(fact["subject"])], 2, every, [_GROUP], _ALL))

    def search(self, question: str) -> object:
        return self._run(self._graph.search(question, group_ids=[_GROUP]))

    def read(self, messages: Sequence[Message]) -> None:
        for said in messages:
            text, at = f"{said['role']}: {said['content']}", datetime.fromisoformat(said["timestamp"])
            self._run(self._graph.add_episode("message", text, "chat", at, group_id="chat"))

    def close(self) -> None:
        self._run(self._graph.close())

    def _ends(self, fact: Fact) -> list[Any]:
        at = datetime.fromisoformat(fact["valid_at"])
        return [
            self._nodes.EntityNode(uuid=_id(name), name=name, group_id=_GROUP, created_at=at)
            for name in (fact["subject"], fact["object"])
        ]

    def _edge(self, fact: Fact) -> Any:
        at, text = datetime.fromisoformat(fact["valid_at"]), text_of(fact)
        ends = {"source_node_uuid": _id(fact["subject"]), "target_node_uuid": _id(fact["object"])}
        name, uuid = fact["relation"].upper(), _id(f"{text} {at}")
        return self._edges.EntityEdge(
            uuid=uuid, name=name, fact=text, group_id=_GROUP, created_at=at, valid_at=at, episodes=[], **ends
        )

    def _run(self, made: Any) -> Any:
        return self._loop.run_until_complete(made)


def _id(name: str) -> str:
    return str(uuid5(_IDS, name))


async def _opened(path: Path, model: str) -> Any:
    client: Any = import_module("graphiti_core.llm_client.openai_generic_client")
    config: Any = import_module("graphiti_core.llm_client.config")
    fake = config.LLMConfig(api_key="none", base_url=model, model="fake", small_model="fake")
    return await open_graphiti(path, client.OpenAIGenericClient(fake), embedder())
