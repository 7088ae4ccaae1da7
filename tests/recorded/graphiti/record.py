"""Record what Graphiti's server answers to the stories of this folder: each line gets its `recorded` anew.

It runs the server's own application, its routes, bodies and queue, on an embedded Kuzu database. What is put in its
place are the three models that it would ask over the network: a language model that reads "I live in X." as a fact,
embeddings made of words, and a ranking that is not used. Its description of itself is kept too. By hand, in an
environment of its own:

    pip install graphiti-core kuzu fastapi uvicorn pydantic-settings httpx
    git clone https://github.com/getzep/graphiti
    export OPENAI_API_KEY=none GRAPHITI_TELEMETRY_ENABLED=false PYTHONPATH=graphiti/server:tests
    python tests/recorded/graphiti/record.py $(git -C graphiti rev-parse --short HEAD)
"""

import asyncio
import json
import re
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import kuzu
import uvicorn
from graph_service import main
from graph_service.routers import ingest
from graph_service.zep_graphiti import ZepGraphiti, get_graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.llm_client.client import LLMClient

from graphiti_stories import FOLDER, STORIES, Story, is_accepted

MADE = f"recorded from the routes of Graphiti's server at {sys.argv[1]} with " + ", ".join(
    f"{name} {version(name)}" for name in ("graphiti-core", "fastapi", "pydantic", "kuzu")
)
_CURRENT = re.compile(r"<CURRENT[ _]MESSAGE>\s*(.*?)\s*</CURRENT", re.DOTALL)
_LIVES = re.compile(r"(?P<who>\w+)\(user\): I live in (?P<where>\w+)")
_DIMENSIONS = 1_024


class Model(LLMClient):
    """Reads "I live in X." as a fact, and finds that one home ends another."""

    async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        text = messages[-1].content
        said = _CURRENT.search(text)
        lives = _LIVES.search(said[1] if said else "")
        match response_model.__name__:
            case "ExtractedEntities":
                names = [lives["who"], lives["where"]] if lives else []
                return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in names]}
            case "ExtractedEdges":
                return {"edges": [self._edge(lives["who"], lives["where"], text)] if lives else []}
            case "NodeResolutions":
                return {"entity_resolutions": []}
            case "EdgeDuplicate":
                others = re.search(r"<EXISTING FACTS>(.*)</FACT INVALIDATION CANDIDATES>", text, re.DOTALL)
                assert others
                return {"duplicate_facts": [], "contradicted_facts": list(range(others[1].count("lives in")))}
            case "SummarizedEntities":
                return {"summaries": []}
        raise ValueError(f"it is not known how to answer with {response_model}")

    def _edge(self, who: str, where: str, text: str) -> dict[str, Any]:
        reference = re.search(r"<REFERENCE_TIME>\s*([\d: .+-]*\d)", text)
        assert reference
        return {
            "source_entity_name": who,
            "target_entity_name": where,
            "relation_type": "lives_in",
            "fact": f"{who} lives in {where}",
            "valid_at": datetime.fromisoformat(reference[1]).isoformat(),
        }


class Words(EmbedderClient):
    """A vector with a one for each word."""

    async def create(self, input_data: Any) -> list[float]:
        vector = [0.0] * _DIMENSIONS
        for word in re.findall(r"\w+", str(input_data).lower()):
            vector[zlib.crc32(word.encode()) % _DIMENSIONS] = 1.0
        return vector

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [await self.create(text) for text in input_data_list]


class Unranked(CrossEncoderClient):
    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        del query
        return [(passage, 1.0) for passage in passages]


class Database(KuzuDriver):
    """Keeps the offsets of times, as Graphiti's other databases do."""

    _database = ""  # it has none; the library looks for one

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> Any:
        given = {name: v.astimezone(UTC) if isinstance(v, datetime) else v for name, v in kwargs.items()}
        rows, *others = await super().execute_query(cypher_query_, **given)
        for row in rows:
            row.update({name: v.replace(tzinfo=UTC) for name, v in row.items() if isinstance(v, datetime)})
        return rows, *others


class Queue(asyncio.Queue[Any]):
    """Knows whether its one reader waits for more."""

    idle = False

    async def get(self) -> Any:
        self.idle = self.empty()
        job = await super().get()
        self.idle = False
        return job


@contextmanager
def serving() -> Iterator[httpx.Client]:
    """The server on an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Database(str(Path(folder) / "graph"))
        with kuzu.Connection(driver.db) as connection:
            for query in get_fulltext_indices(driver.provider):
                connection.execute(query)

        def graphiti() -> ZepGraphiti:
            return ZepGraphiti(graph_driver=driver, llm_client=Model(None), embedder=Words(), cross_encoder=Unranked())

        main.app.dependency_overrides = {get_graphiti: graphiti}
        main.initialize_graphiti = lambda _: asyncio.sleep(0)
        ingest.async_worker = ingest.AsyncWorker()
        ingest.async_worker.queue = Queue()
        server = uvicorn.Server(uvicorn.Config(main.app, port=8599, log_level="critical"))
        thread = threading.Thread(target=server.run)
        thread.start()
        with httpx.Client(base_url="http://127.0.0.1:8599", timeout=60, headers={"Connection": "close"}) as client:
            while not server.started:
                time.sleep(0.01)
            yield client
        server.should_exit = True
        thread.join()


def settle() -> None:
    """Wait until the server's worker has nothing to do, or has ended."""
    worker = ingest.async_worker
    while not (worker.task.done() or (worker.queue.idle and worker.queue.empty())):
        time.sleep(0.01)


def record(path: Path) -> None:
    story = Story(path)
    with serving() as client:
        for case, given in story.requests():
            answer = client.request(**given)
            case["recorded"] = story.evened(answer)
            if is_accepted(case, answer):
                settle()
    lines = [{"made": MADE}, *story.cases]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def described() -> str:
    """Return the server's OpenAPI document, without its prose."""

    def bare(value: Any) -> Any:
        match value:
            case dict():
                prose = {key: "" for key in ("description", "summary") if isinstance(value.get(key), str)}
                return {**{key: bare(inner) for key, inner in value.items()}, **prose}
            case list():
                return [bare(inner) for inner in value]
        return value

    return json.dumps(bare(main.app.openapi()))


if __name__ == "__main__":
    (FOLDER / "openapi.json").write_text(described() + "\n", encoding="utf-8")
    for path in STORIES:
        record(path)
