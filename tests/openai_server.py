"""What the servers of these tests that speak OpenAI's API have in common: JSON over real HTTP, beside the test."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar


class OpenAIServer(ThreadingHTTPServer):
    """Answers what is posted to `path`; keeps what it was asked. Port 0 is any that is free.

    retry_after: the seconds that an answer which is no success asks its client to wait; None: it does not say.
    """

    path: ClassVar[str]
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.requests: list[dict[str, Any]] = []
        self.retry_after: int | None = None

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        """Return a status and a body."""
        raise NotImplementedError

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed is none of its errors
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: OpenAIServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: alone, a body waits 40 ms until the client acknowledges the head

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.server.answer(asked) if self.path == f"/v1{self.server.path}" else (404, "{}")
        with suppress(ConnectionError):  # the client waits no longer
            self.send_response(status)
            if status >= 400 and self.server.retry_after is not None:
                self.send_header("Retry-After", str(self.server.retry_after))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep the output clean."""


_Server = TypeVar("_Server", bound=OpenAIServer)


@contextmanager
def started(server: _Server) -> Iterator[_Server]:
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
