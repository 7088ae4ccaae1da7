"""A body of many values is refused before it costs anything, whatever its route."""

from collections.abc import Iterator
from functools import cache

import httpx2
import pytest

from asof.http.middleware.limits import MAX_BODY_VALUES
from http_server import Server, serving

BODIES = {
    "fields beside the messages": ("/messages", '{"group_id":"g","messages":[],FIELDS}'),
    "fields of a message": ("/messages", '{"group_id":"g","messages":[{"content":"a","role_type":"user",FIELDS}]}'),
    "items that are no messages": ("/messages", '{"group_id":"g","messages":[ITEMS]}'),
    "fields of a search": ("/search", '{"query":"tea",FIELDS}'),
    "fields of one of our routes": ("/v1/facts", "{FIELDS}"),
}


@cache
def many(what: str) -> str:
    """Return a million fields, or a million items."""
    return ",".join(f'"field{number}":1' if what == "FIELDS" else "1" for number in range(1_000_000))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("bodies") / "data") as server:
        yield server


def post(server: Server, path: str, body: str) -> httpx2.Response:
    return server.client.post(path, content=body.encode(), headers={"content-type": "application/json"})


@pytest.mark.parametrize("what", BODIES)
def test_a_body_of_a_million_values_is_refused(what: str, server: Server) -> None:
    path, body = BODIES[what]
    for values in ("FIELDS", "ITEMS"):
        body = body.replace(values, many(values)) if values in body else body
    answer = post(server, path, body)

    assert answer.status_code == 413
    assert f"{MAX_BODY_VALUES} fields and items" in answer.json()["detail"]


def test_commas_and_quotes_in_a_content_are_no_values(server: Server) -> None:
    content = ',\\"' * (MAX_BODY_VALUES // 2) + ",\\\\"

    server.say("commas", content.encode().decode("unicode_escape"))


def test_a_string_that_never_ends_is_refused(server: Server) -> None:
    answer = post(server, "/messages", '{"a":"' + ',\\"' * 1_000_000)

    assert answer.status_code == 422


def test_wrong_items_are_answered_by_the_first(server: Server) -> None:
    answer = post(server, "/messages", f'{{"group_id":"g","messages":[{",".join("1" * 100_000)}]}}')

    assert answer.status_code == 422
    assert len(answer.content) < 10_000
