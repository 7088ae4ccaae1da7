"""The routes by which any platform talks with a memory: what it tells, what it is to do, and what it has done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api_keys import READ, TEAM_WRITE, WRITE, sent, written
from http_server import Server, serving

AT = "2025-01-15T10:30:0{}Z"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(written(tmp_path / "keys.toml"))) as running:
        running.client.headers.update(sent(WRITE))
        yield running


def told(server: Server, external_id: str, content: str, kind: str = "message", **more: Any) -> list[dict[str, Any]]:
    """Tell what was said, and return what is to be done."""
    who = {"author_id": "4", "role": "Ana", "group_id": "team-a", "timestamp": AT.format(len(external_id))}
    body = {**who, "kind": kind, "external_id": external_id, "content": content, **more}
    answer = server.client.post("/v1/conversation/incoming", json=body)
    assert answer.status_code == 200, answer.text
    outgoing: list[dict[str, Any]] = answer.json()["outgoing"]
    return outgoing


def noted(server: Server, outgoing: dict[str, Any], external_id: str, group: str = "team-a") -> bool:
    """Tell that an answer was sent, and return whether it is a turn."""
    body = {"group_id": group, "id": outgoing["id"], "external_id": external_id, "timestamp": AT.format(9)}
    answer = server.client.post("/v1/conversation/sent", json=body)
    assert answer.status_code == 200, answer.text
    return bool(answer.json()["turn"])


def turns(server: Server, group: str = "team-a") -> list[str]:
    """Return what was said in a group, once all of it is processed."""
    last = server.client.post(
        "/messages", json={"group_id": "last", "messages": [{"content": ".", "role_type": "user"}]}
    )
    server.settled(int(last.headers["asof-position"]))
    page = server.client.get("/v1/episodes", params={"group_id": group}).json()
    return [episode["content"] for episode in page["episodes"]]


def test_a_message_is_answered_once_and_the_answer_is_a_turn_once_it_was_sent(server: Server) -> None:
    [answer] = told(server, "m1", "I live in Rome.")

    assert (answer["action"], answer["to"], answer["group_id"]) == ("reply", "m1", "team-a")
    assert told(server, "m1", "I live in Rome.") == []
    assert turns(server) == ["I live in Rome."]
    assert noted(server, answer, "b1")
    assert not noted(server, answer, "b1")
    assert turns(server) == ["I live in Rome.", answer["content"]]


def test_a_platform_is_told_to_put_reactions_on_messages_and_take_them_off(server: Server) -> None:
    [answer] = told(server, "m1", "I live in Rome.")
    noted(server, answer, "b1")

    [salute] = told(server, "m2", "Shorter, please.", reply_to="b1")
    assert (salute["action"], salute["content"], salute["to"]) == ("react", "🫡", "m2")
    undone = told(server, "r1", "🗑️", "reaction", reply_to="m2")
    assert [(one["action"], one["content"], one["to"]) for one in undone] == [
        ("unreact", "🫡", "m2"),
        ("unreact", "🗑️", "m2"),
    ]


def test_edits_and_deletions_change_what_was_said_and_of_unknown_messages_nothing_is_kept(server: Server) -> None:
    told(server, "m1", "I live in Rome.")
    told(server, "m2", "I work at Acme.")

    assert told(server, "m1", "I live in Oslo.", "edit") == []
    assert told(server, "m2", "", "deletion", author_id=None, role="") == []
    assert told(server, "m9", "I live in Bern.", "edit") == []
    assert told(server, "m9", "", "deletion") == []

    assert turns(server) == ["I live in Oslo."]
    assert not any(server.client.get("/v1/parked", params={"group_id": "team-a"}).json().values())


def test_check_ins_are_asked_for_and_none_is_due_before_one_was_scheduled(server: Server) -> None:
    told(server, "m1", "I live in Rome.")

    answer = server.client.post("/v1/conversation/due", json={"group_id": "team-a"})

    assert answer.json() == {"outgoing": []}


def test_a_key_talks_for_its_own_groups_alone_and_needs_the_permission_to_write(server: Server) -> None:
    [answer] = told(server, "m1", "I live in Rome.", group_id="other")
    bodies = {
        "incoming": {"group_id": "other", "kind": "message", "external_id": "m2", "content": "Hi."},
        "sent": {"group_id": "other", "id": answer["id"], "external_id": "b1"},
        "due": {"group_id": "other"},
    }
    for route, body in bodies.items():
        for key in (READ, TEAM_WRITE):
            refused = server.client.post(f"/v1/conversation/{route}", json=body, headers=sent(key))
            assert refused.status_code == 403, (route, key)

    server.client.headers.update(sent(TEAM_WRITE))
    assert not noted(server, answer, "b1", group="team-a")  # it is an answer of another group
    server.client.headers.update(sent(WRITE))
    assert turns(server, "other") == ["I live in Rome."]
    assert noted(server, answer, "b1", group="other")


def test_a_memory_with_which_nobody_talks_gets_no_conversation_log(server: Server) -> None:
    turns(server)
    assert not (server.data / "conversation.sqlite").exists()

    told(server, "m1", "I live in Rome.")
    assert (server.data / "conversation.sqlite").exists()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kind": "poke"}, "kind"),
        ({"external_id": ""}, "external_id"),
        ({"timestamp": "yesterday, or so"}, "timestamp"),
        ({"kind": "reaction", "content": "🗑️"}, "reply_to"),
        ({"contents": "Hi."}, "contents"),
    ],
)
def test_a_wrong_field_is_refused_by_its_name(server: Server, wrong: dict[str, str], field: str) -> None:
    body = {"group_id": "team-a", "kind": "message", "external_id": "m1", "content": "Hi.", **wrong}

    refused = server.client.post("/v1/conversation/incoming", json=body)

    assert refused.status_code == 422
    assert field in refused.text


@pytest.mark.parametrize("route", ["incoming", "sent", "due"])
def test_whose_memory_it_is_has_to_be_said(server: Server, route: str) -> None:
    told = {"incoming": {"kind": "message", "content": "Hi."}, "sent": {"id": "r1"}, "due": {}}[route]
    body = told if route == "due" else {**told, "external_id": "m1"}

    refused = server.client.post(f"/v1/conversation/{route}", json=body)

    assert (refused.status_code, refused.json()["field"]) == (422, "group_id")
    assert turns(server, "default") == []
