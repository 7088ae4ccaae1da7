"""What a running server tells those who start and watch it: health, readiness, metrics; and its limits."""

import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

import model_server
from api_keys import ADMIN, READ, TEAM_ADMIN, sent, written
from http_server import Server, serving
from model_server import prompt_tokens
from patience import wait_until

MOVED = "I moved to Berlin in March."
STEPS = (
    "query_embedding", "vector_search", "entity_extraction", "graph_expansion", "community_selection", "reranking",
    "context_assembly", "total",
)  # fmt: skip
MEGABYTE = b" " * 1_000_000


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("http")
    keys = str(written(folder / "keys.toml"))
    with serving(folder / "data", ASOF_KEYS_FILE=keys, ASOF_RATE_LIMIT="5") as running:
        yield running


def ready(server: Server) -> None:
    """Wait until a server says that it is ready."""
    wait_until(lambda: server.client.get("/readyz").status_code == 200)


def samples(server: Server) -> dict[str, float]:
    """Return the metrics of a server, each under its name and labels as Prometheus writes them."""
    answer = server.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        "".join([sample.name, *(f" {name}={value}" for name, value in sorted(sample.labels.items()))]): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_health_and_readiness_need_no_key_and_metrics_do(keyed: Server) -> None:
    assert keyed.client.get("/healthz").json() == {"status": "alive"}
    ready(keyed)
    assert keyed.client.get("/readyz").json() == {"status": "ready", "waiting": 0, "refused": 0}
    keys = [READ, ADMIN, TEAM_ADMIN]
    assert keyed.client.get("/metrics").status_code == 401
    assert [keyed.client.get("/metrics", headers=sent(key)).status_code for key in keys] == [200, 200, 403]


def test_a_server_whose_log_cannot_be_written_is_not_ready_and_says_why(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        ready(server)
        with sqlite3.connect(server.data / "messages.sqlite") as other:
            other.execute("BEGIN IMMEDIATE")
            answer = server.client.get("/readyz")
        other.close()

        assert answer.status_code == 503
        assert answer.json()["status"] == "not ready"
        assert "log" in answer.json()["reason"]
        ready(server)


def test_a_server_whose_store_is_gone_is_not_ready_and_lives(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        ready(server)
        server.data.rename(tmp_path / "elsewhere")

        answer = server.client.get("/readyz")

        assert answer.status_code == 503
        assert answer.json()["reason"]
        assert server.client.get("/healthz").status_code == 200


def test_metrics_count_requests_by_route_and_messages_by_what_became_of_them(server: Server) -> None:
    wait_until(lambda: samples(server)["asof_queue_messages"] == 0)
    before = samples(server)
    server.say("metered", MOVED, MOVED)
    server.say("not\ta group", MOVED)
    server.search("Berlin", "metered")
    server.client.get("/v1/search?query=Berlin&group_id=metered&profile=pipeline")
    server.client.get("/episodes/metered")
    server.client.get("/v1/messages/0")
    server.client.get("/v1/messages/first")
    server.client.get("/secret/path")
    server.client.request("BREW", "/v1/facts")
    after = samples(server)

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    def requests(method: str, route: str, status: int) -> float:
        return grown(f"asof_http_requests_total method={method} route={route} status={status}")

    assert requests("POST", "/messages", 202) == 2
    assert requests("POST", "/search", 200) == 1
    assert requests("GET", "/episodes/{group_id}", 422) == 1
    assert requests("GET", "/v1/messages/{position}", 200) == 3  # with those that waited for what was said
    assert requests("GET", "/v1/messages/{position}", 422) == 1
    assert requests("GET", "none", 404) == 1
    assert requests("other", "/v1/facts", 405) == 1
    assert grown("asof_http_request_duration_seconds_count method=POST route=/messages") == 2
    steps = {name: grown(f"asof_retrieval_step_duration_seconds_count step={name}") for name in STEPS}
    assert steps == dict.fromkeys(STEPS, 1)
    assert grown("asof_retrieval_step_duration_seconds_sum step=total") > 0
    assert grown("asof_message_processing_duration_seconds_count") == 3
    assert grown("asof_message_processing_duration_seconds_sum") > 0
    assert grown("asof_messages") == grown("asof_messages_processed") == 3
    assert grown("asof_messages_parked") == 1
    assert after["asof_queue_messages"] == 0
    assert after["asof_vectors"] >= 1
    assert [name for name in after if name.startswith("asof_build_info version=")]


def test_refusals_of_the_guard_are_counted_too(keyed: Server) -> None:
    keyed.client.get("/v1/facts")
    time.sleep(1)

    text = keyed.client.get("/metrics", headers=sent(READ)).text

    assert re.search(r'asof_http_requests_total\{method="GET",route="none",status="401"\} \d', text)


def test_a_key_that_asks_too_often_is_told_when_to_ask_again_and_others_go_on(keyed: Server) -> None:
    time.sleep(1)
    answers = [keyed.client.get("/v1/entities", headers=sent(READ))]
    while answers[-1].status_code == 200 and len(answers) < 1_000:
        answers.append(keyed.client.get("/v1/entities", headers=sent(READ)))

    *passed, refused = answers
    assert len(passed) >= 5
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["retry-after"] == "1"
    assert keyed.client.get("/v1/entities", headers=sent(ADMIN)).status_code == 200
    assert keyed.client.get("/healthz").status_code == 200
    time.sleep(1)
    assert keyed.client.get("/v1/entities", headers=sent(READ)).status_code == 200


@pytest.mark.parametrize("path", ["/messages", "/search", "/get-memory", "/groups/resolve"])
@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "announced"])
def test_a_body_beyond_the_limit_is_refused_however_it_is_sent(server: Server, path: str, chunked: bool) -> None:
    body = (MEGABYTE for _ in range(18)) if chunked else MEGABYTE * 18

    answer = server.client.post(path, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 413
    assert "16777216 bytes" in answer.json()["detail"]


def test_a_body_beyond_the_limit_is_a_problem_of_our_own_routes_too(server: Server) -> None:
    answer = server.client.request("GET", "/v1/facts", content=MEGABYTE * 18)

    assert (answer.status_code, answer.json()["status"]) == (413, 413)
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_within_the_limit_is_read_however_it_is_sent(server: Server) -> None:
    body = b'{"group_id": "g", "messages": [], "more": "' + MEGABYTE * 15 + b'"}'
    headers = {"Content-Type": "application/json"}

    whole = server.client.post("/messages", content=body, headers=headers)
    chunks = server.client.post("/messages", content=iter([body[:100], body[100:]]), headers=headers)

    assert (whole.status_code, chunks.status_code) == (202, 202)


def test_what_is_sent_without_a_key_is_refused_before_its_body_is_read(keyed: Server) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield MEGABYTE

    try:
        answer = keyed.client.post("/messages", content=endless())
    except httpx2.WriteError:  # the connection was closed while it was sent
        return
    assert answer.status_code == 401


def test_what_a_group_over_its_budget_does_not_ask_is_counted_and_the_service_stays_ready(tmp_path: Path) -> None:
    with model_server.serving() as model:
        settings = {"ASOF_EXTRACTOR": "model", "ASOF_MODEL_NAME": "fake", "ASOF_MODEL_URL": model.url}
        with serving(tmp_path / "data", **settings, ASOF_GROUP_BUDGET='{"tokens": 0}') as server:
            server.say("g", "I live in Berlin.")
            wait_until(lambda: server.client.get("/readyz").json().get("refused") == 1)
            asked = f"model=fake@{model.url.removeprefix('http://')} prompt=extract"
            counted = samples(server)

        assert counted[f"asof_model_refused_total {asked}"] == 1
        assert counted[f"asof_model_calls_total {asked}"] == model.calls == 0


def test_what_asking_a_model_costs_is_counted_by_prompt_and_model(tmp_path: Path) -> None:
    with model_server.serving() as model:
        settings = {"ASOF_EXTRACTOR": "model", "ASOF_MODEL_NAME": "fake", "ASOF_MODEL_URL": model.url}
        model.faults = [(500, "{}")]
        with serving(tmp_path / "data", **settings) as server:
            server.say("g", "I moved to Berlin in March.")
            asked = f"model=fake@{model.url.removeprefix('http://')} prompt=extract"
            wait_until(lambda: f"asof_model_calls_total {asked}" in samples(server))
            counted = samples(server)

        assert counted[f"asof_model_calls_total {asked}"] == model.calls == 2
        assert counted[f"asof_model_failed_total {asked}"] == counted[f"asof_model_retries_total {asked}"] == 1
        assert counted[f"asof_model_prompt_tokens_total {asked}"] == prompt_tokens(model.requests[1])
        assert counted[f"asof_model_completion_tokens_total {asked}"] > 0
        assert "episodic: calls 2, retries 1" in server.log
        assert "Berlin" not in server.log


def test_a_server_says_at_its_start_where_it_is_and_what_it_works_with(tmp_path: Path) -> None:
    keys = written(tmp_path / "keys.toml")
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(keys)) as server:
        told = server.announced

    assert told == {
        "url": server.url,
        "docs": f"{server.url}/docs",
        "mcp": f"{server.url}/mcp",
        "data": str(tmp_path / "data"),
        "extractor": "rules",
        "embedder": "hash",
        "embedder_fallback": None,
        "keys": True,
    }


def test_the_description_always_has_the_key_and_asks_for_it_where_one_is_needed(server: Server, keyed: Server) -> None:
    of_all, of_keyed = (one.client.get("/openapi.json").json() for one in (server, keyed))

    [(name, scheme)] = of_all["components"]["securitySchemes"].items()
    assert scheme["scheme"] == "bearer"
    assert of_keyed["components"]["securitySchemes"] == {name: scheme}
    assert of_keyed["paths"]["/messages"]["post"]["security"] == [{name: []}]
    assert of_all["paths"]["/messages"]["post"]["security"] == [{name: []}, {}]  # it may be left out
    assert "security" not in of_keyed["paths"]["/healthz"]["get"]
