"""The metrics and readiness of a worker and a projector on a real broker: figures and faults of their health."""

import json
import re
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from aiokafka.admin import NewTopic
from prometheus_client.parser import text_string_to_metric_families

from asof.cli import app, calls
from asof.operations.doctor import doctor
from asof.runtime.replica_health import ReplicaHealth
from asof.settings import Settings
from kafka_broker import Broker
from kafka_topics import make_topics
from kafka_worker import PROJECTOR, Running, World, fact, until, until_known

Start = Callable[..., Running]
Figures = dict[tuple[str, str, str], tuple[int, int]]
"""Offset and end, by agent, generation and topic."""


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def scraped(address: str) -> tuple[Figures, dict[str, float]]:
    """Return the figures, and the sum of each metric without `asof_worker_`. Nothing, before anything listens."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics") as answer:
            families = [*text_string_to_metric_families(answer.read().decode())]
    except OSError:
        return {}, {}
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    sums: dict[str, float] = {}
    for sample in (sample for family in families for sample in family.samples):
        name = sample.name.removeprefix("asof_worker_")
        sums[name] = sums.get(name, 0) + sample.value
        if sample.labels:
            at = sample.labels["agent"], sample.labels["generation"], sample.labels["topic"]
            found.setdefault(at, {})[name] = int(sample.value)
    return {at: (values["offset"], values["end"]) for at, values in found.items() if "offset" in values}, sums


def health(data: Path, capsys: pytest.CaptureFixture[str]) -> Figures:
    assert calls.run(app, ["worker", "--health", "--json", "--data", str(data)]) == 0
    partitions = json.loads(capsys.readouterr().out)["partitions"]
    return {(row["agent"], row["generation"], row["topic"]): (row["offset"], row["end"]) for row in partitions}


def ready(address: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the answer of the route for readiness; 0, before anything listens."""
    try:
        with urllib.request.urlopen(f"http://{address}/readyz") as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())
    except OSError:
        return 0, {}


@pytest.mark.parametrize("command", [("worker",), PROJECTOR], ids=["worker", "projector"])
def test_the_metrics_of_a_worker_are_the_figures_of_its_health(
    world: World, start: Start, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    messages, episodic, address = world.topics.messages, world.topics.episodic, free_address()
    agents = {("recorder", "", messages), ("believer", "main", episodic)}
    if command == PROJECTOR:
        agents = {("projector", "", topic) for topic in (messages, episodic, world.topics.semantic("main"))}
    running = start(world, command=command, worker_metrics=address)
    end = world.send([*map(fact, range(3)), b"no message"])
    if command != PROJECTOR:
        until_known(running, end)

    def settled() -> bool:
        figures, sums = scraped(address)
        ends = {at[2]: stands for at, stands in figures.items()}
        return figures.keys() == agents and ends[messages] == (end, end) and sums["lag"] == 0

    until(settled, running)
    figures, sums = scraped(address)
    assert figures == health(running.data, capsys)
    assert sums["well"] == 1
    assert sums["partition_open"] == len(agents)
    assert sums.get("parked") == (None if command == PROJECTOR else 1)
    assert sums["restarts_total"] == sums["oldest_seconds"] == 0
    running.stop()


OFFSETS = "__consumer_offsets"


class Uncoordinated(Broker):
    """A broker that cannot make the topic in which it keeps its groups, and so is the coordinator of none."""

    def _prepare(self, seconds: float) -> Path:
        file = super()._prepare(seconds)
        with file.open("a", encoding="utf-8") as settings:
            settings.write("offsets.topic.replication.factor=2\n")
        return file


@pytest.mark.usefixtures("own_kafka")
def test_a_worker_whose_group_has_no_coordinator_says_so_and_is_ready_once_it_has_its_partitions(
    tmp_path: Path, prefix: str, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    address = free_address()
    with Uncoordinated(tmp_path / "kafka") as broker, World(broker.bootstrap, prefix) as world:
        running = start(world, worker_metrics=address)
        missing = [
            f"no partition of {topic} has been assigned to the {agent} for N s: no broker answers as the coordinator of"
            f" the group {group}"
            for topic, agent, group in (
                (world.topics.episodic, "believer of main", world.topics.believers("main")),
                (world.topics.messages, "recorder", world.topics.recorders),
            )
        ]

        def timeless(sentence: str) -> str:
            return re.sub(r"for \d+ s", "for N s", sentence)

        def tells() -> bool:
            status, said = ready(address)
            return status == 503 and timeless(said["reason"]) == "; ".join(missing)

        until(tells, running)
        sums = scraped(address)[1]
        assert sums["well"] == 0
        assert sums["unassigned_seconds"] > 0
        assert calls.run(app, ["worker", "--health", "--data", str(running.data)]) == calls.FAILED
        said = timeless(" ".join(capsys.readouterr().out.split()))
        assert [f"NOT WELL: {sentence}" in said for sentence in missing] == [True, True]
        findings = doctor(Settings(data=running.data, embedder="none"))
        assert [timeless(each.found) for each in findings if each.what == "worker"] == missing

        world.administer(lambda admin: make_topics(admin, [NewTopic(OFFSETS, 1, 1)]))
        until_known(running, world.send(map(fact, range(3))))
        until(lambda: ready(address) == (200, {"status": "ready"}), running)
        assert scraped(address)[1].get("unassigned_seconds") is None
        assert [each.state for each in doctor(Settings(data=running.data)) if each.what == "worker"] == ["ok"]
        running.stop()


def test_a_worker_that_is_spare_says_so_and_is_ready(world: World, start: Start) -> None:
    addresses = {name: free_address() for name in ("one", "other")}
    running = {name: start(world, name, worker_metrics=address) for name, address in addresses.items()}

    def spare() -> list[str]:
        found = [ReplicaHealth.read(each.data) for each in running.values() if (each.data / "worker.json").exists()]
        return sorted(each.agent for health in found for each in health.unassigned if each.is_spare)

    def are_ready() -> bool:
        return all(ready(address)[0] == 200 and scraped(address)[1]["well"] == 1 for address in addresses.values())

    until(lambda: spare() == ["believer", "recorder"] and are_ready(), running["one"])
    running["one"].stop()
    left = running["other"]
    until(lambda: not ReplicaHealth.read(left.data).unassigned and ready(addresses["other"])[0] == 200, left)
    left.stop()
