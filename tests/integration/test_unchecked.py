"""A run where something is missing passes and says at its end what it did not check; CI demands a broker."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ON_A_BROKER = "tests/broker/test_broker.py"


def run(*tests: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a process of their own, in an environment without those of the run around it."""
    left = {name: value for name, value in os.environ.items() if not name.startswith(("ASOF_", "PYTEST_", "CI"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env={**left, **environment}, capture_output=True, text=True, check=False)


@pytest.fixture
def without_java(tmp_path: Path) -> str:
    """A search path on which there is no Java."""
    assert shutil.which("java", path=str(tmp_path)) is None
    return str(tmp_path)


def test_without_java_a_run_passes_and_says_at_its_end_that_nothing_was_checked_on_a_broker(without_java: str) -> None:
    done = run(ON_A_BROKER, PATH=without_java)

    assert done.returncode == 0, done.stdout
    *_, last, counts = done.stdout.splitlines()
    assert last.startswith("NOT CHECKED in ")
    assert "on a broker: install Java 17 or later and Maven" in done.stdout
    assert "skipped" in counts


def test_a_run_of_ci_fails_without_java(without_java: str) -> None:
    done = run(ON_A_BROKER, PATH=without_java, CI="true")

    assert done.returncode == 1
    assert "CI=true demands what was not checked on a broker: install Java 17" in done.stdout


def test_without_the_real_data_a_run_passes_and_says_so_at_its_end(tmp_path: Path) -> None:
    done = run("tests/integration/test_time_corpus.py", ASOF_TEST_DATA=str(tmp_path / "nowhere"), CI="true")

    assert done.returncode == 0, done.stdout
    assert "NOT CHECKED in 1 test: on real data: " in done.stdout.splitlines()[-2]
