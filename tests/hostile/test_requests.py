"""Requests that are sent again, sent with nothing to do, or made up: each has an answer, and the others have theirs."""

import base64
from collections.abc import Iterator
from time import process_time
from typing import Any

import pytest

from asof.operations.times import in_instants, system
from asof_projections.model.queries import unknown
from http_server import Server, serving
from patience import wait_until

PAGES: dict[str, dict[str, str]] = {
    "facts": {},
    "entities": {},
    "episodes": {},
    "communities": {},
    "timeline": {"name": "Ana"},
    "history": {"id": "Ana"},
    "diff": {"from": "2020", "to": "2030"},
    "overlapping": {"from": "2020", "to": "2030"},
    "throughout": {"from": "2020", "to": "2030"},
    "groups": {},
}
KEYS = {"facts": 3, "overlapping": 3}  # parts of the key of an item, where there is more than one
PARTS = ["9" * 40, "-" + "9" * 40, str(2**63), "nan", "1e9", "٣", "", " 5 "]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("requests") / "data") as running:
        running.say("g", "I live in Oslo.")
        yield running


def retry(server: Server, key: str, **given: Any) -> tuple[int, Any]:
    answer = server.client.post("/v1/retry", json={"group_id": "g", **given}, headers={"Idempotency-Key": key})
    return answer.status_code, answer.json()


def state(server: Server, **fields: Any) -> int:
    answer = server.client.post("/v1/facts", json={"group_id": "g", "statements": [fields]})
    server.settled(position := answer.json()["positions"][0])
    return int(position)


def test_a_retry_of_nothing_under_a_key_is_answered(server: Server) -> None:
    assert server.client.get("/v1/parked?group_id=g").json() == {"messages": []}

    assert retry(server, "nothing") == (202, {"retries": []})
    assert retry(server, "nothing") == (202, {"retries": []})


def test_a_retry_that_is_sent_again_under_its_key_is_answered_alike(server: Server) -> None:
    position = state(server, op="retract", ref="later")
    state(server, subject="Ana", relation="likes", object="Tea", ref="later")
    status, first = retry(server, "again")
    assert (status, [one["position"] for one in first["retries"]]) == (202, [position])
    wait_until(lambda: server.client.get("/v1/parked?group_id=g").json() == {"messages": []})

    assert retry(server, "again") == (202, first)


def test_a_position_that_is_given_many_times_is_retried_once(server: Server) -> None:
    status, answer = retry(server, "many", positions=[0] * 1_000)

    assert (status, [one["position"] for one in answer["retries"]]) == (202, [0])


@pytest.mark.parametrize("what", ["a name", "a time"])
def test_no_request_keeps_the_others_waiting_with_one_long_word(what: str) -> None:
    long = "9" * 8_000_000

    def work() -> float:
        began = process_time()
        if what == "a name":
            assert unknown(long, ["group_id", "statements"]).field == "(a name)"
        else:
            assert in_instants({"valid_at": f"{long} weeks ago"}, system) == {"valid_at": f"{long} weeks ago"}
        return process_time() - began

    assert min(work() for _ in range(3)) < 0.3  # it took seconds


@pytest.mark.parametrize("path", PAGES)
def test_a_cursor_that_is_made_up_is_refused_or_leads_nowhere(server: Server, path: str) -> None:
    for valid in PARTS:
        for known in PARTS:
            cursor = base64.urlsafe_b64encode(f"{path.title()}\n{valid}\n{known}\n1".encode()).decode().rstrip("=")
            scope = {} if path == "groups" else {"group_id": "g"}
            answer = server.client.get(f"/v1/{path}", params={**scope, **PAGES[path], "cursor": cursor})
            assert answer.status_code in {200, 422}, (path, valid, known)
            assert "of another question" not in answer.text or KEYS.get(path, 1) > 1
