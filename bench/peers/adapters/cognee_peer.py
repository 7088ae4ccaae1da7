"""cognee on its embedded stores, with the shared embedder. What is loaded are pieces of text, which it finds."""

import asyncio
import os
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.peers.child import embedder
from bench.peers.subjects import Fact, Message, text_of

_SETTINGS = {
    "TELEMETRY_DISABLED": "1",
    "ENABLE_BACKEND_ACCESS_CONTROL": "false",
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "CACHING": "false",
    "LOG_LEVEL": "ERROR",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LLM_API_KEY": "none",
    "LLM_PROVIDER": "custom",
    "LLM_MODEL": "openai/fake",
    "EMBEDDING_PROVIDER": "openai",
    "EMBEDDING_MODEL": "openai/fake",
    "EMBEDDING_DIMENSIONS": "384",
}
_READ = "read"  # the data set of what a model reads


class Engine:
    """The embedder as cognee asks for it, with the count of tokens that it cuts texts by."""

    max_completion_tokens = 8_191

    def __init__(self) -> None:
        self._embedder, self.tokenizer = embedder(), Tokens()

    async def embed_text(self, text: Sequence[str]) -> list[list[float]]:
        return self._embedder.embed(list(text)).tolist()  # type: ignore[no-any-return]

    def get_vector_size(self) -> int:
        return 384

    def get_batch_size(self) -> int:
        return 1_000


class Tokens:
    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 1


class NewPeer:
    version = version("cognee")

    def __init__(self, folder: Path, model: str) -> None:
        roots = {"DATA_ROOT_DIRECTORY": str(folder / "data"), "SYSTEM_ROOT_DIRECTORY": str(folder / "system")}
        os.environ.update(_SETTINGS | roots | {"LLM_ENDPOINT": model})
        self._loop, engine = asyncio.new_event_loop(), Engine()
        self._cognee: Any = import_module("cognee")
        vectors: Any = import_module("cognee.infrastructure.databases.vector.embeddings.get_embedding_engine")
        vectors.create_embedding_engine = lambda *_: engine
        self._chunk: Any = import_module("cognee.modules.chunking.models.DocumentChunk").DocumentChunk
        documents: Any = import_module("cognee.modules.data.processing.document_types")
        self._document = documents.TextDocument(name="facts", raw_data_location="facts", external_metadata=None)
        self._add: Any = import_module("cognee.tasks.storage").add_data_points
        self._run(import_module("cognee.modules.engine.operations.setup").setup())

    def load(self, facts: Sequence[Fact]) -> None:
        chunks = [self._of(fact, number) for number, fact in enumerate(facts)]
        for start in range(0, len(chunks), 500):
            self._run(self._add(chunks[start : start + 500]))

    def state(self, fact: Fact) -> None:
        self._run(self._add([self._of(fact, 0)]))

    def search(self, question: str) -> object:
        kind = self._cognee.SearchType.CHUNKS
        return self._run(self._cognee.search(query_text=question, query_type=kind, top_k=10))

    def read(self, messages: Sequence[Message]) -> None:
        said = [f"{message['role']}: {message['content']}" for message in messages]
        self._run(self._cognee.add(said, dataset_name=_READ))
        self._run(self._cognee.cognify(datasets=[_READ]))

    def close(self) -> None:
        """Nothing is left to be written."""

    def _of(self, fact: Fact, number: int) -> Any:
        text, document = text_of(fact), self._document
        given = {"chunk_size": len(text), "chunk_index": number, "cut_type": "end", "contains": []}
        return self._chunk(text=text, is_part_of=document, **given)

    def _run(self, made: Any) -> Any:
        return self._loop.run_until_complete(made)
