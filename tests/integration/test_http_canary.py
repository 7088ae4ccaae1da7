"""What is sent is for the memory alone: a string put everywhere a request has room shows in no log, error or metric.

Every route of the API's description is tried, so a new one is too. An id that is asked for is no content: the answer to
an unknown one names it, as Graphiti's does.
"""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from api_keys import ADMIN, sent, written
from http_server import Server, serving

CANARY = "Canarywood"
LOUD = "import logging; logging.basicConfig(level=10); logging.getLogger('asof').setLevel(1)\n"
LOUD += "logging.Logger.setLevel = lambda *_: None\n"  # and so it stays
JSON = {"Content-Type": "application/json"}
SAID = f"I am {CANARY}, I moved to {CANARY} in March and work at {CANARY} Ltd."
MESSAGE = {
    "content": SAID,
    "role_type": "user",
    "role": CANARY,
    "name": CANARY,
    "source_description": CANARY,
    "entity_types": {CANARY: CANARY},
    "relation_types": {CANARY.lower(): CANARY},
}
BODIES: list[Any] = [
    {"group_id": CANARY, "messages": [MESSAGE, {**MESSAGE, "uuid": "an-episode-that-is-not-there"}]},
    {"group_id": f"not\ta group: {CANARY}", "messages": [MESSAGE]},
    {"group_id": CANARY, "messages": [{**MESSAGE, "role_type": CANARY}]},
    {"group_id": CANARY, "messages": [{**MESSAGE, "timestamp": CANARY}]},
    {"group_id": CANARY, "messages": [{**MESSAGE, "excluded_entity_types": {CANARY: CANARY}}]},
    {"group_id": CANARY, "messages": [{**MESSAGE, "entity_types": {CANARY: [CANARY], f"{CANARY} {CANARY}": CANARY}}]},
    {"group_id": CANARY, "messages": [{**MESSAGE, "relation_type_map": [{"source": CANARY, CANARY: CANARY}]}]},
    {"group_id": CANARY, "messages": [MESSAGE], "schema_id": CANARY},
    {"group_id": CANARY, "center_node_uuid": None, "messages": [MESSAGE]},
    {"group_id": CANARY, "uuid": "an-entity", "name": CANARY, "summary": CANARY},
    {"query": CANARY, "group_ids": [CANARY]},
    {"query": f'"{CANARY}" AND ({CANARY}', "group_ids": [f"not\ta group: {CANARY}"]},
    {"scope": "user", "key": CANARY},
    {"scope": CANARY, "key": CANARY},
    {"group_id": CANARY, "statements": [{"subject": CANARY, "relation": CANARY.lower(), "object": CANARY}]},
    {"group_id": CANARY, "statements": [{"subject": CANARY, "object": CANARY, "valid_at": CANARY}]},
    {
        "group_id": CANARY,
        "kind": "message",
        "external_id": CANARY,
        "author_id": CANARY,
        "role": CANARY,
        "content": SAID,
    },
    {"group_id": CANARY, "kind": "edit", "external_id": CANARY, "content": SAID, "timestamp": CANARY},
    {"group_id": CANARY, "id": CANARY, "external_id": CANARY},
    {CANARY: CANARY},
    [CANARY],
    CANARY,
]
GOOD = dict.fromkeys(("group_id", "name", "query", "about", "id"), CANARY) | {"last_n": "3"}
RAW = [f'{{"{CANARY}": '.encode(), f"{CANARY}=1".encode(), CANARY.encode("utf-16"), b"\xff" + CANARY.encode()]

ECHOED = {  # ids, which a refusal repeats
    *((f"/v1/{path}", "id") for path in ("why", "fact", "known-history", "episode")),
    ("/v1/events", "generation"),
    ("/v1/generations/digest", "name"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose loggers, in each of its processes, all say what they can say."""
    folder = tmp_path_factory.mktemp("http")
    (folder / "sitecustomize.py").write_text(LOUD)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    keys = str(written(folder / "keys.toml"))
    with serving(folder / "data", fresh=True, ASOF_KEYS_FILE=keys, PYTHONPATH=path) as running:
        running.client.headers.update(sent(ADMIN))
        yield running


def requests(server: Server) -> Iterator[dict[str, Any]]:
    """Yield requests of every route: with every body, and with the canary as each parameter in turn, and as all."""
    described = server.client.get("/openapi.json").json()["paths"]
    for path, methods in sorted(described.items()):
        for method, about in methods.items():
            given = {"method": method.upper(), "url": path.replace("{group_id}", CANARY)}
            parameters = [p["name"] for p in about.get("parameters", []) if p["in"] == "query"]
            parameters = [name for name in parameters if (path, name) not in ECHOED]
            ends = {"to": "0"} if path.endswith("/stream") else {}
            queries = [{name: CANARY} | ends for name in parameters]
            queries += [dict.fromkeys(parameters, CANARY), {"group_id": f"not\ta group: {CANARY}"} | ends, ends]
            queries.append({name: GOOD[name] for name in parameters if name in GOOD} | ends)
            yield from ({**given, "params": query} for query in queries)
            yield {**given, "headers": {"Last-Event-ID": CANARY, "Idempotency-Key": CANARY}, "params": ends}
            if "requestBody" in about:
                yield from ({**given, "json": body} for body in BODIES)
                yield from ({**given, "content": raw, "headers": JSON} for raw in RAW)
                yield {**given, "content": CANARY.encode(), "headers": {"Content-Type": f"text/{CANARY}"}}
    yield {"method": "GET", "url": f"/{CANARY}"}
    yield {"method": CANARY.upper(), "url": "/messages"}
    yield {"method": "POST", "url": f"/v1/{CANARY}"}
    yield {"method": "GET", "url": "/v1/facts", "headers": sent(f"{CANARY}-0123456789")}
    yield {"method": "GET", "url": "/v1/facts", "headers": {"Authorization": f"Basic {CANARY}"}}


def raw(server: Server, sent_first: str) -> str:
    """Send what no client would, and return all that is answered."""
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{sent_first}\r\n\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").read().decode("utf-8", "replace")


def shown(text: str) -> bool:
    return CANARY.lower() in text.lower()


def test_what_is_sent_shows_in_no_log_no_error_and_no_metric(server: Server) -> None:
    statuses = set()
    erasing = []
    for request in requests(server):
        if request["method"] == "DELETE" or request["url"] == "/clear":
            erasing.append(request)
            continue
        answer = server.client.request(**request)
        statuses.add(answer.status_code)
        assert answer.status_code < 400 or not shown(answer.text), request
        assert answer.status_code != 500, request
    server.say(CANARY, SAID, role=CANARY)
    for request in erasing:
        answer = server.client.request(**request)
        assert answer.status_code < 400 or not shown(answer.text), request

    for line in (
        CANARY,
        f"GET /{CANARY} HTTP/9.9",
        f"GET / HTTP/1.1\r\n{CANARY} {CANARY}",
        f"GET \x00{CANARY} HTTP/1.1",
    ):
        refused = raw(server, line)
        assert refused.startswith("HTTP/1.1 40")
        assert not shown(refused)

    metrics = server.client.get("/metrics").text
    assert "asof_messages " in metrics
    assert not shown(metrics)
    assert statuses >= {200, 202, 401, 404, 405, 422}
    assert "DEBUG" in server.log
    assert "INFO:asof.service.worker_process:message 0 picked up" in server.log
    assert not [line for line in server.log.splitlines() if shown(line)]
