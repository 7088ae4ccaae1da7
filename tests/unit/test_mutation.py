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
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module, change = tmp_path / "adding.py", "1 -> 2 in return one + 1"
    module.write_text(MODULE, "utf-8")
    tmp_path.joinpath("test_adding.py").write_text(TESTS, "utf-8")
    tests = mutation.Tests([module], ("test_adding.py",))
    tmp_path.joinpath("killed").write_text(killed, "utf-8")

    unnoticed = list(tests.unnoticed(module, processes=1))

    assert (change in unnoticed, change in tests.lost) == (is_unnoticed, is_lost)
