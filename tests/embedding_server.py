"""A small server that speaks OpenAI's embeddings API over real HTTP, and fails when it is told to."""

import json
from contextlib import AbstractContextManager
from typing import Any

from asof_projections.embedding.hashing import HashingEmbedder
from openai_server import OpenAIServer, started


class EmbeddingServer(OpenAIServer):
    """Embeds as HashingEmbedder does, three times as long; first it gives the answers in `failures`, one a request.

    means: of texts, those as which it embeds them. refuses: texts that it answers with 401.
    """

    path = "/embeddings"

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[tuple[int, str]] = []
        self.means: dict[str, str] = {}
        self.refuses: set[str] = set()

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        self.requests.append(asked)
        if self.failures:
            return self.failures.pop(0)
        if self.refuses.intersection(asked["input"]):
            return 401, "{}"
        texts = [self.means.get(text, text) for text in asked["input"]]
        rows = 3 * HashingEmbedder().embed(texts)[:, : asked.get("dimensions", 384)]
        data = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
        # out of order, as the API allows
        return 200, json.dumps({"object": "list", "model": asked["model"], "data": data[::-1]})


def serving() -> AbstractContextManager[EmbeddingServer]:
    return started(EmbeddingServer())
