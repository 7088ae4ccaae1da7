"""The spans of asof's own processes, as a collector gets them: a trace goes on from one process to the next."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof_process
from http_server import Server, serving
from mcp_agent import agent_at
from patience import wait_until
from traced import Collector, Spanned, collecting, trees

GIVEN = 0x4BF92F3577B34DA6A3CE929D0E0E4736
TRACEPARENT = f"00-{GIVEN:032x}-00f067aa0ba902b7-01"

POSTED = """\
POST /messages (server) http.request.method=POST http.response.status_code=202 http.route=/messages url.scheme=http
  upsert_memory asof.position=0 gen_ai.memory.record.count=1 gen_ai.memory.store.id=posted \
gen_ai.operation.name=upsert_memory"""
SEARCHED = """\
GET /v1/search (server) http.request.method=GET http.response.status_code=200 http.route=/v1/search url.scheme=http
  search_memory asof.generation=main asof.lag=0 asof.operation=search asof.position=1 \
asof.retrieval.legs=words,vectors asof.retrieval.profile=default asof.retrieval.vectors_behind=0 \
asof.valid_at=2024-05-01T00:00:00Z gen_ai.memory.record.count=0 gen_ai.memory.store.id=nobody \
gen_ai.operation.name=search_memory
    asof.search_facts gen_ai.memory.record.count=0
    asof.search_episodes gen_ai.memory.record.count=0"""
POST = """POST /mcp/{group} (server) http.request.method=POST http.response.status_code=200 \
http.route=/mcp/{group} url.scheme=http"""
TOOL = """tools/call {0} (server) gen_ai.operation.name=execute_tool gen_ai.tool.name={0} jsonrpc.request.id=1 \
mcp.method.name=tools/call mcp.protocol.version=*"""
OF_TOLD = "gen_ai.memory.record.count={} gen_ai.memory.store.id=told gen_ai.operation.name={}"
ADDED = f"""\
{POST}
  {TOOL.format("add_memory")}
    upsert_memory asof.position=1 {OF_TOLD.format(1, "upsert_memory")}
    asof.message asof.operation=message"""
AS_OF = "asof.generation=main asof.known_at=* asof.lag=0"
SHOWN = f"""\
{POST}
  {TOOL.format("get_entity_timeline")}
    search_memory {AS_OF} asof.operation=timeline asof.position=2 {OF_TOLD.format(1, "search_memory")}
    search_memory {AS_OF} asof.operation=facts asof.position=2 {OF_TOLD.format(0, "search_memory")}"""
ERASED = f"""\
{POST}
  {TOOL.format("forget")}
    asof.erasure_preview asof.operation=erasure_preview gen_ai.memory.store.id=told
    delete_memory asof.position=2 {OF_TOLD.format(1, "delete_memory")}"""
CALLED = ["POST /mcp/{group}", "tools/call search_memory_facts", "search_memory", "asof.search_facts"]


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("traced") / "data", ASOF_MCP_PROFILE="full", **collector.settings) as running:
        message = {"content": "I live in Canarywood.", "role_type": "user", "role": "Ana"}
        body = {"group_id": "posted", "messages": [message]}
        assert running.client.post("/messages", json=body, headers={"traceparent": TRACEPARENT}).status_code == 202
        running.settled(0)
        yield running


def test_a_message_links_the_worker_to_the_request_that_brought_it(server: Server, collector: Collector) -> None:
    del server
    wait_until(lambda: collector.named("asof.ingest") and len(collector.of_trace(GIVEN)) == 2)

    assert trees(collector.of_trace(GIVEN)) == POSTED
    [put] = [span for span in collector.of_trace(GIVEN) if span.name == "upsert_memory"]
    [ingested] = [span for span in collector.named("asof.ingest") if span.links == (put.id,)]
    assert (ingested.kind, ingested.parent, ingested.trace == GIVEN) == ("consumer", 0, False)
    assert {span.name for span in collector.of_trace(ingested.trace)} >= {"ucotron.ner", "ucotron.graph_update"}
    assert collector.services == {"asof"}


def test_a_search_goes_on_in_the_process_that_has_the_vectors(server: Server, collector: Collector) -> None:
    trace = GIVEN + 1
    asked = {"query": "Canarywood", "group_id": "nobody", "valid_at": "2024-05-01"}
    sent = {"traceparent": f"00-{trace:032x}-00f067aa0ba902b7-01"}
    wait_until(lambda: not server.client.get("/v1/search", params=asked).json()["vectors_behind"])
    server.client.get("/v1/search", params=asked, headers=sent).raise_for_status()
    wait_until(lambda: len(collector.of_trace(trace)) == 4)

    assert trees(collector.of_trace(trace)) == SEARCHED


def test_a_request_of_no_route_tells_no_path(server: Server, collector: Collector) -> None:
    trace = GIVEN + 2
    sent = {"traceparent": f"00-{trace:032x}-00f067aa0ba902b7-01"}
    assert server.client.get("/Canarywood?q=Canarywood", headers=sent).status_code == 404
    wait_until(lambda: collector.of_trace(trace))

    [span] = collector.of_trace(trace)
    assert span.told == "GET (server) http.request.method=GET http.response.status_code=404 url.scheme=http"


def test_a_call_of_an_agent_is_a_span_around_the_search_that_it_asks_for(server: Server, collector: Collector) -> None:
    with agent_at(f"{server.url}/mcp/agents") as agent:
        agent.ask("search_memory_facts", query="Canarywood")
    wait_until(lambda: collector.named(CALLED[1]))

    [called] = collector.named(CALLED[1])
    wait_until(lambda: {*CALLED} <= {span.name for span in collector.of_trace(called.trace)})
    by_id = {span.id: span for span in collector.of_trace(called.trace)}
    [span] = [span for span in by_id.values() if span.name == CALLED[-1]]
    way = [span]
    while way[0].parent in by_id:
        way.insert(0, by_id[way[0].parent])
    assert [span.name for span in way] == CALLED
    assert called.attributes["gen_ai.tool.name"] == "search_memory_facts"


def call(server: Server, trace: int, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool in a trace; return the structured content."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"traceparent": f"00-{trace:032x}-00f067aa0ba902b7-01", "Accept": "application/json, text/event-stream"}
    answer = server.client.post("/mcp/told", json=message, headers=headers).raise_for_status().json()
    assert not answer["result"].get("isError"), answer
    content: dict[str, Any] = answer["result"]["structuredContent"]
    return content


def test_a_call_that_reads_writes_or_erases_has_its_tree_and_the_worker_links_to_it(
    server: Server, collector: Collector
) -> None:
    added, found, erased = GIVEN + 10, GIVEN + 11, GIVEN + 12
    call(server, added, "add_memory", episode_body="Ana lives in Canarywood.", wait_seconds=30)
    call(server, found, "get_entity_timeline", entity="Ana")
    shown = call(server, GIVEN + 13, "forget", topic="Canarywood")
    call(server, erased, "forget", topic="Canarywood", confirmation=shown["confirmation"])
    for trace, tree in ((added, ADDED), (found, SHOWN), (erased, ERASED)):
        await_root(collector, trace)
        assert trees(collector.of_trace(trace)) == tree

    for trace in (added, erased):
        [put] = [span for span in collector.of_trace(trace) if span.name in ("upsert_memory", "delete_memory")]
        await_worker(collector, put)


def await_root(collector: Collector, trace: int) -> None:
    """Wait until the first span of a trace is exported: those below it ended before."""
    wait_until(lambda: any(span.name.startswith("POST") for span in collector.of_trace(trace)))


def await_worker(collector: Collector, put: Spanned) -> None:
    """Wait until the span of the worker is exported that links to the one that put the message on the log."""
    wait_until(lambda: any(span.links == (put.id,) for span in collector.named("asof.ingest")))


def test_no_span_of_any_process_says_what_was_said_or_asked(server: Server, collector: Collector) -> None:
    del server
    wait_until(lambda: collector.named("asof.ingest"))

    assert not [span.told for span in collector.spans if "Canarywood" in span.told]


@pytest.mark.parametrize(
    "wrong",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_BSP_SCHEDULE_DELAY": "soon"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "nowhere"},
    ],
    ids=["away", "unreadable", "no-address"],
)
def test_what_is_wrong_with_telemetry_changes_nothing_of_the_work(wrong: dict[str, str], tmp_path: Path) -> None:
    command = ("add", "I like tea.", "--role", "Ana", "--json", "--data", str(tmp_path / "data"))
    ended = asof_process.run(*command, environment={**os.environ, **wrong})

    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["position"] == 0


def test_a_command_goes_on_with_the_trace_of_the_program_that_runs_it(tmp_path: Path, collector: Collector) -> None:
    trace = GIVEN + 3
    given = {"TRACEPARENT": f"00-{trace:032x}-00f067aa0ba902b7-01", **collector.settings}
    command = ("add", "I like tea.", "--data", str(tmp_path / "data"))
    ended = asof_process.run(*command, environment={**os.environ, **given})
    assert ended.returncode == 0
    wait_until(lambda: [span for span in collector.of_trace(trace) if span.name == "upsert_memory"])

    assert trees(collector.of_trace(trace)).startswith("upsert_memory asof.operation=add asof.position=0 ")
