"""mem0, with its default store of vectors on disk and the shared embedder."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import UUID

from bench.peers.child import embedder
from bench.peers.subjects import AT_ONCE, Fact, Message, text_of

_USER = "bench"


class Embeddings:
    def __init__(self) -> None:
        self._embedder = embedder()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text], memory_action)[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:  # noqa: ARG002
        return self._embedder.embed(texts).tolist()  # type: ignore[no-any-return]


class OneAtATime:
    """A store that threads use in turns: the local one fails where two use it at once."""

    def __init__(self, store: Any) -> None:
        self._store, self._lock = store, Lock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)

        def in_turn(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                return found(*arguments, **named)

        return in_turn if callable(found) else found


class NewPeer:
    version = version("mem0ai")

    def __init__(self, folder: Path, model: str) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder.parent / "mem0")
        self._facts, self._reading = _opened(folder, model), _opened(folder.parent / "read", model)
        self._threads = ThreadPoolExecutor(AT_ONCE)

    def load(self, facts: Sequence[Fact]) -> None:
        texts = [text_of(fact) for fact in facts]
        for start in range(0, len(texts), 1_000):
            some = texts[start : start + 1_000]
            vectors = self._facts.embedding_model.embed_batch(some)
            payloads = [{"data": text, "user_id": _USER, "created_at": "2026-01-01T00:00:00+00:00"} for text in some]
            ids = [str(UUID(int=number)) for number in range(start, start + len(some))]
            self._facts.vector_store.insert(vectors=vectors, payloads=payloads, ids=ids)

    def state(self, fact: Fact) -> None:
        self._facts.add(text_of(fact), user_id=_USER, infer=False)

    def say(self, message: Message) -> None:
        self._facts.add(message["content"], user_id="chat", infer=False)

    def search(self, question: str) -> object:
        return self._facts.search(question, filters={"user_id": _USER}, top_k=10)

    def read(self, messages: Sequence[Message]) -> None:
        list(self._threads.map(lambda said: self._reading.add(said["content"], user_id=_USER), messages))

    def close(self) -> None:
        self._threads.shutdown()
        for memory in (self._facts, self._reading):
            memory.vector_store.client.close()


def _opened(folder: Path, model: str) -> Any:
    openai = {"api_key": "none", "openai_base_url": model}
    vectors = {"path": str(folder / "vectors"), "embedding_model_dims": 384, "on_disk": True}
    memory: Any = import_module("mem0").Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {**openai, "model": "fake"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": 384}},
            "vector_store": {"provider": "qdrant", "config": vectors},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Embeddings()
    memory.vector_store = OneAtATime(memory.vector_store)
    return memory
