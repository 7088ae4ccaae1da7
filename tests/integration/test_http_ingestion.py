"""The report of a message over HTTP, and the sums of all reports in /metrics."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from http_server import Server, serving

COUNTED = {
    "messages": 2,
    "chunks_processed": 3,
    "chunks_failed": 0,
    "entities_extracted": 4,
    "relations_extracted": 2,
    "entity_nodes_created": 3,
    "entity_merges": 1,
    "edges_created": 7,
    "contradictions_detected": 1,
    "parts_refused": 0,
}
PHASES = {
    "chunking",
    "ner",
    "relation_extraction",
    "entity_resolution",
    "contradiction_detection",
    "graph_update",
    "total",
}


def test_a_message_has_its_report_and_metrics_have_the_sums_under_the_same_names(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_EMBEDDER="none") as server:
        reports = [told(server, text) for text in ("I live in Oslo. Nice here!", "I live in Rome now.")]
        found, phases = metrics(server)

    assert found == COUNTED
    for name in COUNTED.keys() - {"messages"}:
        assert sum(report[name] for report in reports) == COUNTED[name]
    assert phases.keys() == PHASES
    assert all(seconds > 0 for seconds in phases.values())
    assert sum(phases.values()) - phases["total"] <= phases["total"]


def told(server: Server, text: str) -> dict[str, int]:
    message = {"content": text, "role": "Ana", "role_type": "user"}
    answer = server.client.post("/messages?wait=true", json={"group_id": "g", "messages": [message]})
    [outcome] = answer.json()["outcomes"]
    report: dict[str, int] = outcome["report"]
    assert report.pop("times") is None
    return report


def metrics(server: Server) -> tuple[dict[str, float], dict[str, float]]:
    """Return the counts of ingestion, and the seconds of each phase."""
    samples = [
        sample
        for family in text_string_to_metric_families(server.client.get("/metrics").text)
        for sample in family.samples
        if sample.name.startswith("asof_ingestion_")
    ]
    named = {s.name.removeprefix("asof_ingestion_").removesuffix("_total"): s for s in samples if not s.labels}
    return (
        {name: sample.value for name, sample in named.items()},
        {sample.labels["phase"]: sample.value for sample in samples if sample.labels},
    )
