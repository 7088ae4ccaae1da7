"""The routes under /v1 against a running server: the answers of the command line, as of a moment on two clocks."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from asof_process import run
from http_server import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that was told that Ana moved from Lisbon to Berlin, and Ben lives in Leeds."""
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        running.say("g", "I live in Lisbon.", timestamp="2019-01-01T00:00:00Z")
        running.say("g", "I moved to Berlin.", timestamp="2023-05-01T00:00:00Z")
        running.say("g", "I live in Leeds.", role="Ben", timestamp="2020-06-01T00:00:00Z")
        running.say("other", "I live in Lima.", timestamp="2020-06-01T00:00:00Z")
        running.say("kin", "My sister Eva works at SAP.", role="Zoe", update_communities=True)
        yield running


def get(server: Server, path: str, **parameters: Any) -> Any:
    answer = server.client.get(f"/v1/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def on_the_command_line(server: Server, *arguments: str) -> Any:
    environment = {**os.environ, "ASOF_EMBEDDER": "hash"}  # as the server's
    ended = run(*arguments, "--data", str(server.data), "--json", environment=environment)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def berlin(server: Server) -> str:
    [fact] = get(server, "facts", group_id="g", object="Berlin")["facts"]
    return str(fact["uuid"])


@pytest.mark.parametrize(
    ("path", "parameters", "part", "command"),
    [
        ("facts", {"group_id": "g"}, "facts", ["facts", "--group", "g"]),
        ("facts", {"about": "Ana", "valid_at": "2020"}, "facts", ["facts", "--about", "Ana", "--valid-at", "2020"]),
        ("facts", {"about": "Ana", "any_time": True}, "facts", ["facts", "--about", "Ana", "--any-time"]),
        ("facts", {"known_at": "2020"}, "facts", ["facts", "--known-at", "2020"]),
        ("search", {"query": "Leeds", "group_id": "g"}, "facts", ["search", "Leeds", "--group", "g"]),
        ("search", {"query": "Ana", "valid_at": "2020"}, "facts", ["search", "Ana", "--valid-at", "2020"]),
        ("entities", {}, "entities", ["entities"]),
        ("entities", {"like": "Berlinn", "limit": 3}, "entities", ["entities", "--like", "Berlinn", "--limit", "3"]),
        ("entity", {"name": "Ana", "group_id": "g"}, "entities", ["entity", "Ana", "--group", "g"]),
        ("communities", {"group_id": "kin"}, "communities", ["communities", "--group", "kin"]),
        ("history", {"id": "Ana", "group_id": "g"}, "versions", ["history", "Ana", "--group", "g"]),
        (
            "timeline",
            {"name": "Ana", "relation": "lives_in"},
            "segments",
            ["timeline", "Ana", "--relation", "lives_in"],
        ),
        ("diff", {"from": "2020", "to": "2024"}, "changes", ["diff", "--from", "2020", "--to", "2024"]),
        ("diff", {"from": "2024,2020", "to": "2024"}, "changes", ["diff", "--from", "2024,2020", "--to", "2024"]),
        ("changes", {"since": 0}, "changes", ["changes", "--since", "0"]),
    ],
)
def test_a_question_is_answered_as_on_the_command_line(
    server: Server, path: str, parameters: dict[str, Any], part: str, command: list[str]
) -> None:
    told = on_the_command_line(server, *command)

    answer = get(server, path, **parameters)[part]

    assert answer == (told[part] if isinstance(told, dict) else told)
    assert answer or parameters.get("known_at")


def test_why_names_the_words_that_a_fact_rests_on(server: Server) -> None:
    uuid = berlin(server)

    assert get(server, "why", id=uuid) == on_the_command_line(server, "why", uuid)


def test_a_moment_on_each_clock_is_asked_for_apart(server: Server) -> None:
    def where(**moment: str) -> list[str]:
        return [fact["object"] for fact in get(server, "facts", group_id="g", about="Ana", **moment)["facts"]]

    [now] = get(server, "facts", group_id="g", object="Berlin")["facts"]

    assert where() == ["Berlin"]
    assert where(valid_at="2020-01-01") == ["Lisbon"]
    assert where(known_at=now["created_at"]) == ["Berlin"]
    assert where(known_at="2020") == []


def test_long_lists_come_page_by_page(server: Server) -> None:
    whole = get(server, "entities")["entities"]
    found, cursor = [], {}
    for _ in whole:
        page = get(server, "entities", limit=1, **cursor)
        found += page["entities"]
        cursor = {"cursor": page["next"]}

    assert found == whole
    assert cursor == {"cursor": None}
    assert len(get(server, "facts", limit=2)["facts"]) == 2


def test_the_events_of_a_log_come_page_by_page(server: Server) -> None:
    lines = run("events", "--log", "episodic", "--data", str(server.data)).stdout.splitlines()
    found, start = [], 0
    while page := get(server, "events", log="episodic", limit=3, **{"from": start})["events"]:
        found += page
        start += 3

    assert found == [json.loads(line) for line in lines]
    assert get(server, "events", **{"from": 10**9}) == {"events": [], "next": 10**9}


def test_an_answer_can_be_made_to_wait_for_what_one_wrote(server: Server) -> None:
    for n in range(20):
        said = {"content": f"I live in Town{n}.", "role_type": "user", "role": f"P{n}"}
        answer = server.client.post("/messages", json={"group_id": "waits", "messages": [said]})
        position = answer.headers["asof-position"]

        [fact] = get(server, "facts", group_id="waits", about=f"P{n}", min_position=position)["facts"]
        assert fact["object"] == f"Town{n}"


def test_a_message_is_done_with_what_it_changed(server: Server) -> None:
    answer = server.say("done", "I live in Rome.", timestamp="2024-01-01T00:00:00Z")

    done = get(server, f"messages/{answer.headers['asof-position']}")

    assert (done["state"], done["group_id"], done["mentions"]) == ("done", "done", 2)
    assert done["episode_id"] == answer.headers["asof-episode-id"]
    assert [(change["change"], change["fact"]["object"]) for change in done["changes"]] == [("opened", "Rome")]


def test_a_message_is_parked_with_the_reason(server: Server) -> None:
    for group, uuid, reason in [("no group!", None, "group_id: "), ("parked", "nobody", "uuid: no episode of")]:
        position = server.say(group, "Hello.", uuid=uuid).headers["asof-position"]

        found = get(server, f"messages/{position}")

        assert found["state"] == "parked"
        assert found["reason"].startswith(reason)


def test_a_message_is_queued_until_it_is_processed(server: Server) -> None:
    said = [{"content": f"I moved to Town{n}.", "role_type": "user", "role": "Ana"} for n in range(500)]
    first = int(server.client.post("/messages", json={"group_id": "long", "messages": said}).headers["asof-position"])
    last = first + len(said) - 1

    queued = get(server, f"messages/{last}")
    done = get(server, f"messages/{last}", min_position=last)

    assert (queued["position"], queued["state"]) == (last, "queued")
    assert 0 < queued["ahead"] < 500
    assert done["state"] == "done"


def test_a_message_of_an_erased_group_says_so(server: Server) -> None:
    position = server.say("erased", "I live in Rome.").headers["asof-position"]

    server.client.delete("/group/erased")

    assert get(server, f"messages/{position}") == {"position": int(position), "state": "erased"}


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("facts?valid_at=soon", 422, "valid_at: "),
        ("facts?group_id=no%20group", 422, "group_id: "),
        ("facts?limit=0", 422, "limit: "),
        ("facts?cursor=x", 422, "cursor: "),
        ("facts?min_position=-1", 422, "min_position: "),
        ("search", 422, "query: "),
        ("diff?from=2024&to=soon", 422, "to: "),
        ("events?log=none", 422, "log: "),
        ("entity?name=Nobody", 404, "no entity"),
        ("history?id=nobody", 404, "no fact"),
        ("why?id=nobody", 404, "no fact"),
        ("messages/1000000", 404, "no message"),
        ("messages/-1", 404, "no message"),
        ("messages/x", 422, "position: "),
        ("nothing", 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_told_as_a_problem(server: Server, path: str, status: int, word: str) -> None:
    answer = server.client.get(f"/v1/{path}")

    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert word in problem["detail"]
    assert problem.keys() - {"field"} == {"type", "title", "status", "detail"}
    assert problem.get("field") == (word.removesuffix(": ") if status == 422 else None)


@pytest.mark.parametrize(
    "group",
    [
        "user-f8215d6c-cd87-5967-abd7-4f653da7214c",
        "workspace-73605082-906d-572e-9e1f-556787d7f7bb",
        "session-83e87db2-94ea-5d19-a339-fc7dc8521b77",
    ],
)
def test_a_scope_and_a_key_have_one_group_id_for_ever(server: Server, group: str) -> None:
    body = {"scope": group.partition("-")[0], "key": "github_login:octocat"}

    assert server.client.post("/groups/resolve", json=body).json() == {"group_id": group}
    assert server.say(group, "Hello.").status_code == 202


def test_the_case_of_a_github_login_and_spaces_around_a_key_make_no_difference(server: Server) -> None:
    def resolved(key: str, scope: str = "user") -> str:
        return str(server.client.post("/groups/resolve", json={"scope": scope, "key": key}).json()["group_id"])

    assert resolved(" GitHub_Login:OctoCat ") == resolved("github_login:octocat")
    assert len({resolved(key) for key in ("octocat", "OctoCat", "github_login:octocat")}) == 3
    assert resolved("octocat", "session") != resolved("octocat")


@pytest.mark.parametrize("body", [{}, {"scope": "team", "key": "k"}, {"scope": "user", "key": " "}, {"scope": "user"}])
def test_a_scope_or_key_that_is_none_is_refused(server: Server, body: object) -> None:
    assert server.client.post("/groups/resolve", json=body).status_code == 422
