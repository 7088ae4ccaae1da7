"""A service that cannot go on says so, and answers what it can: by its routes, never by its log."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime import generation_build
from asof.runtime.control_log import decide
from http_server import serving
from model_server import serving as serving_model
from patience import wait_until

NOBODY = "http://127.0.0.1:9"


def test_a_service_whose_messages_wait_is_not_ready_and_says_which_waits_and_for_how_long(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "I live in Paris.")
        assert (server.not_ready(), server.metric("asof_queue_oldest_seconds")) == ("", 0)
        other = sqlite3.connect(tmp_path / "data" / "episodic.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        server.client.post("/messages", json={"group_id": "g", "messages": [{"content": "Hm.", "role_type": "user"}]})
        wait_until(lambda: server.not_ready().startswith("message 1 waits: "))
        assert server.client.get("/readyz").status_code == 503
        assert server.metric("asof_queue_oldest_seconds") > 0
        assert server.client.post("/v1/generations/drop", json={"name": "none"}).status_code == 404  # meanwhile
        other.execute("ROLLBACK")
        other.close()
        server.settled(1)

        assert (server.not_ready(), server.metric("asof_queue_oldest_seconds")) == ("", 0)


class Killed(BaseException):
    pass


def test_a_generation_whose_log_is_held_when_it_is_built_is_followed_for_once_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as server, asof.open(tmp_path / "data", embedder="none") as beside:
        server.say("g", "I live in Paris.")
        log = tmp_path / "data" / "generations" / "work" / "semantic.work.sqlite"
        held: list[sqlite3.Connection] = []

        def die(*decision: Any) -> None:
            server.say("g", "I work at Acme.")
            held.append(sqlite3.connect(log, isolation_level=None))
            held[0].execute("BEGIN IMMEDIATE")
            decide(*decision)
            raise Killed

        monkeypatch.setattr(generation_build, "decide", die)
        with pytest.raises(Killed):
            beside.rebuild("work")
        assert server.client.post("/v1/generations/switch", json={"name": "work"}).status_code == 503
        held[0].execute("ROLLBACK")
        held[0].close()

        wait_until(lambda: server.client.post("/v1/generations/switch", json={"name": "work"}).is_success)
        assert len(server.search("Ana", "g")) == 2


def test_a_message_is_retried_over_http_once_the_model_answers(tmp_path: Path) -> None:
    with serving_model() as model:
        model.faults = [(401, "{}")] * 9
        settings: Any = {"ASOF_EXTRACTOR": "model", "ASOF_MODEL_NAME": "fake", "ASOF_MODEL_URL": model.url}
        with serving(tmp_path / "data", **settings) as server:
            server.say("g", "I live in Paris.")
            [failed] = server.client.get("/v1/parked?group_id=g").json()["messages"]
            assert (failed["position"], failed["state"], failed["reason"]) == (0, "failed", "status 401")
            assert (server.metric("asof_messages_failed"), server.metric("asof_messages_parked")) == (1, 0)
            model.faults = []
            answer = server.client.post("/v1/retry", json={"group_id": "g"})
            assert (answer.status_code, answer.json()) == (202, {"retries": [{"position": 0, "request": 1}]})
            server.settled(1)

            assert server.client.get("/v1/parked?group_id=g").json() == {"messages": []}
            assert server.client.post("/v1/retry", json={"group_id": "g", "positions": [9]}).status_code == 404
            assert server.client.post("/v1/retry", json={"group_id": "h", "positions": [0]}).status_code == 404


def test_a_search_without_its_embedder_answers_by_words_and_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_EMBEDDER="openai", ASOF_EMBEDDING_URL=NOBODY) as server:
        server.say("g", "I live in Paris.")
        answer = server.client.get("/v1/search?query=Paris&group_id=g").json()

        assert [hit["fact"] for hit in answer["facts"]] == ["Ana lives in Paris"]
        assert "cannot be reached" in answer["unavailable"]
        assert [fact["fact"] for fact in server.search("Paris", "g")] == ["Ana lives in Paris"]
    with asof.open(tmp_path / "data", embedder="openai", embedding_url=NOBODY) as memory:
        hits = memory.search("Paris", group_id="g")
        assert ([hit.fact for hit in hits], "cannot be reached" in str(hits.unavailable)) == (
            ["Ana lives in Paris"],
            True,
        )
        walked = memory.search("Paris", group_id="g", profile="pipeline")
        assert ([hit.fact for hit in walked], walked[0].scores.words) == (["Ana lives in Paris"], 1.0)
        assert "cannot be reached" in str(walked.unavailable)
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        assert memory.search("Paris", group_id="g").unavailable is None
        assert memory.search("Paris", group_id="g", profile="pipeline").unavailable is None
