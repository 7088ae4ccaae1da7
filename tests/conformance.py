"""docs/conformance.md: which criterion of the specifications is held by which tests, and whether those have run.

A run of everything, as `make test` is one, fails if a test that the document names was skipped, or did not run at all.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "conformance.md"
_ROW = re.compile(r"^\| ([a-z]+ \d+(?: again)?|\d\.\d) \|(.*)\|$", re.MULTILINE)
_NAMED = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
_SELECTING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "collectonly")


class Row(NamedTuple):
    """A criterion of a specification: its number, its words, what is otherwise ("–" where nothing), its tests."""

    number: str
    words: str
    differs: str
    held_by: str

    @property
    def tests(self) -> list[str]:
        """The tests that hold it, as pytest names them."""
        return _NAMED.findall(self.held_by)


def rows() -> list[Row]:
    """Return each criterion, in the order of the document. TypeError: a row has more or fewer cells."""
    return [
        Row(number, *(cell.strip() for cell in cells.split(" | ")))
        for number, cells in _ROW.findall(DOCUMENT.read_text("utf-8"))
    ]


def is_of_everything(config: pytest.Config) -> bool:
    """Whether nothing was selected; of a run in several processes, only the one that hears of all tests counts."""
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return everything and not hasattr(config, "workerinput") and not any(map(config.getoption, _SELECTING))


class Conformance:
    """Hears of every test of a run, and lets the run fail if one that holds a criterion did not pass."""

    def __init__(self) -> None:
        self._outcomes: dict[str, set[str]] = defaultdict(set)
        self.unheld: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.skipped:
            self._outcomes[re.split(r"[\[@]", report.nodeid)[0]].add(report.outcome)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK:
            tests = {test for row in rows() for test in row.tests}
            self.unheld = sorted(test for test in tests if self._outcomes[test] != {"passed"})
            if self.unheld:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for test in self.unheld:
            terminalreporter.write_line(f"NOT RUN, though docs/conformance.md rests on it: {test}", red=True)
