"""The run that changes modules: what follows of how the tests of a change ended."""

import json
import os
import subprocess
import sys
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


TRY = """
import json, sys
from pathlib import Path
from hypothesis import settings
import mutation

settings.register_profile("asof", settings.get_profile("default"))
tests = mutation.Tests([Path("adding.py").resolve()], ("test_adding.py",))
Path("killed").write_text(sys.argv[1], "utf-8")
print(json.dumps([list(tests.unnoticed(Path("adding.py").resolve(), processes=1)), tests.lost]))
"""


def tried(folder: Path, module: str, tests: str, killed: str = "") -> list[list[str]]:
    """Return which changes of a module its tests do not notice, and of which nothing is known.

    They are tried by a process of its own: to look for functions in one that has collected all tests takes seconds.
    """
    folder.joinpath("adding.py").write_text(module, "utf-8")
    folder.joinpath("test_adding.py").write_text(tests, "utf-8")
    plugins = "-p _hypothesis_pytestplugin -p pytest_timeout"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{Path(mutation.__file__).parent}{os.pathsep}{folder}",
        "PYTEST_ADDOPTS": plugins,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # each fork would import them
    }
    ended = subprocess.run(
        [sys.executable, "-c", TRY, killed], cwd=folder, env=environment, capture_output=True, check=True
    )
    found: list[list[str]] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(
    ("killed", "is_unnoticed", "is_lost"),
    [
        ("once", True, False),  # it is tried again, and ends well
        ("changed", False, False),  # only with the change, which is noticing it
        ("always", False, True),  # without it, too: the machine may be at fault
    ],
)
def test_of_a_change_whose_tests_are_killed_nothing_is_known_until_they_end_or_are_killed_by_it_alone(
    tmp_path: Path, killed: str, is_unnoticed: bool, is_lost: bool
) -> None:
    change = "1 -> 2 in return one + 1"

    unnoticed, lost = tried(tmp_path, MODULE, TESTS, killed)

    assert (change in unnoticed, change in lost) == (is_unnoticed, is_lost)


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
    tmp_path: Path,
) -> None:
    unnoticed, _ = tried(tmp_path, CACHED, CACHED_TESTS)

    assert unnoticed == []
