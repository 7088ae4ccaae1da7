"""What was not checked because this machine lacks something: left out, and said at the end of a run."""

import os
import re
from collections import Counter
from collections.abc import Generator
from typing import Final, NoReturn

import pytest

_MARK: Final = "NOT CHECKED"
_REASON: Final = re.compile(rf"{_MARK} (.+)", re.DOTALL)


def not_checked(what: str, *, demanded: bool = False) -> NoReturn:
    """Skip a test, to be counted under what it would have checked; where `CI=true`, fail it if that is demanded."""
    if demanded and os.environ.get("CI") == "true":
        pytest.fail(f"CI=true demands what was {_MARK.lower()} {what}", pytrace=False)
    pytest.skip(f"{_MARK} {what}")


class Unchecked:
    """Hears of the tests of a run that were left out, and lists at its end what they would have checked."""

    def __init__(self) -> None:
        self._tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple) and (reason := _REASON.search(report.longrepr[2])):
            self._tests[reason[1]] += 1

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        yield  # last of all: what comes before scrolls away
        if self._tests:
            terminalreporter.section(_MARK, red=True, bold=True)
        for what, count in sorted(self._tests.items()):
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.write_line(f"{_MARK} in {tests}: {what}", red=True, bold=True)
