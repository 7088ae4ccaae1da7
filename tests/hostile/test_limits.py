"""Callers who ask for more than their share: connections, feeds, and requests without a key."""

import asyncio
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from api_keys import READ, TEAM_READ, sent, written
from asof.http.connections import MOST
from asof.http.middleware.authentication import AuthenticationMiddleware
from asof.http.routes.feed import MOST_OF_ONE_KEY
from asof.service.api_keys import Keys
from http_server import Server, serving
from patience import wait_until

STREAM = "/v1/events/stream?log=messages"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("limits")
    with serving(folder / "data", ASOF_KEYS_FILE=str(written(folder / "keys.toml"))) as running:
        yield running


@pytest.fixture
def _many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3 * MOST + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this user may open {hard} files, and the test needs {wanted}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(server: Server, request: bytes) -> socket.socket:
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    client = socket.create_connection((host, int(port)))
    client.sendall(request)
    return client


HALVES = [
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    b"POST /messages HTTP/1.1\r\nAuthorization: Bearer write-key-0123456789\r\nHost: a\r\nContent-Length: 9\r\n\r\n{",
    b"",
]


@pytest.mark.usefixtures("_many_files")
@pytest.mark.parametrize("half", HALVES, ids=["head", "body", "nothing"])
def test_half_requests_keep_nobody_from_being_answered(server: Server, half: bytes) -> None:
    took = []
    with ExitStack() as held:
        for _ in range(MOST + 200):
            held.enter_context(connect(server, half))
        for _ in range(5):
            began = time.monotonic()
            assert httpx2.get(f"{server.url}/healthz", timeout=300).status_code == 200
            took.append(time.monotonic() - began)

    assert min(took) < 5.0


def test_a_request_that_does_not_come_is_not_waited_for(server: Server) -> None:
    with connect(server, HALVES[0]) as client:
        client.settimeout(300)
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""


def test_one_key_leaves_feeds_to_others(server: Server) -> None:
    with ExitStack() as held:
        for _ in range(MOST_OF_ONE_KEY):
            feed = server.client.stream("GET", STREAM, headers=sent(READ))
            assert held.enter_context(feed).status_code == 200

        refused = server.client.get(STREAM, headers=sent(READ))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        with server.client.stream("GET", STREAM, headers=sent(TEAM_READ)) as other:
            assert other.status_code == 200

    def free() -> bool:
        with server.client.stream("GET", STREAM, headers=sent(READ)) as feed:
            return feed.status_code == 200

    wait_until(free)


@pytest.mark.parametrize("path", ["/readyz", "/openapi.json", "/v1/facts", "/nowhere"])
def test_requests_without_a_key_that_is_known_are_limited_by_address(tmp_path: Path, path: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        passed.append(200)

    passed: list[int] = []
    guard = AuthenticationMiddleware(app, Keys.read(written(tmp_path / "keys.toml")), None, now=lambda: 0.0)

    def ask(path: str, address: str) -> int:
        async def send(message: Message) -> None:
            answers.append(message.get("status", 0))

        async def receive() -> Message:
            raise NotImplementedError

        answers: list[int] = []
        passed.clear()
        scope = {"type": "http", "path": path, "headers": [], "client": (address, 1), "method": "GET"}
        asyncio.run(guard(scope, receive, send))
        return (answers or passed)[0]

    first = ask(path, "2001:db8::1")
    answers = {ask(path, f"2001:db8::{number:x}") for number in range(2, 300)}

    assert answers == {first, 429}
    assert ask(path, "2001:db9::1") == first
    assert ask("/healthz", "2001:db8::1") == 200
