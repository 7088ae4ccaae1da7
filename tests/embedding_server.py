"""A small server that speaks OpenAI's embeddings API over real HTTP, and fails when it is told to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from asof_projections.embedding.hashing import HashingEmbedder


class EmbeddingServer(ThreadingHTTPServer):
    """Embeds as HashingEmbedder does, three times as long; first it gives the answers in `failures`, one a request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.requests: list[dict[str, Any]] = []
        self.failures: list[tuple[int, str]] = []

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        self.requests.append(asked)
        if self.failures:
            return self.failures.pop(0)
        rows = 3 * HashingEmbedder().embed(asked["input"])[:, : asked.get("dimensions", 384)]
        data = [{"object": "embedding", "index": i, "embedding": row.tolist()} for i, row in enumerate(rows)]
        # out of order, as the API allows
        return 200, json.dumps({"object": "list", "model": asked["model"], "data": data[::-1]})


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.server.answer(asked) if self.path == "/v1/embeddings" else (404, "{}")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
