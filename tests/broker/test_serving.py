"""`asof serve --kafka`: it sends to the topics, and answers from its own copy of what a worker makes of them."""

import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from asof.http.server import serve
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from http_server import Server
from kafka_worker import Running, World, dump, until, until_known

Start = Callable[..., Running]
SAID: dict[str, Any] = {"content": "I live in Paris.", "role_type": "user", "role": "Ana"}


@contextmanager
def serving(data: Path, world: World) -> Iterator[Server]:
    settings = {f"ASOF_{name.upper()}": value for name, value in world.settings().items()}
    server = Server(data, **settings)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)


def post(server: Server, group: str, *messages: dict[str, Any], **headers: str) -> int:
    """Send messages; return the position of the last."""
    answer = server.client.post("/messages", json={"group_id": group, "messages": messages}, headers=headers)
    assert answer.status_code == 202, answer.text
    return int(answer.headers["asof-position"]) + len(messages) - 1


def objects(server: Server, position: int) -> list[str]:
    answer = server.client.get("/v1/facts", params={"group_id": "g", "min_position": position})
    assert answer.status_code == 200, answer.text
    return [fact["object"] for fact in answer.json()["facts"]]


def outcome(server: Server, position: int) -> dict[str, Any]:
    found: dict[str, Any] = server.client.get(f"/v1/messages/{position}", params={"min_position": position}).json()
    return found


def test_beside_a_worker_it_takes_messages_and_answers_and_reads_what_it_wrote(
    world: World, start: Start, tmp_path: Path
) -> None:
    with serving(tmp_path / "served", world) as server:
        first = post(server, "g", SAID, {**SAID, "content": "I like chess."})
        assert server.client.get("/readyz").status_code == 503
        assert first == 1
        stated = {"group_id": "early", "statements": [{"subject": "Bo", "relation": "likes", "object": "Tea"}]}
        assert server.client.post("/v1/facts", json=stated, headers={"Idempotency-Key": "k"}).status_code == 202

        worker = start(world, "worker")

        assert objects(server, first) == ["Paris", "chess"]
        assert objects(server, post(server, "g", {**SAID, "content": "I moved to Oslo."})) == ["chess", "Oslo"]
        assert server.client.get("/readyz").status_code == 200
        assert len(server.search("chess", "g")) == 3
        assert server.episodes("g")[0]["content"] == "Ana(user): I live in Paris."

        told = [
            outcome(server, post(server, "g", {**SAID, "content": "Hm."})),
            outcome(server, post(server, "no\tgroup", SAID)),
            outcome(server, post(server, "g", {**SAID, "uuid": "nobody"})),
            outcome(server, post(server, "g", {**SAID, "content": "I like tea.", "timestamp": "2024-05-01T07:00:00Z"})),
        ]
        assert [each["state"] for each in told] == ["done", "parked", "parked", "done"]
        assert told[1]["reason"].startswith("group_id: a group id has")
        known = server.episodes("g")[0]["uuid"]
        assert outcome(server, post(server, "g", {**SAID, "uuid": known}))["state"] == "done"  # it adds nothing
        assert server.episodes("g")[0]["valid_at"] == "2024-05-01T07:00:00Z"

        [uuid] = [f["uuid"] for f in server.search("tea", "g") if f["fact"].endswith("tea")]
        assert server.client.delete(f"/entity-edge/{uuid}").is_success
        assert server.client.get(f"/entity-edge/{uuid}").status_code == 404
        part = server.client.post("/v1/erase", json={"group_id": "g", "phrase": "chess"})
        assert (part.status_code, part.json()["messages"]) == (200, [1]), part.text
        assert "chess" not in objects(server, part.json()["position"])
        assert server.client.delete("/group/g").is_success
        assert server.episodes("g") == []
        assert server.client.get("/v1/messages/1000").status_code == 404
        assert server.end() == 0
    worker.stop()
    assert dump(tmp_path / "served") == dump(tmp_path / "worker")


def test_a_group_of_any_text_is_one_from_the_service_to_every_copy(world: World, start: Start, tmp_path: Path) -> None:
    group = "user@example.com/x"
    worker = start(world, "worker")
    with serving(tmp_path / "served", world) as server:
        server.settled(post(server, group, SAID))
        server.settled(post(server, "user@example.com", {**SAID, "content": "I live in Oslo."}))
        assert [fact["fact"] for fact in server.search("lives", group)] == ["Ana lives in Paris"]
        assert [e["group_id"] for e in server.episodes(quote(group, safe=""))] == [group]
        assert {raw.key for raw in world.records(world.topics.messages)} == {group.encode(), b"user@example.com"}

        assert server.client.delete(f"/group/{quote(group, safe='')}").is_success
        assert server.episodes(quote(group, safe="")) == []
        assert len(server.episodes("user@example.com")) == 1
        assert server.end() == 0
    worker.stop()
    assert dump(tmp_path / "served") == dump(tmp_path / "worker") == world.afresh(tmp_path / "new")


def test_a_message_that_is_sent_again_under_its_key_is_one(world: World, start: Start, tmp_path: Path) -> None:
    start(world, "worker")
    with serving(tmp_path / "served", world) as server:
        for _ in range(2):
            post(server, "g", SAID, **{"Idempotency-Key": "k"})
        objects(server, post(server, "g", {**SAID, "content": "I like chess."}))

        assert len(server.episodes("g")) == 2


def test_killed_or_without_its_directory_it_goes_on_where_the_topics_are(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker = start(world, "worker")
    for place in ("Oslo", "Rome", "Bern"):
        with serving(tmp_path / "served", world) as server:
            position = post(server, "g", {**SAID, "content": f"I moved to {place}."})
            assert objects(server, position) == [place]
        if place == "Rome":
            shutil.rmtree(tmp_path / "served")
    until_known(worker, position + 1)
    worker.stop()


def test_it_answers_from_the_directory_of_a_worker_that_has_it(world: World, start: Start, tmp_path: Path) -> None:
    worker = start(world, "data")
    post_first = world.send([{"group_id": "g", **SAID}])
    until_known(worker, post_first)
    with serving(tmp_path / "data", world) as server:
        assert objects(server, post(server, "g", {**SAID, "content": "I like chess."})) == ["Paris", "chess"]
        worker.stop()
        until((tmp_path / "data" / "worker.json").exists, worker)
        start(world, "other")

        assert objects(server, post(server, "g", {**SAID, "content": "I like tea."})) == ["Paris", "chess", "tea"]


def test_topics_of_several_partitions_are_refused(bootstrap: str, prefix: str, tmp_path: Path) -> None:
    with World(bootstrap, prefix, partitions=2) as world:
        settings = Settings(data=tmp_path / "data", **world.settings())

        with pytest.raises(InvalidInput, match=rf"{prefix}\.messages has 2: .*asof topics create --prefix NAME"):
            serve(settings, "127.0.0.1", 0, lambda _: pytest.fail("it serves"))
