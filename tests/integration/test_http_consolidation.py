"""Consolidation over HTTP, in Python and on the command line: asked for, tried out, counted, and caused by a count."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import asof
from asof_command import asof as run_command
from http_server import Server, serving

FACTS = [
    {"subject": "Ana", "relation": "knows", "object": "Ben"},
    {"subject": "ACME Corp", "relation": "knows", "object": "Ana"},
    {"subject": "Acme corp.", "relation": "knows", "object": "Ben"},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("consolidation") / "data", ASOF_EMBEDDER="none") as running:
        yield running


def metrics(server: Server) -> dict[str, float]:
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(server.client.get("/metrics").text)
        for sample in family.samples
        if sample.name.startswith("asof_consolidation")
    }


def test_a_dry_run_shows_what_a_pass_then_does_and_metrics_count_it(server: Server) -> None:
    body = {"group_id": "g", "statements": FACTS}
    assert server.client.post("/v1/facts?wait=true", json=body).status_code == 202
    tried = server.client.post("/v1/consolidate", json={"group_id": "g", "dry_run": True})
    assert metrics(server)["asof_consolidation_passes_total"] == 0

    made = server.client.post("/v1/consolidate?wait=true", json={"group_id": "g"})

    assert (tried.status_code, made.status_code) == (200, 202)
    assert tried.json()["position"] is None
    found = made.json()["consolidation"]
    assert found == tried.json()["consolidation"]
    assert (found["communities_detected"], found["communities_changed_nodes"]) == (1, 4)
    assert [(merge["duplicate"], merge["into"]) for merge in found["merges"]] == [("Acme corp.", "ACME Corp")]
    counted = metrics(server)
    assert counted["asof_consolidation_passes_total"] == 1
    assert counted["asof_consolidation_communities_detected_total"] == 1
    assert counted["asof_consolidation_communities_changed_nodes_total"] == 4
    assert counted["asof_consolidation_entity_duplicates_found_total"] == 1
    assert counted["asof_consolidation_entity_merges_performed_total"] == 1
    assert counted["asof_consolidation_nodes_decayed_total"] == 0
    for phase in ("community_detection", "entity_merge", "decay", "total"):
        assert counted[f"asof_consolidation_phase_duration_seconds_count {phase}"] == 1
        assert counted[f"asof_consolidation_phase_duration_seconds_sum {phase}"] > 0


def test_a_pass_is_undone_as_its_dry_run_shows_and_metrics_count_the_passes_that_were_made(server: Server) -> None:
    group = {"group_id": "undone"}
    server.client.post("/v1/facts?wait=true", json=group | {"statements": FACTS})
    before = metrics(server)["asof_consolidation_passes_total"]
    made = server.client.post("/v1/consolidate?wait=true", json=group).json()["consolidation"]
    tried = server.client.post("/v1/consolidate", json=group | {"undo": True, "dry_run": True}).json()

    undone = server.client.post("/v1/consolidate?wait=true", json=group | {"undo": True}).json()

    assert (undone["consolidation"], tried["position"]) == (None, None)
    assert undone["undone"] == tried["undone"]
    assert undone["undone"]["consolidation_id"] == made["consolidation_id"]
    assert undone["undone"]["merges"] == made["merges"]
    assert [change["community_uuid"] for change in undone["undone"]["changes"]] == [None] * 4
    assert metrics(server)["asof_consolidation_passes_total"] == before + 1
    again = server.client.post("/v1/consolidate?wait=true", json=group | {"undo": True}).json()
    assert (again["consolidation"], again["undone"]) == (None, None)


def test_a_generation_keeps_what_it_was_begun_with_and_a_rebuild_agrees_with_it(tmp_path: Path) -> None:
    config = {"trigger_interval": 3}
    with asof.open(tmp_path, embedder="none", consolidation=config) as memory:
        for fact in FACTS:
            memory.state_fact(**fact)
        [community] = memory.communities()
        digest = memory.digest()
    with asof.open(tmp_path, embedder="none") as memory:
        assert len(community.members) == 3
        rebuilt = memory.rebuild("again")
        assert rebuilt.consolidation is not None
        assert rebuilt.consolidation.trigger_interval == 3
        assert memory.digest("again") == digest
        assert memory.rebuild("plain", policy="graded").consolidation == rebuilt.consolidation
        assert all(check.ok for check in memory.verify())


def test_the_command_shows_a_dry_run_and_makes_a_pass(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="none") as memory:
        for fact in FACTS:
            memory.state_fact(**fact)

    tried = run_command("consolidate", "--dry-run", "--json", "--data", str(tmp_path))
    made = run_command("consolidate", "--json", "--data", str(tmp_path))

    assert json.loads(tried.out)["consolidation"] == json.loads(made.out)["consolidation"]
    assert json.loads(made.out)["position"] == 3
    shown = run_command("consolidate", "--data", str(tmp_path)).out
    assert "communities: 0, entities moved: 0" in shown
    for _ in range(2):
        undone = run_command("consolidate", "--undo", "--data", str(tmp_path))
    assert f"undone: {json.loads(made.out)['consolidation']['consolidation_id']}" in undone.out
    with asof.open(tmp_path, embedder="none") as memory:
        assert memory.communities() == []
        assert memory.consolidate(undo=True, dry_run=True).undone is None
        assert all(check.ok for check in memory.verify())
