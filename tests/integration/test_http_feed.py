"""The feed of events from a running server: what was there, what comes, and how it ends."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from api_keys import TEAM_READ, WRITE, sent, written
from asof.http.routes.feed import MOST
from asof_streams.sqlite_log import SqliteLog
from http_server import CERTIFICATES, Server, serving
from patience import SECONDS, wait_until

STREAM = "/v1/events/stream"
ALIVE_SECONDS = 15.0  # after which a connection is kept alive on which nothing came


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "data") as running:
        yield running


@contextmanager
def following(server: Server, last: str | None = None, **params: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """Follow a log; gives the events that come, each with the id and the name that it was sent with."""
    headers = {} if last is None else {"Last-Event-ID": last}
    asked = {name.rstrip("_"): value for name, value in {"log": "messages", **params}.items()}
    with (
        httpx2.Client(base_url=server.url, timeout=SECONDS, verify=CERTIFICATES) as client,
        client.stream("GET", STREAM, params=asked, headers=headers) as answer,
    ):
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield events(answer.iter_lines())


def events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    fields: dict[str, str] = {}
    for line in lines:
        if not line and fields:
            yield {**json.loads(fields["data"]), "sent": (fields["id"], fields["event"])}
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


def contents(found: Iterator[dict[str, Any]], count: int) -> list[str]:
    return [event["data"]["content"] for event in islice(found, count)]


def test_what_is_there_is_sent_and_then_what_comes(server: Server) -> None:
    server.say("g", "One.", "Two.")

    with following(server) as found:
        assert contents(found, 2) == ["One.", "Two."]
        server.say("g", "Three.")
        assert contents(found, 1) == ["Three."]
        server.say("g", "Four.")
        assert contents(found, 1) == ["Four."]


def test_an_event_comes_soon_after_it_is_taken(server: Server) -> None:
    server.say("g", "One.")
    with following(server, log="semantic") as found:
        first = next(found)
        seconds = []
        for place in ("Rome", "Oslo", "Bern", "Lima"):
            began = time.monotonic()
            server.say("g", f"I live in {place}.")
            while next(found)["type"] != "fact.asserted":
                pass
            seconds.append(time.monotonic() - began)

    assert first["generation"] == "main"
    assert min(seconds) < 5


def test_an_event_is_sent_as_its_page_has_it_with_its_position_as_id(server: Server) -> None:
    server.say("g", "I live in Rome.")

    for log in ("messages", "episodic", "semantic"):
        page = server.client.get("/v1/events", params={"log": log}).json()
        with following(server, log=log, to=page["next"]) as found:
            sent = list(found)
        assert [event.pop("sent") for event in sent] == [(str(e["position"]), e["type"]) for e in page["events"]]
        assert sent == page["events"]


def test_a_client_goes_on_after_the_last_event_that_it_took(server: Server) -> None:
    server.say("g", *(f"Number {n}." for n in range(120)))
    taken: list[str] = []
    last = None

    while len(taken) < 120:
        with following(server, last, to=120) as found:
            some = list(islice(found, 50))
        taken += [event["data"]["content"] for event in some]
        last = some[-1]["sent"][0]

    assert taken == [f"Number {n}." for n in range(120)]


def test_it_ends_before_the_position_that_is_asked_for(server: Server) -> None:
    server.say("g", *(f"Number {n}." for n in range(5)))

    with following(server, from_=1, to=4) as found:
        assert [event["position"] for event in found] == [1, 2, 3]
    with following(server, from_=4, to=2) as found:
        assert list(found) == []


def test_one_group_can_be_followed_alone(server: Server) -> None:
    for group in ("one", "two", "one"):
        server.say(group, f"Said in {group}.")

    with following(server, group_id="one", to=3) as found:
        assert [event["group_id"] for event in found] == ["one", "one"]


def test_erased_events_are_left_out(server: Server) -> None:
    server.say("gone", "I live in Rome.")
    server.say("stays", "I live in Lima.")
    server.client.delete("/group/gone")

    with following(server, to=3) as found:
        assert [event["type"] for event in found] == ["message.sent", "erasure.requested"]


def test_what_is_wrong_is_refused_before_anything_is_sent(server: Server) -> None:
    wrong: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({"log": "none"}, {}),
        ({"from": -1}, {}),
        ({"to": "x"}, {}),
        ({}, {"Last-Event-ID": "x"}),
        ({"group_id": "\x00"}, {}),
    ]
    for params, headers in wrong:
        answer = server.client.get(STREAM, params=params, headers=headers)

        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_feeds_end_when_the_service_is_stopped(server: Server) -> None:
    server.say("g", "One.")
    with ThreadPoolExecutor(4) as clients:
        begun: list[str] = []

        def follow() -> list[str]:
            with following(server) as found:
                begun.extend(contents(found, 1))
                return [event["data"]["content"] for event in found]

        feeds = [clients.submit(follow) for _ in range(4)]
        wait_until(lambda: len(begun) == 4)

        code = server.end(signal.SIGTERM)

        assert [feed.result() for feed in feeds] == [[]] * 4
    assert code == 0


def test_a_client_that_does_not_read_costs_the_server_no_memory_and_delays_nobody(server: Server) -> None:
    said = [{"content": "x" * 100_000, "role_type": "user"} for _ in range(100)]
    for _ in range(3):
        server.client.post("/messages", json={"group_id": "g", "messages": said})
    wait_until(lambda: end(server) == 300)
    before = resident(server)
    address = urlsplit(server.url)
    assert address.hostname is not None
    assert address.port is not None
    silent = []
    for _ in range(5):
        client = socket.create_connection((address.hostname, address.port))
        client.sendall(f"GET {STREAM}?log=messages HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        silent.append(client)
    time.sleep(2)

    grown = resident(server) - before
    assert server.client.get("/healthcheck").status_code == 200

    assert grown < 150_000  # KiB; the log has 30 MB, which five readers of the whole would hold five times or more
    for client in silent:
        client.close()


def test_a_client_that_does_not_read_does_not_keep_the_server_from_ending(server: Server) -> None:
    said = [{"content": "x" * 100_000, "role_type": "user"} for _ in range(100)]
    server.client.post("/messages", json={"group_id": "g", "messages": said})
    wait_until(lambda: end(server) == 100)
    address = urlsplit(server.url)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect((address.hostname, address.port))
        client.sendall(f"GET {STREAM}?log=messages HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_until(lambda: len(client.recv(1_024, socket.MSG_PEEK)) == 1_024)

        assert server.end(signal.SIGTERM) == 0


def test_so_many_can_be_followed_at_once_and_another_when_one_ends(server: Server) -> None:
    address = server.url.removeprefix("http://").split(":")

    def connect() -> socket.socket:
        client = socket.create_connection((address[0], int(address[1])))
        client.sendall(f"GET {STREAM}?log=messages HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert client.recv(15).startswith(b"HTTP/1.1 200 OK"[:15])
        return client

    server.say("g", "One.")
    feeds = [connect() for _ in range(MOST)]

    refused = server.client.get(STREAM, params={"log": "messages"})
    feeds.pop().close()

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    wait_until(lambda: server.client.get(STREAM, params={"log": "messages", "to": 1}).status_code == 200)
    for client in feeds:
        client.close()


def test_a_comment_keeps_a_connection_alive_on_which_nothing_comes(server: Server) -> None:
    with server.client.stream("GET", STREAM, params={"log": "messages"}) as answer:
        assert next(answer.iter_lines()).startswith(":")  # after ALIVE_SECONDS


def test_a_key_of_some_groups_follows_those_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(written(tmp_path / "keys.toml"))) as server:
        for group in ("team-a", "others", "team-b"):
            said = [{"content": f"Said in {group}.", "role_type": "user"}]
            server.client.post("/messages", json={"group_id": group, "messages": said}, headers=sent(WRITE))

        params = {"log": "messages", "to": 3, "min_position": 2}
        with server.client.stream("GET", STREAM, params=params, headers=sent(TEAM_READ)) as answer:
            groups = [event["group_id"] for event in events(answer.iter_lines())]

        assert groups == ["team-a", "team-b"]


def test_a_page_of_long_events_ends_early_and_the_next_goes_on_with_the_next(server: Server) -> None:
    said = [{"content": f"{number}" * 200_000, "role_type": "user"} for number in range(10, 35)]
    for number in range(25):
        server.client.post("/messages", json={"group_id": "g", "messages": said[number : number + 1]})
    wait_until(lambda: end(server) == 25)
    found, after, pages = [], 0, 0
    while pages == 0 or after < 25:
        page = server.client.get("/v1/events", params={"log": "messages", "from": after}).json()
        found += [event["data"]["content"][:2] for event in page["events"]]
        after, pages = page["next"], pages + 1

    assert found == [str(number) for number in range(10, 35)]
    assert pages > 1


def end(server: Server) -> int:
    with SqliteLog(server.data / "messages.sqlite") as log:
        return log.end()


def resident(server: Server) -> int:
    """Return how much memory the server has, in KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
