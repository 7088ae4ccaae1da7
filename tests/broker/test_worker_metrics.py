"""The metrics that a worker and a projector serve on a real broker: the figures of their health."""

import json
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from asof.cli import app, calls
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
