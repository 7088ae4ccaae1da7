"""The run that changes modules: what follows of how the tests of a change ended."""

from pathlib import Path

import pytest

import mutation

MODULE = """
def add(one):
    return one + 1
"""
TESTS = """
import os, signal
from pathlib import Path

import adding

def test_a_sum():
    is_killed = Path(__file__).with_name("killed")
    right, killed = adding.add(1) == 2, is_killed.read_text("utf-8") if is_killed.exists() else ""
    if killed == "always" or (killed == "changed" and not right) or (killed == "once" and not right):
        is_killed.write_text("" if killed == "once" else killed)
        os.kill(os.getpid(), signal.SIGKILL)
    assert right or killed == ""
"""


def toy(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, tests: str) -> mutation.Tests:
    """Return the tests of a module, both in a folder."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:anyio -p no:schemathesis")  # as here: each fork would import them
    folder.joinpath("adding.py").write_text(module, "utf-8")
    folder.joinpath("test_adding.py").write_text(tests, "utf-8")
    return mutation.Tests([folder / "adding.py"], ("test_adding.py",))


@pytest.mark.parametrize(
    ("killed", "is_unnoticed", "is_lost"),
    [
        ("once", True, False),  # it is tried again, and ends well
        ("changed", False, False),  # only with the change, which is noticing it
        ("always", False, True),  # without it, too: the machine may be at fault
    ],
)
def test_of_a_change_whose_tests_are_killed_nothing_is_known_until_they_end_or_are_killed_by_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str, is_unnoticed: bool, is_lost: bool
) -> None:
    tests, change = toy(tmp_path, monkeypatch, MODULE, TESTS), "1 -> 2 in return one + 1"
    tmp_path.joinpath("killed").write_text(killed, "utf-8")

    unnoticed = list(tests.unnoticed(tmp_path / "adding.py", processes=1))

    assert (change in unnoticed, change in tests.lost) == (is_unnoticed, is_lost)


CACHED = """
from functools import cache

@cache
def add(one):
    return one + 1
"""
CACHED_TESTS = """
import adding

def test_that_nothing_is_raised():
    adding.add(1)

def test_a_sum():
    assert adding.add(1) == 2
"""


def test_a_change_of_what_is_kept_is_tried_by_all_tests_that_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = toy(tmp_path, monkeypatch, CACHED, CACHED_TESTS)

    assert list(tests.unnoticed(tmp_path / "adding.py", processes=1)) == []
