"""A child process receives and sends messages, tells its errors without their text, and never outlives its parent.

So does one that a server of forks starts, and there are any number of these.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from asof.runtime.child_process import ChannelClosed, ChildProcess
from asof.runtime.fork_server import ForkServer
from asof_streams.errors import NotFound
from child_work import echo, fail, has_ended, imported, parent, sleep
from patience import wait_until

pytestmark = pytest.mark.usefixtures("_new_interpreters")

TESTS = Path(__file__).parents[1]

Start = Callable[..., ChildProcess]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    server = ForkServer("child_work")
    yield server
    server.kill()


@pytest.fixture(params=["alone", "forked"])
def start(request: pytest.FixtureRequest) -> Start:
    """Starts a child in each of the two ways."""
    if request.param == "alone":
        return ChildProcess
    server: ForkServer = request.getfixturevalue("server")
    return server.start


def test_a_child_answers_until_its_parent_has_finished(start: Start) -> None:
    child = start(echo, "> ")

    for text in ("a", "b" * 1_000_000):
        child.send(text)
        assert child.receive() == f"> {text}"
    child.finish()

    with pytest.raises(ChannelClosed):
        child.receive()
    assert child.wait() == 0
    child.stop()


def test_an_error_of_ours_is_raised_in_the_parent_as_it_was(start: Start) -> None:
    child = start(fail, ours=True)

    with pytest.raises(NotFound, match="there is none"):
        child.receive()
    assert child.wait() == 1
    child.stop()


def test_an_error_that_nobody_foresaw_is_raised_without_its_text(start: Start) -> None:
    child = start(fail, ours=False)

    with pytest.raises(RuntimeError, match="ValueError") as raised:
        child.receive()
    assert "CONTENT" not in str(raised.value)
    child.stop()


def test_an_offer_never_waits_for_a_child_that_receives_nothing(start: Start) -> None:
    child = start(sleep)
    child.receive()

    for _ in range(10_000):
        child.offer(None)
    child.kill()


def test_a_child_that_does_not_finish_in_time_is_killed(start: Start) -> None:
    child = start(sleep)
    child.receive()

    child.stop(0.0)

    assert child.wait() == -signal.SIGKILL


def test_a_signal_to_finish_is_left_to_the_parent(start: Start) -> None:
    child = start(echo, "")
    child.send("begun")
    assert child.receive() == "begun"

    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(child.pid, number)
    child.send("alive")

    assert child.receive() == "alive"
    child.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("forks", [False, True], ids=["alone", "forked"])
def test_a_child_that_is_busy_dies_with_a_parent_that_is_killed(tmp_path: Path, *, forks: bool) -> None:
    middle = ChildProcess(parent, tmp_path / "pid", forks=forks)
    while not (tmp_path / "pid").exists() or not (text := (tmp_path / "pid").read_text()):
        time.sleep(0.01)

    middle.kill()

    wait_until(lambda: has_ended(int(text)))


def test_a_script_that_uses_asof_is_not_run_again_by_its_child(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "print('run')\n"
        "from asof.runtime.child_process import ChildProcess\n"
        "from child_work import echo\n"
        "child = ChildProcess(echo, '> ')\n"
        "child.send('a')\n"
        "print(child.receive())\n"
    )

    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        check=True,
        text=True,
    )

    assert done.stdout == "run\n> a\n"


def test_children_that_one_server_forks_share_what_it_imported_and_nothing_else() -> None:
    server = ForkServer("child_work")
    children = [server.start(imported, number) for number in range(3)]

    found = [child.receive() for child in children]
    assert [number for number, _, _ in found] == [0, 1, 2]
    assert len({pid for _, pid, _ in found}) == 3
    assert len({parent for _, _, parent in found}) == 1
    children[1].stop()  # it ends, since nobody else holds its channel
    children[0].kill()
    children[2].send("still there")
    assert children[2].receive() == "still there"

    assert [child.wait() for child in children[:2]] == [-signal.SIGKILL, 0]
    children[2].stop()
    server.kill()


def test_children_of_a_server_that_ends_end_with_it_and_no_more_are_started() -> None:
    server = ForkServer("child_work")
    child = server.start(sleep)
    pid = child.receive()

    server.kill()

    with pytest.raises(ChannelClosed):
        child.receive()
    wait_until(lambda: has_ended(pid))
    child.kill()
    with pytest.raises(OSError, match="has ended"):
        server.start(sleep)


def test_a_child_that_several_threads_end_at_once_ends_and_no_other_does() -> None:
    server = ForkServer("child_work")
    ended, other = server.start(sleep), server.start(echo, "> ")
    ended.receive()
    begun = Barrier(4)

    def end(_: int) -> int:
        begun.wait()
        ended.abort()
        return ended.wait()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(end, range(4))] == [-signal.SIGKILL] * 4
    other.send("still there")
    assert other.receive() == "> still there"

    for one in (ended, other, server):
        one.kill()
