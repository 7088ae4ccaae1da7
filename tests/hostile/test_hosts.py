"""Requests without keys that are addressed to another host than this machine, or sent by a page of another site."""

import socket
from collections.abc import Iterator

import pytest

from http_server import Server, serving

FOREIGN = [
    "evil@localhost",
    "evil.example@127.0.0.1",
    "evil:x@localhost:8000",
    "localhost@evil.example",
    "localhost.evil.example",
    "localhost.",
    "localhost,evil.example",
    "localhost evil.example",
    "localhost/evil",
    "localhost?evil",
    "localhost#evil",
    "localhost\\evil",
    "localhost:80:80",
    "localhost:",
    "localhost:x",
    "localhost:123456",
    "//localhost",
    "http://localhost",
    "127.0.0.1.evil.example",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "0.0.0.0",
    "[::]",
    "[::1%25lo]",
    "[::1",
    "::1",
    "[localhost]",
    "[127.0.0.1]x",
    "ⓛocalhost",
    "localhost\u3002",
    "evil.example",
    "",
]
OWN = ["localhost", "LocalHost:8000", "127.0.0.1", "127.0.0.2:1", "[::1]", "[0:0:0:0:0:0:0:1]:65535"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("hosts") / "data") as running:
        yield running


def ask(server: Server, *headers: str, target: str = "/v1/facts") -> int:
    """Send headers as they are; return the status, or 0 where the connection is closed without one."""
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    lines = [f"GET {target} HTTP/1.1", *headers, "Connection: close", "", ""]
    with socket.create_connection((host, int(port))) as client:
        client.sendall("\r\n".join(lines).encode())
        answer = client.makefile("rb").readline().split()
    return int(answer[1]) if answer else 0


@pytest.mark.parametrize("host", FOREIGN)
def test_a_request_to_another_host_is_refused(server: Server, host: str) -> None:
    assert ask(server, f"Host: {host}") in {400, 403}
    assert ask(server, f"Host: {host}", target="/readyz") in {400, 403}


@pytest.mark.parametrize("host", OWN)
def test_a_request_to_this_machine_is_answered(server: Server, host: str) -> None:
    assert ask(server, f"Host: {host}") == 200
    assert ask(server, f"Host: {host}", f"Origin: http://{host}") == 200


@pytest.mark.parametrize("host", [host for host in FOREIGN if host])
def test_a_page_of_another_site_is_refused(server: Server, host: str) -> None:
    assert ask(server, "Host: localhost", f"Origin: http://{host}") in {400, 403}


@pytest.mark.parametrize("page", ["null", "localhost", "file://localhost", "http://", "http://localhost http://evil"])
def test_a_page_of_no_site_is_refused(server: Server, page: str) -> None:
    assert ask(server, "Host: localhost", f"Origin: {page}") == 403


@pytest.mark.parametrize(
    "headers",
    [
        ("Host: localhost", "Host: evil.example"),
        ("Host: evil.example", "Host: localhost"),
        ("Host: localhost", "Host: localhost"),
        ("Host: localhost", "Origin: http://localhost", "Origin: http://evil.example"),
        ("Host : localhost",),
        (),
    ],
)
def test_a_header_that_is_there_twice_or_not_at_all_is_refused(server: Server, headers: tuple[str, ...]) -> None:
    assert ask(server, *headers) in {400, 403}


@pytest.mark.parametrize("target", ["http://evil.example/v1/facts", "//evil.example/v1/facts", "evil.example:80", "*"])
def test_a_target_that_names_a_host_reaches_nothing(server: Server, target: str) -> None:
    assert ask(server, "Host: localhost", target=target) in {400, 403, 404}


def test_headers_of_proxies_change_nothing(server: Server) -> None:
    forwarded = "X-Forwarded-Host: localhost", "X-Forwarded-For: 127.0.0.1", "Forwarded: host=localhost"

    assert ask(server, "Host: evil.example", *forwarded) == 403
