"""docs/conformance.md names every criterion, and for each the tests that hold it."""

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

import conformance
import mutants
from mutation import Module

ROOT = conformance.DOCUMENT.parents[1]
# The numbers of the first document, section by section: it uses several more than once.
MESSAGES: dict[str, list[Any]] = {
    "routing": [1, 2, 3, 4],
    "validation": [5, 6, 7, 8],
    "episode": [9, 10, 11, 12],
    "groups": [13, 14, 15],
    "context": [16, 17],
    "extraction": [18, 19, 20, 21, 22, 23, 24, 25, 26],
    "persistence": [27, 28, 29, 30],
    "communities": [31],
    "errors": [32, 33, 34, 35, 36, "35 again", "36 again"],
    "concurrency": [35, 36, 37, "37 again"],
    "traces": [37, 38, 39, "39 again"],
}
GRAPH = range(1, 16)  # the criteria of the third document
RETRIEVAL = {"retrieval": 54, "failure": 2}  # how many the fourth has, of its retrieval pipeline
INGESTION = 70  # of its ingestion
CONSOLIDATION = 45  # and of its consolidation
FLOW = 82  # steps, rules, flags and tables of the conversation flow
DEEDS = 9  # parts of the rule of deeds
REBUILD = 36  # requirements of replay, rebuild and erasure
MCP = 13  # requirements of the tools for agents
PROMISES = 10
AGENTS = {1: 5, 2: 3, 3: 3, 4: 2, 5: 4}  # of each requirement of the second document, how many criteria it has


def test_every_criterion_has_its_row_and_nothing_else_has() -> None:
    first = [f"{section} {number}" for section, numbers in MESSAGES.items() for number in numbers]
    second = [f"{requirement}.{n}" for requirement, count in AGENTS.items() for n in range(1, count + 1)]

    third = [f"graph {number}" for number in GRAPH]
    fourth = [f"{kind} {n}" for kind, count in RETRIEVAL.items() for n in range(1, count + 1)]
    fourth += [f"ingestion {n}" for n in range(1, INGESTION + 1)]
    fourth += [f"consolidation {n}" for n in range(1, CONSOLIDATION + 1)]
    fourth += [f"flow {n}" for n in range(1, FLOW + 1)]

    fifth = [f"deeds {n}" for n in range(1, DEEDS + 1)]
    sixth = [f"rebuild {n}" for n in range(1, REBUILD + 1)] + [f"mcp {n}" for n in range(1, MCP + 1)]
    sixth += [f"promise {n}" for n in range(1, PROMISES + 1)]

    assert [row.number for row in conformance.rows()] == [*first, *second, *third, *fourth, *fifth, *sixth]


each_row = pytest.mark.parametrize("row", conformance.rows(), ids=lambda row: row.number)


@each_row
def test_a_criterion_stands_in_words_with_what_differs_or_a_dash(row: conformance.Row) -> None:
    assert len(row.words.split()) >= 2
    assert row.differs == "–" or len(row.differs.split()) >= 3


@each_row
def test_a_criterion_is_held_by_tests_that_exist_or_said_to_be_open(row: conformance.Row) -> None:
    assert row.tests or row.differs.startswith("open: "), row.number
    assert (", ".join(f"`{test}`" for test in row.tests) or "–") == row.held_by
    for test in row.tests:
        path, _, name = test.partition("::")
        assert name in functions(path), test


@cache
def functions(path: str) -> set[str]:
    """Return the names of all functions of a module."""
    return {*re.findall(r"^ *def (\w+)", (ROOT / path).read_text("utf-8"), re.MULTILINE)}


@pytest.mark.parametrize(
    ("outcomes", "holds"),
    [
        (["passed"], True),
        (["passed", "passed"], True),
        (["passed", "skipped"], False),
        (["skipped"], False),
        ([], False),
    ],
)
def test_a_run_of_everything_fails_unless_what_holds_a_criterion_has_run(outcomes: list[str], holds: bool) -> None:
    tests = sorted({test for row in conformance.rows() for test in row.tests})
    run, session = conformance.Conformance(), SimpleNamespace(exitstatus=pytest.ExitCode.OK)

    for test in tests[1:]:
        run.pytest_runtest_logreport(heard(test, "passed"))
    for number, outcome in enumerate(outcomes):
        run.pytest_runtest_logreport(heard(f"{tests[0]}[{number}]", outcome))
    run.pytest_sessionfinish(session, pytest.ExitCode.OK)

    assert (session.exitstatus == pytest.ExitCode.OK) is holds
    assert run.unheld == ([] if holds else tests[:1])


def heard(test: str, outcome: str) -> pytest.TestReport:
    return pytest.TestReport(test, ("", 0, ""), {}, outcome, None, "setup" if outcome == "skipped" else "call")


def test_the_modules_that_are_changed_and_their_tests_are_there_and_each_reason_is_of_such_a_module() -> None:
    named = {*mutants.MODULES, *(test.partition("::")[0] for tests in mutants.MODULES.values() for test in tests)}

    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
    assert {change.partition(": ")[0] for change in mutants.EQUAL} <= {*mutants.MODULES}


def test_each_reason_is_of_a_change_that_its_module_has_today() -> None:
    modules = {change.partition(": ")[0] for change in mutants.EQUAL}
    there = {f"{module}: {change}" for module in modules for change, _ in Module(ROOT / module).changes()}

    assert sorted(mutants.EQUAL.keys() - there) == []
