"""POST /messages against a running server: the door, the queue and the worker, as docs/conformance.md lists them."""

import json
import os
import re
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2
import pytest

import asof
import embedding_server
from asking import records
from asof.runtime.layout import DirectoryLayout
from asof_streams.episodic import EpisodeRecorded, MessageParked
from asof_streams.errors import WriterBusy
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock
from effort import tries
from http_server import Server, serving
from patience import wait_until

LEFT = tries(1_500, nightly=5_000)  # messages that wait for a worker: it needs seconds for them on the fastest machine
SAID: dict[str, Any] = {"content": "I live in Paris.", "role_type": "user", "role": "Ana"}


def post(server: Server, group: str, *messages: dict[str, Any]) -> httpx2.Response:
    return server.client.post("/messages", json={"group_id": group, "messages": messages})


def count(server: Server) -> int:
    """Return where the messages log ends: what was erased has its place there too."""
    with SqliteLog(DirectoryLayout(server.data).messages) as log:
        return log.end()


def parked(server: Server) -> dict[int, str]:
    with asof.open(server.data) as memory:
        return {r.cause: r.event.reason for r in records(memory, "episodic") if isinstance(r.event, MessageParked)}


def caused(server: Server, position: int) -> list[str]:
    """Return the types of the events that a message led to, in both layers."""
    with asof.open(server.data) as memory:
        return [
            r.event.type for layer in ("episodic", "semantic") for r in records(memory, layer) if r.cause == position
        ]


def test_each_message_of_a_request_becomes_an_episode_of_its_own_in_the_order_given(server: Server) -> None:
    answer = server.say("many", *(f"Turn {n}." for n in range(7)), timestamp="2024-05-01T00:00:00Z")

    assert answer.json() == {"message": "Messages added to processing queue", "success": True}
    assert [e["content"] for e in server.episodes("many")] == [f"Ana(user): Turn {n}." for n in range(7)]


def test_the_headers_name_where_the_first_message_is_and_the_episode_that_it_becomes(server: Server) -> None:
    before = count(server)

    answer = server.say("headers", "One.", "Two.")

    assert answer.headers["asof-position"] == str(before)
    assert server.episodes("headers")[0]["uuid"] == answer.headers["asof-episode-id"]


def test_messages_are_on_the_log_when_they_are_acknowledged(server: Server) -> None:
    before = count(server)

    position = int(post(server, "acknowledged", SAID, SAID).headers["asof-position"])

    assert (position, count(server)) == (before, before + 2)


def test_messages_of_many_clients_are_processed_one_at_a_time_in_the_order_of_the_log(server: Server) -> None:
    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda n: post(server, f"g{n % 3}", {**SAID, "content": f"n{n}"}), range(40)))

    positions = sorted(int(answer.headers["asof-position"]) for answer in answers)
    server.settled(positions[-1])
    picked, done = (
        [int(n) for n in re.findall(rf"message (\d+) {what}", server.log)] for what in ("picked up", "done")
    )
    assert positions == list(range(positions[0], positions[0] + 40))
    assert picked == sorted(picked) == done


def test_the_log_says_how_many_wait_at_each_pick_up_and_how_long_each_took_and_never_what_was_said(
    server: Server,
) -> None:
    first = int(server.say("canary", *["The canary sings."] * 3, role="Canaria").headers["asof-position"])

    for position in range(first, first + 3):
        assert f"message {position} picked up, {first + 2 - position} wait behind it" in server.log
        assert f"message {position} done in " in server.log
    assert " ms: " in server.log
    assert "canar" not in server.log.lower()


@pytest.mark.parametrize(
    ("body", "kind", "where"),
    [
        ({"messages": [SAID]}, "missing", ["body", "group_id"]),
        ({"group_id": "bad"}, "missing", ["body", "messages"]),
        (
            {"group_id": "bad", "messages": [{**SAID, "role_type": "bot"}]},
            "literal_error",
            ["messages", 0, "role_type"],
        ),
        ({"group_id": "bad", "messages": [SAID, {"role_type": "user"}]}, "missing", ["messages", 1, "content"]),
        ({"group_id": "bad", "messages": [{**SAID, "name": None}]}, "string_type", ["messages", 0, "name"]),
        ({"group_id": "bad", "messages": [{**SAID, "timestamp": None}]}, "datetime_type", ["messages", 0, "timestamp"]),
        ({"group_id": "bad", "messages": [{**SAID, "timestamp": "soon"}]}, "datetime_from_date_parsing", ["timestamp"]),
        (
            {"group_id": "bad", "messages": [{**SAID, "timestamp": "0001-01-01T00:00:00+09:00"}]},
            "value_error",
            ["messages", 0, "timestamp"],
        ),
        ({"group_id": "bad", "messages": [{**SAID, "role": "r" * 1_001}]}, "value_error", ["messages", 0, "role"]),
        ({"group_id": "bad", "messages": [{**SAID, "content": "é" * 300_000}]}, "value_error", ["content"]),
        ({"group_id": "bad", "messages": [SAID], "schema_id": "unheard"}, "value_error", ["body", "schema_id"]),
        ("no object", "model_attributes_type", ["body"]),
    ],
)
def test_a_body_that_is_wrong_is_refused_whole_with_the_field(
    server: Server, body: object, kind: str, where: list[object]
) -> None:
    before = count(server)

    answer = server.client.post("/messages", json=body)

    assert answer.status_code == 422
    [error] = answer.json()["detail"]
    assert error["type"] == kind
    assert error["loc"][-len(where) :] == where
    assert count(server) == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"", 422),
        (b"\xff", 400),
        (b"[" * 100_000, 400),
        (b'{"group_id": "g", "messages": [{"content": NaN, "role_type": "user"}]}', 422),
        (b'{"group_id": "g", "messages": [{"content": "\\ud800", "role_type": "user"}]}', 422),
        (b'{"group_id": "\\ud800", "messages": "\\ud800"}', 422),
        (b'{"group_id": "g", "messages": ' + b"1" * 5_000 + b"}", 400),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_and_is_no_error_of_the_server(
    server: Server, body: bytes, status: int
) -> None:
    before = count(server)

    answer = server.client.post("/messages", content=body, headers={"content-type": "application/json"})

    assert answer.status_code == status
    assert "detail" in answer.json()
    assert count(server) == before


def test_a_body_beyond_the_limit_is_refused(server: Server) -> None:
    answer = server.client.post("/messages", json={"group_id": "g", "messages": [], "more": "x" * 17_000_000})

    assert answer.status_code == 413


def test_an_unknown_schema_id_is_refused_with_those_that_there_are(server: Server) -> None:
    answer = server.client.post("/messages", json={"group_id": "g", "messages": [SAID], "schema_id": "unheard"})

    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"] == "there is no such ontology; known are agent_memory_v1, default"
    for known in ("default", "agent_memory_v1", None):
        body = {"group_id": "g", "messages": [], "schema_id": known}
        assert server.client.post("/messages", json=body).status_code == 202


def test_no_messages_are_accepted_and_nothing_is_put_on_the_log(server: Server) -> None:
    before = count(server)

    answer = post(server, "nothing")

    assert (answer.status_code, answer.json()["success"]) == (202, True)
    assert "asof-position" not in answer.headers
    assert count(server) == before


def test_what_graphiti_would_not_look_at_is_not_looked_at(server: Server) -> None:
    answer = post(server, "unknown", {**SAID, "mood": "good"})

    assert answer.status_code == 202


def test_without_a_timestamp_it_was_said_when_the_request_was_read(server: Server) -> None:
    before = datetime.now(UTC)
    server.say("now", "Hello.")

    [episode] = server.episodes("now")

    assert before <= datetime.fromisoformat(episode["valid_at"]) <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2024-05-01T09:30:00+02:00", "2024-05-01T07:30:00Z"),
        ("2024-05-01T09:30:00.25", "2024-05-01T09:30:00.250000Z"),
        ("2024-05-01", "2024-05-01T00:00:00Z"),
        (1_714_555_800, "2024-05-01T09:30:00Z"),
        (1_714_555_800_000, "2024-05-01T09:30:00Z"),
    ],
)
def test_a_timestamp_may_be_written_in_every_way_that_graphiti_takes(server: Server, given: object, meant: str) -> None:
    group = f"time-{str(given).replace(':', '').replace('.', '').replace('+', '')}"

    server.say(group, "Hello.", timestamp=given)

    assert [e["valid_at"] for e in server.episodes(group)] == [meant]


def test_an_episode_keeps_who_said_what_and_when_and_its_group(server: Server) -> None:
    before = datetime.now(UTC)
    said = {"name": "n1", "source_description": "a chat", "timestamp": "2024-05-01T07:30:00Z"}
    server.say("kept", "Hello.", role="Bo", role_type="assistant", **said)
    server.client.post("/messages", json={"group_id": "kept", "messages": [{"content": "Hi.", "role_type": "user"}]})
    wait_until(lambda: len(server.episodes("kept")) == 2)

    named, nameless = server.episodes("kept")

    assert named["valid_at"] == "2024-05-01T07:30:00Z"
    assert named["content"] == "Bo(assistant): Hello."
    assert nameless["content"] == "(user): Hi."
    assert (named["name"], named["source"], named["source_description"]) == ("n1", "message", "a chat")
    assert (named["group_id"], named["labels"], named["entity_edges"]) == ("kept", [], [])
    assert before <= datetime.fromisoformat(named["created_at"]) <= datetime.now(UTC)


def test_an_empty_group_id_means_the_default_group(server: Server) -> None:
    server.say("", "Somebody said this.")

    assert [e["content"] for e in server.episodes("default")] == ["Ana(user): Somebody said this."]


def test_a_message_with_the_uuid_of_an_episode_adds_none_and_names_that_one(server: Server) -> None:
    server.say("known-uuid", "I live in Paris.")
    [episode] = server.episodes("known-uuid")

    answer = server.say("known-uuid", "I live in Oslo.", uuid=episode["uuid"], timestamp="2030-01-01T00:00:00Z")

    position = int(answer.headers["asof-position"])
    outcome = server.client.get(f"/v1/messages/{position}").json()
    assert answer.headers["asof-episode-id"] == outcome["episode_id"] == episode["uuid"]
    assert outcome["state"] == "done"
    assert server.episodes("known-uuid") == [episode]
    assert [fact["fact"] for fact in server.search("Ana lives", "known-uuid")] == ["Ana lives in Paris"]
    assert caused(server, position) == []


def test_a_request_that_waits_is_told_what_each_of_its_messages_did(server: Server) -> None:
    said = [
        {**SAID, "timestamp": "2024-01-01T00:00:00Z"},
        {**SAID, "content": "Hm."},
        {**SAID, "content": "I live in Rome.", "uuid": "nobody"},
    ]
    plain = {"message": "Messages added to processing queue", "success": True}

    answer = server.client.post("/messages", params={"wait": True}, json={"group_id": "waits", "messages": said})

    assert answer.status_code == 202
    body = answer.json()
    lives, nothing, parked = body.pop("outcomes")
    assert body == plain
    position = int(answer.headers["asof-position"])
    assert [lives, nothing, parked] == [server.client.get(f"/v1/messages/{position + n}").json() for n in range(3)]
    assert [(b["fact"], b["valid_at"]) for b in lives["effect"]["began"]] == [
        ("Ana lives in Paris", "2024-01-01T00:00:00Z")
    ]
    assert (nothing["effect"]["understood"], parked["state"]) == (False, "parked")
    assert server.client.post("/messages", json={"group_id": "waits", "messages": said}).json() == plain
    nobody = server.client.post("/messages", params={"wait": True}, json={"group_id": "waits", "messages": []})
    assert nobody.json() == {**plain, "outcomes": []}


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        (
            "/v1/facts",
            {"statements": [{"op": "retract", "subject": "Ana", "relation": "lives_in", "object": "Paris"}]},
            "retracted",
        ),
        ("/v1/identities", {"op": "alias", "entity": "Ana", "name": "Annie"}, None),
    ],
)
def test_a_statement_that_waits_is_told_what_it_did(server: Server, path: str, body: Any, kind: str | None) -> None:
    group = f"waits-{path[-1]}"
    server.say(group, "I live in Paris.")

    told = server.client.post(path, params={"wait": True}, json={"group_id": group, **body}).json()

    [outcome] = told["outcomes"]
    assert [outcome["position"]] == told["positions"]
    effect = outcome["effect"]
    assert [k for k in ("began", "ended", "retracted", "restored") if effect[k]] == ([kind] if kind else [])


def test_what_a_message_did_is_told_once_its_position_is_reached(server: Server) -> None:
    group = {"group_id": "reached"}
    lives = {**SAID, "timestamp": "2024-01-01T00:00:00Z"}
    moved = {**SAID, "content": "I moved to Rome.", "timestamp": "2024-05-01T00:00:00Z"}
    retraction = {"op": "retract", "subject": "Ana", "relation": "lives_in", "object": "Rome"}
    posts: list[tuple[str, dict[str, Any]]] = [
        ("/messages", {"messages": [lives]}),
        ("/messages", {"messages": [moved]}),
        ("/messages", {"messages": [{**SAID, "content": "Hm."}]}),
        ("/v1/facts", {"statements": [retraction]}),
    ]

    told = []
    for path, body in posts:
        taken = server.client.post(path, json={**group, **body})
        position = taken.headers.get("asof-position") or taken.json()["positions"][0]
        waited = server.client.get(f"/v1/messages/{position}", params={"min_position": position}).json()
        effect = waited["effect"]
        kinds = ("began", "ended", "retracted", "restored")
        told.append({kind: [fact["object"] for fact in effect[kind]] for kind in kinds if effect[kind]})
        assert waited["state"] == "done"
        assert effect["understood"] == (body != posts[2][1])

    assert told == [
        {"began": ["Paris"]},
        {"began": ["Rome"], "ended": ["Paris"]},
        {},
        {"retracted": ["Rome"], "restored": ["Paris"]},
    ]


@pytest.mark.parametrize("uuid", ["日本", "a\r\nSet-Cookie: b=c", "\x00", "\U0001f389"])
def test_any_text_may_be_a_uuid_and_no_header_can_be_made_with_it(server: Server, uuid: str) -> None:
    answer = post(server, "any-uuid", {**SAID, "uuid": uuid})

    assert answer.status_code == 202
    assert unquote(answer.headers["asof-episode-id"]) == uuid
    assert "set-cookie" not in answer.headers


def test_a_message_with_an_unknown_uuid_fails_alone_and_leaves_nothing(server: Server) -> None:
    server.say("another-group", "Hello.")
    [elsewhere] = server.episodes("another-group")
    wrong = [{**SAID, "uuid": "nobody"}, {**SAID, "uuid": elsewhere["uuid"]}]
    answer = post(server, "unknown-uuid", *wrong, {**SAID, "content": "Later."})
    wait_until(lambda: bool(server.episodes("unknown-uuid")))

    assert answer.status_code == 202
    position = int(answer.headers["asof-position"])
    assert [caused(server, position + n) for n in range(2)] == [["message.parked"]] * 2
    assert server.search("Ana lives in Paris", "unknown-uuid", "another-group") == []
    assert [e["content"] for e in server.episodes("unknown-uuid")] == ["Ana(user): Later."]
    assert parked(server)[position].startswith("uuid: no episode of this group has it")
    assert f"message {position} is parked in episodic: uuid\n" in server.log


def test_messages_of_a_group_id_that_is_none_are_accepted_and_parked_and_later_ones_still_run(server: Server) -> None:
    answer = post(server, "no\tgroup", SAID, SAID)
    server.say("after-no-group", "Hello.")

    first = int(answer.headers["asof-position"])
    assert answer.status_code == 202
    assert all(parked(server)[position].startswith("group_id: ") for position in (first, first + 1))
    assert [caused(server, first + n) for n in range(2)] == [["message.parked"]] * 2
    with asof.open(server.data) as memory:
        assert not [group for group in memory.groups() if group.group_id in {"", "no\tgroup"}]
    assert len(server.episodes("after-no-group")) == 1


def test_a_message_in_which_nothing_is_stated_is_an_episode_and_no_more(server: Server) -> None:
    answer = server.say("nothing-stated", "Hm.")

    assert caused(server, int(answer.headers["asof-position"])) == ["episode.recorded"]
    [episode] = server.episodes("nothing-stated")
    assert episode["entity_edges"] == []
    assert server.search("Hm", "nothing-stated") == []


QUEUED = 15_000  # more than a worker comes to while its service stops


def test_what_is_queued_when_the_server_is_stopped_stays_on_the_log_and_is_processed_at_the_next_start(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data") as server:
        answer = post(server, "queue", *({**SAID, "content": f"n{n}"} for n in range(QUEUED)))
        assert server.end() == 0
        with SqliteLog(DirectoryLayout(server.data).episodic) as episodic:
            done = episodic.checkpoint()
    with serving(tmp_path / "data") as server:
        server.settled(QUEUED - 1)
    with asof.open(tmp_path / "data") as memory:
        told = [r.event.body for r in records(memory, "episodic") if isinstance(r.event, EpisodeRecorded)]

    assert answer.status_code == 202
    assert done < QUEUED
    assert told == [f"Ana(user): n{n}" for n in range(QUEUED)]


def test_every_message_that_was_acknowledged_is_one_episode_after_kills(tmp_path: Path) -> None:
    acknowledged: list[str] = []

    def talk(url: str, name: str) -> None:
        with httpx2.Client(base_url=url) as client:
            for n in range(10_000):
                said = {**SAID, "content": f"{name}-{n}"}
                try:
                    client.post("/messages", json={"group_id": "kill", "messages": [said]}).raise_for_status()
                except httpx2.TransportError:
                    return
                acknowledged.append(f"Ana(user): {said['content']}")

    for turn in range(5):
        wanted = len(acknowledged) + 20
        with ThreadPoolExecutor(4) as clients, serving(tmp_path / "data") as server:
            for client in range(4):
                clients.submit(talk, server.url, f"{turn}-{client}")
            while len(acknowledged) < wanted:
                time.sleep(0.001)
            server.end(signal.SIGKILL)
    with asof.open(tmp_path / "data") as memory:  # the worker of the last one may still be at it
        taken = sum(1 for _ in records(memory, "messages"))
        with serving(tmp_path / "data") as server:
            assert server.client.get(f"/v1/messages/{taken - 1}?min_position={taken - 1}").status_code == 200
        told = [r.event.body for r in records(memory, "episodic") if isinstance(r.event, EpisodeRecorded)]

    assert len(acknowledged) >= 100
    assert len(set(told)) == len(told)
    assert set(acknowledged) <= set(told)


def test_what_the_disk_refuses_for_a_while_is_tried_again_and_nothing_overtakes_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "First.")
        other = sqlite3.connect(tmp_path / "data" / "episodic.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        post(server, "g", {**SAID, "content": "Second."}, {**SAID, "content": "Third."})
        wait_until(lambda: server.not_ready().startswith("message 1 waits: "))
        meanwhile = server.client.get("/healthcheck").status_code
        other.execute("ROLLBACK")
        other.close()
        server.settled(2)

        assert meanwhile == 200
        assert [e["content"].split()[-1] for e in server.episodes("g")] == ["First.", "Second.", "Third."]


def test_a_message_whose_beliefs_the_disk_refuses_is_believed_once_it_does_not_and_only_then_done(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "I live in Paris.")
        other = sqlite3.connect(
            tmp_path / "data" / "generations" / "main" / "semantic.main.sqlite", isolation_level=None
        )
        other.execute("BEGIN IMMEDIATE")
        post(server, "g", {**SAID, "content": "I like chess."})
        wait_until(lambda: " waits: " in server.not_ready())
        assert server.queued(1)
        other.execute("ROLLBACK")
        other.close()
        server.settled(1)

        assert "likes" in [fact["name"] for fact in server.search("chess", "g")]


def test_what_nobody_foresaw_ends_the_service_with_a_word_and_loses_nothing(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "First.")
        head = sqlite3.connect(tmp_path / "data" / "episodic.sqlite")
        head.execute("UPDATE head SET position = 17")
        head.commit()
        head.close()
        post(server, "g", {**SAID, "content": "Second secret."})
        code = server.wait()

    assert code == 1
    assert "the worker ends: DamagedLog" in server.log
    assert "secret" not in server.log
    with asof.open(tmp_path / "data") as memory, pytest.raises(Exception, match="damaged"):
        memory.facts(all_groups=True)
    lines = sqlite3.connect(tmp_path / "data" / "messages.sqlite")
    assert json.loads(lines.execute("SELECT payload FROM log WHERE position = 1").fetchone()[0])["content"]
    lines.close()


def test_the_server_answers_while_many_wait(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        post(server, "busy", *({**SAID, "content": f"I moved to Oslo {n}."} for n in range(LEFT)))
        answer = post(server, "busy", SAID)

        assert answer.status_code == 202
        assert server.queued(LEFT)


def test_what_is_new_is_embedded_behind_the_worker_and_no_search_waits_for_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_EMBEDDER="openai", ASOF_EMBEDDING_URL="http://127.0.0.1:9") as server:
        server.say("g", "I live in Paris.")
        wait_until(lambda: server.metric("asof_embedder_up") == 0)
    with serving(tmp_path / "data") as server:
        wait_until(lambda: vectors_kept(tmp_path / "data") == 4)  # of the turn, the fact, and the names that it joins
        server.say("g", "I like chess.")
        wait_until(lambda: vectors_kept(tmp_path / "data") == 7)

        assert len(server.search("what does Ana like", "g")) == 2
        server.end()
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        assert len(memory.search("chess", all_groups=True)) == 2


def test_turns_names_and_facts_are_embedded_once_each(tmp_path: Path) -> None:
    with embedding_server.serving() as embedder:
        settings = {"ASOF_EMBEDDER": "openai", "ASOF_EMBEDDING_URL": embedder.url}

        def texts() -> list[str]:
            return sorted(text for request in embedder.requests for text in request["input"] if text != "length")

        with serving(tmp_path / "data", **settings) as server:
            server.say("g", "I live in Paris.")
            wait_until(lambda: vectors_kept(tmp_path / "data") == 4)
            assert texts() == ["Ana", "Ana lives in Paris", "I live in Paris.", "Paris"]
            server.say("g", "I like Paris.")
            wait_until(lambda: vectors_kept(tmp_path / "data") == 6)
            assert texts() == [
                "Ana",
                "Ana likes Paris",
                "Ana lives in Paris",
                "I like Paris.",
                "I live in Paris.",
                "Paris",
            ]


def test_one_worker_starts_with_the_service_writes_all_and_stops_with_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "One.")
        writer = int((tmp_path / "data" / "writer.lock").read_text("utf-8"))
        with pytest.raises(WriterBusy):
            WriterLock(tmp_path / "data")
        for group in ("g", "h"):
            server.say(group, "Two.", "Three.")
        assert int((tmp_path / "data" / "writer.lock").read_text("utf-8")) == writer != server.process.pid
        assert server.end() == 0

        with pytest.raises(ProcessLookupError):
            os.kill(writer, 0)
        WriterLock(tmp_path / "data").release()
    with asof.open(tmp_path / "data") as memory:
        assert len({r.term for r in records(memory, "episodic")}) == 1


def test_an_erased_group_leaves_no_vector_however_it_comes_between(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("kept", "I live in Paris.", role="Kim")
        for _ in range(3):
            post(server, "gone", *({**SAID, "content": f"I like Zarquon{n}."} for n in range(200)))
            assert server.client.delete("/group/gone").is_success
        wait_until(lambda: vectors_kept(tmp_path / "data") == 4)
        time.sleep(0.2)

        assert vectors_kept(tmp_path / "data") == 4


def vectors_kept(data: Path) -> int:
    kept = DirectoryLayout(data).vectors
    if not kept.exists():
        return 0
    with closing(sqlite3.connect(kept)) as found:
        if not found.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vectors'").fetchone():
            return 0  # the file is there a moment before its table
        return int(found.execute("SELECT count(*) FROM vectors").fetchone()[0])


@pytest.mark.long
def test_the_port_answers_and_takes_messages_while_what_was_left_is_processed_behind_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        post(server, "left", *({**SAID, "content": f"I moved to Oslo {n}."} for n in range(LEFT)))
        server.end(signal.SIGKILL)
    with serving(tmp_path / "data") as server:
        answer = post(server, "left", SAID)
        left = server.queued(LEFT - 1)
        server.settled(LEFT)

    assert (answer.status_code, left) == (202, True)
