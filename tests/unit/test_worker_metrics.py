"""The metrics of a worker: its state of health in the text format of Prometheus, served without getting in its way."""

import socket
import urllib.request
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from asof.kafka.worker_metrics import WorkerMetrics, text
from asof.runtime.replica_health import ReplicaHealth, ReplicaProgress, UnassignedAgent
from asof_streams.errors import InvalidInput
from asof_streams.instants import SECOND

NOW = 1_800_000_000 * SECOND
PROGRESS = ReplicaProgress(
    "asof.messages", 0, 7, 10, oldest=NOW // 1_000 - 4_500, restarts=2, parked=3, agent="recorder", generation=""
)
UNASSIGNED = UnassignedAgent("asof.messages", "recorder", "", NOW - 31 * SECOND, "nobody answers")
OPENING = ReplicaProgress("asof.episodic", 1, -1, 10, agent="believer", generation="main")


def samples(health: ReplicaHealth, now: int = NOW) -> dict[tuple[str, str], float]:
    """Return the value of each metric without `asof_worker_`, by it and the topic that it is of."""
    families = [*text_string_to_metric_families(text(health, now))]
    assert all(family.type in {"gauge", "counter"} and family.documentation for family in families)
    return {
        (sample.name.removeprefix("asof_worker_"), sample.labels.get("topic", "")): sample.value
        for family in families
        for sample in family.samples
    }


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def test_the_metrics_are_those_of_the_health() -> None:
    assert samples(ReplicaHealth(NOW, (PROGRESS,))) == {
        ("well", ""): 1,
        ("topic_errors", ""): 0,
        ("partition_open", "asof.messages"): 1,
        ("offset", "asof.messages"): 7,
        ("end", "asof.messages"): 10,
        ("lag", "asof.messages"): 3,
        ("oldest_seconds", "asof.messages"): 4.5,
        ("restarts_total", "asof.messages"): 2,
        ("parked", "asof.messages"): 3,
    }


def test_a_partition_that_is_being_opened_has_no_offset_and_no_lag() -> None:
    found = samples(ReplicaHealth(NOW, (PROGRESS, OPENING)))

    assert found["well", ""] == 0
    assert found["partition_open", "asof.episodic"] == 0
    assert found["end", "asof.episodic"] == 10
    assert ("offset", "asof.episodic") not in found
    assert ("lag", "asof.episodic") not in found


@pytest.mark.parametrize(
    ("health", "now"),
    [(ReplicaHealth(NOW, (PROGRESS,), ("a topic loses history",)), NOW), (ReplicaHealth(NOW, ()), NOW + 60 * SECOND)],
    ids=["a topic has errors", "it wrote nothing for a minute"],
)
def test_a_worker_is_not_well_where_its_health_is_not(health: ReplicaHealth, now: int) -> None:
    found = samples(health, now)

    assert found["well", ""] == 0
    assert found["topic_errors", ""] == len(health.errors)


@pytest.mark.parametrize("is_spare", [False, True])
def test_an_agent_without_a_partition_is_told_of_and_is_well_if_it_is_spare(is_spare: bool) -> None:
    health = ReplicaHealth(NOW, (), unassigned=(UNASSIGNED._replace(is_spare=is_spare),))

    assert samples(health)["unassigned_seconds", "asof.messages"] == 31
    assert samples(health)["well", ""] == is_spare
    said = "no partition of asof.messages has been assigned to the recorder for 31 s: nobody answers"
    assert health.faults(NOW) == ([] if is_spare else [said])
    assert ReplicaHealth(NOW, (), unassigned=health.unassigned).well(NOW) == is_spare


def test_a_worker_that_wrote_nothing_for_a_minute_does_not_say_what_it_waits_for() -> None:
    health = ReplicaHealth(NOW, (), unassigned=(UNASSIGNED,))

    assert health.faults(NOW + 60 * SECOND) == ["it does not run, or cannot open a partition"]


def test_each_sample_says_of_what_it_is_and_nothing_else() -> None:
    families = text_string_to_metric_families(text(ReplicaHealth(NOW, (PROGRESS, OPENING)), NOW))

    labels = {tuple(sample.labels) for family in families for sample in family.samples}
    assert labels == {(), ("agent", "generation", "topic", "partition")}


def test_metrics_and_readiness_are_served_while_another_caller_sends_nothing() -> None:
    address = free_address()
    host, _, port = address.partition(":")
    with WorkerMetrics(address) as metrics, socket.create_connection((host, int(port))):
        metrics.health = ReplicaHealth(NOW, (PROGRESS,))
        with urllib.request.urlopen(f"http://{address}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert b"asof_worker_end{" in answer.read()
        metrics.health = ReplicaHealth(NOW, (), unassigned=(UNASSIGNED,))
        with pytest.raises(HTTPError, match="503"):
            urllib.request.urlopen(f"http://{address}/readyz")
        with pytest.raises(HTTPError, match="404"):
            urllib.request.urlopen(f"http://{address}/")
    with socket.create_server((host, int(port))):
        pass  # nothing listens any more


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "host.invalid:9100"])
def test_an_address_that_cannot_be_listened_on_is_named(address: str) -> None:
    with pytest.raises(InvalidInput, match=address) as caught:
        WorkerMetrics(address)

    assert caught.value.field == "worker_metrics"
