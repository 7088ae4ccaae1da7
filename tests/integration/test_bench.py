"""The measurements run, and say what they measured; how fast it was is not a test's business."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bench import story
from bench.peers import page as peers_page
from bench.peers.environments import PINNED

import asof
from asof_process import interpreter

ROOT = Path(__file__).resolve().parents[2]
TOGETHER = ("log", "import")  # looked at closely
ALONE = (  # seconds each
    *(
        "rebuild",
        "chat",
        "model",
        "asof",
        "vectors",
        "open",
        "growth",
        "growth-model",
        "shapes",
        "search",
        "serve",
        "serve-memory",
        "mcp",
        "conversation",
    ),
    "generations",
    "telemetry",
    "two-clocks",
)
FRESH = {"open", "serve-memory", "mcp", "conversation"}  # look at the processes that they start
ON_A_BROKER = ("kafka", "soak", "generations-kafka")  # left out: they take too long even at the smallest scale


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands for Python: all that is started by it is forked from what is imported already."""
    return interpreter(tmp_path_factory.mktemp("python"))


def bench(python: Path | str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [python, "-m", "bench", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def assert_measured(figures: list[dict[str, Any]]) -> None:
    for figure in figures:
        assert figure["values"], figure["name"]
        assert all(value >= 0 for value in figure["values"].values()), figure["name"]
        assert figure["holds"] in ((True, False) if figure["targets"] else (None,)), figure["name"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> tuple[str, dict[str, Any]]:
    """The table and the JSON of two subjects at the smallest scale."""
    folder = tmp_path_factory.mktemp("results")
    done = bench(forked, *TOGETHER, "--scale", "0.001", "--into", folder)
    assert done.returncode == 0, done.stderr
    [file] = folder.iterdir()
    assert file.name == "log-import-0.001.json"
    return done.stdout, json.loads(file.read_bytes())


def test_a_result_says_what_it_was_measured_on(measured: tuple[str, dict[str, Any]]) -> None:
    _, result = measured

    assert result["scale"] == 0.001
    assert result["seed"]
    machine = result["machine"]
    assert all(machine[name] for name in ("cores", "system", "python", "sqlite", "file_system", "load_average"))


def test_every_figure_has_values_its_targets_and_whether_they_hold(measured: tuple[str, dict[str, Any]]) -> None:
    _, result = measured

    assert {figure["subject"] for figure in result["figures"]} == set(TOGETHER)
    assert_measured(result["figures"])


@pytest.mark.long
@pytest.mark.parametrize("subject", ALONE)
def test_a_subject_that_needs_no_broker_can_be_measured(subject: str, forked: Path, tmp_path: Path) -> None:
    done = bench(sys.executable if subject in FRESH else forked, subject, "--scale", "0.001", "--into", tmp_path)

    assert done.returncode == 0, done.stderr
    [file] = tmp_path.iterdir()
    figures = json.loads(file.read_bytes())["figures"]
    assert {figure["subject"] for figure in figures} == {subject}
    assert_measured(figures)


def test_the_story_of_a_growing_memory_repeats_corrects_and_returns_to_what_it_told() -> None:
    told = [json.loads(line) for line in story.lines(range(4_000))]
    texts = [(line["role"], line["content"]) for line in told]

    assert list(story.lines(range(3_990, 4_000))) == list(story.lines(range(4_000)))[3_990:]
    assert len({who for who, _ in texts}) <= story.speakers(4_000)
    assert sum("not" in text.split() and text.startswith("It was") for _, text in texts) > 50
    assert len(texts) - len(set(texts)) > 200
    first, last = (_names(text for _, text in texts[:at]) for at in (1_000, 4_000))
    assert 1.5 * len(first) < len(last) < 3 * len(first)


def _names(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\b[A-Z][a-z]{6,}\b", text)}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is measured of the peers for which nothing has to be installed."""
    folder = tmp_path_factory.mktemp("peers")
    done = bench(
        sys.executable, "peers", "--peers", "asof", "sqlite", "--facts", "60", "--scale", "0.001", "--into", folder
    )
    assert done.returncode == 0, done.stderr
    [file] = folder.iterdir()
    return json.loads(file.read_bytes())


@pytest.mark.long("compared")
def test_peers_are_compared_in_what_they_can_do_by_name_and_version(compared: dict[str, Any]) -> None:
    figures = {figure["name"]: figure["values"] for figure in compared["figures"]}
    ours, beside = f"asof {asof.__version__}", f"SQLite by hand {sqlite3.sqlite_version}"

    assert_measured(compared["figures"])
    alone = ("one message read by a model", "a new generation", "a graph from its log", "memory of", "installed")
    assert {name for name, values in figures.items() if values.keys() != {ours, beside}} == {
        name for name in figures if name.startswith(alone)
    }
    assert {tuple(figures[name]) for name in figures if name.startswith(alone)} == {(ours,)}
    assert {"import, a fact, among 60 facts", "two hops around an entity: by the clock"} <= figures.keys()
    assert (
        figures["one message read by a model, 8 at once: by the clock"][ours] > 150
    )  # of the 300 of a call, two of them
    assert figures["disk, a fact"][ours] > figures["disk, a fact"][beside] > 0


@pytest.mark.long("compared")
def test_the_page_of_the_comparison_is_made_of_the_result(compared: dict[str, Any]) -> None:
    page = "Before.\n<!-- bench peers -->\nold\n<!-- end -->\nAfter.\n"

    written = peers_page.written(page, compared)

    assert written.startswith("Before.\n<!-- bench peers -->\n| what | asof ")
    assert written.endswith("<!-- end -->\nAfter.\n")
    rows = [row for row in written.splitlines() if row.startswith("| ")][2:]
    assert len(rows) == len(compared["figures"])
    assert rows[-1].endswith("| none |")  # what nobody is beside comes last, and what asof loses the most first
    losses = [float(ours.replace(",", "")) / float(beside.replace(",", "")) for ours, beside in map(_cells, rows[:6])]
    assert all(less <= more * _ROUNDED for more, less in pairwise(losses))
    assert "the load from all work on the machine was" in written
    assert peers_page.written(written, compared) == written


_ROUNDED = 1.1  # two cells of two digits each differ by less from what the rows are sorted by


def _cells(row: str) -> list[str]:
    return row.strip("| ").split(" | ")[1:]


def test_the_comparison_that_is_published_names_the_versions_that_are_installed() -> None:
    page = peers_page.PAGE.read_text("utf-8")
    pinned = [pin.partition("==") for pins in PINNED.values() for pin in pins[:1]]

    assert [package for package, _, version in pinned if f" {version} |" not in page] == []


def test_what_ten_times_the_facts_take_is_measured_and_what_a_thousand_times_take_is_arithmetic(
    forked: Path, tmp_path: Path
) -> None:
    done = bench(forked, "scale", "--scale", "0.0001", "--into", tmp_path)

    assert done.returncode == 0, done.stderr
    [file] = tmp_path.iterdir()
    figures = {figure["name"]: figure for figure in json.loads(file.read_bytes())["figures"]}
    [first, second, third, fourth] = (
        figures["disk: 2,000 facts"]["baseline"],
        figures["disk: 2,000 facts"]["values"],
        *(figures[f"disk: {facts} facts, by arithmetic"]["values"] for facts in ("20,000", "200,000")),
    )
    each = (second["MB"] - first["MB"]) / 1_800
    assert third["MB"] == pytest.approx(second["MB"] + 18_000 * each, rel=0.01)
    assert fourth["MB"] == pytest.approx(second["MB"] + 198_000 * each, rel=0.01)
    assert "arithmetic" in figures["disk: 20,000 facts, by arithmetic"]["note"]
    assert "between 200 and 2,000 facts" in done.stdout


def test_what_an_import_of_ten_times_the_facts_takes_is_measured_alone(forked: Path, tmp_path: Path) -> None:
    done = bench(forked, "scale-import", "--scale", "0.0001", "--into", tmp_path)

    assert done.returncode == 0, done.stderr
    [file] = tmp_path.iterdir()
    figures = {figure["name"] for figure in json.loads(file.read_bytes())["figures"]}
    assert {"import: 2,000 facts", "disk: 2,000 facts", "fresh process: open, answer: 2,000 facts"} <= figures
    assert not [name for name in figures if name.startswith(("graph", "snapshot", "compress"))]


def test_a_durable_append_has_percentiles_a_ratio_to_raw_sqlite_and_its_fsync_mode(
    measured: tuple[str, dict[str, Any]],
) -> None:
    _, result = measured
    figure = next(f for f in result["figures"] if f["name"] == "durable append, 1 a commit")

    assert figure["values"].keys() == figure["baseline"].keys() == {"events/s", "p50", "p95", "p99", "p99.9"}
    quotient = figure["values"]["events/s"] / figure["baseline"]["events/s"]
    assert figure["ratios"]["ratio events/s"] == pytest.approx(quotient, rel=0.01)
    assert "fsync" in figure["note"]


def test_the_table_has_a_line_for_each_figure(measured: tuple[str, dict[str, Any]]) -> None:
    table, result = measured

    assert [line.split()[0] for line in table.splitlines()] == ["subject"] + [f["subject"] for f in result["figures"]]


def test_an_unknown_subject_is_refused_with_those_there_are(forked: Path) -> None:
    done = bench(forked, "speed")

    assert done.returncode == 2
    every = ", ".join(
        (*TOGETHER, *ALONE, *ON_A_BROKER, "peers", "agent-memory", "scale", "scale-import")
    )  # a new one is measured above, or said not to be
    assert f"no such subject: speed; there are {every}\n" in done.stderr


@pytest.mark.long
def test_two_versions_are_measured_in_one_run() -> None:
    command = [sys.executable, "-m", "bench.versions", "--beside", str(ROOT), "--facts", "200", "--rounds", "1"]
    done = subprocess.run([*command, "--runs", "0"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    heading, _, *rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    assert heading == ["what", "before, ms", "now, ms", "ratio"]
    assert {"import of 500 facts, one process", "slot, known now"} <= {what for what, *_ in rows}
    assert all(float(figure.replace(",", "")) > 0 for _, *figures in rows for figure in figures)
