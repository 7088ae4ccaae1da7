"""What every test shares: how hard hypothesis tries, and where the real data is."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import conformance
from asof_streams import control, episodic, messages, semantic  # noqa: F401 - all events, whichever file is read first
from effort import tries
from forked_children import forked_children, new_interpreters
from order import mix, order, rotate
from scratch import keep_in_memory
from unchecked import Unchecked, not_checked

ROOT = Path(__file__).resolve().parents[1]

keep_in_memory()
os.environ.pop("ASOF_KAFKA", None)  # named to try things out: tests send nothing to a broker that is not for tests

# Built on "default": where CI is set, hypothesis would otherwise repeat the same examples for ever. Its other checks of
# health remain: that data is made too slowly says only that the machine is busy.
settings.register_profile(
    "asof",
    settings.get_profile("default"),
    derandomize=False,
    print_blob=True,
    deadline=None,
    max_examples=tries(50, nightly=2_000),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("asof")


@pytest.hookimpl(wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Use two processes for a core: tests wait as much as they compute."""
    return 2 * (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Say what was not checked; let a run of everything fail if what holds a criterion was not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in a shell's background: its children would ignore it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Unchecked())
    elif all(Path(arg).is_dir() for arg in config.args):
        config.args[:] = rotate(config.args, os.environ["PYTEST_XDIST_WORKER"], config.workerinput["workercount"])
    if conformance.is_of_everything(config):
        config.pluginmanager.register(conformance.Conformance())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave garbage alone meanwhile: to look at all that is imported, again and again, takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Let each process begin with its share of the tests marked `long`: at the end it would be left alone with one.

    Behind them, and among them, those that wait for a broker stand among those that compute.
    """
    items.sort(key=lambda item: item.path)  # the same order in all processes, whichever file each read first
    yield
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        long = [[*those] for _, those in groupby(_mixed(items, long=True), _together)]
        items[:] = order(long, _mixed(items, long=False), processes)


def _mixed(items: list[pytest.Item], *, long: bool) -> list[pytest.Item]:
    """Return the tests that are marked `long`, or the others, with those that wait for a broker spread among them."""
    those = [item for item in items if (item.get_closest_marker("long") is not None) == long]
    waiting = [item for item in those if item.get_closest_marker("broker")]
    others = [item for item in those if not item.get_closest_marker("broker")]
    return mix(waiting, others, file=_together if long else attrgetter("path"))


def _together(item: pytest.Item) -> object:
    """Return the key of long tests that one process runs together: the argument of their mark, else the test itself."""
    marker = item.get_closest_marker("long")
    return (marker and marker.args) or id(item)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over all that was imported and collected: looking at it takes 0.6 s each time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _forked_children() -> Iterator[None]:
    """What a test starts in its own process has forks for children: new interpreters would import all of it again."""
    with forked_children():
        yield


@pytest.fixture
def _new_interpreters() -> Iterator[None]:
    """What a test starts in its own process has new interpreters for children, as where people use asof."""
    with new_interpreters():
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real conversations, facts and time expressions, which are not part of the repository."""
    given = os.environ.get("ASOF_TEST_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        not_checked("on real data: neither ASOF_TEST_DATA nor ../shared/data is a folder")
    return folder
