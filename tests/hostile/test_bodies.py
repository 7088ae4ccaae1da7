"""A body of many values is refused before it costs anything, whatever its route."""

from collections.abc import Iterator

import httpx2
import pytest

from asof.http.middleware.limits import MAX_BODY_VALUES
from http_server import Server, serving

_MANY = ",".join(f'"field{number}":1' for number in range(1_000_000))
BODIES = {
    "fields beside the messages": ("/messages", f'{{"group_id":"g","messages":[],{_MANY}}}'),
    "fields of a message": (
        "/messages",
        f'{{"group_id":"g","messages":[{{"content":"a","role_type":"user",{_MANY}}}]}}',
    ),
    "items that are no messages": ("/messages", f'{{"group_id":"g","messages":[{",".join("1" * 1_000_000)}]}}'),
    "fields of a search": ("/search", f'{{"query":"tea",{_MANY}}}'),
    "fields of one of our routes": ("/v1/facts", f"{{{_MANY}}}"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("bodies") / "data") as server:
        yield server


def post(server: Server, path: str, body: str) -> httpx2.Response:
    return server.client.post(path, content=body.encode(), headers={"content-type": "application/json"})


@pytest.mark.parametrize("what", BODIES)
def test_a_body_of_a_million_values_is_refused(what: str, server: Server) -> None:
    answer = post(server, *BODIES[what])

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
