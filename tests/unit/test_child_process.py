"""A child process receives and sends messages, tells its errors without their text, and never outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asof.runtime.child_process import ChannelClosed, ChildProcess
from asof_streams.errors import NotFound
from child_work import echo, fail, parent, sleep

TESTS = Path(__file__).parents[1]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_child_answers_until_its_parent_has_finished() -> None:
    child = ChildProcess(echo, "> ")

    for text in ("a", "b" * 1_000_000):
        child.send(text)
        assert child.receive() == f"> {text}"
    child.finish()

    with pytest.raises(ChannelClosed):
        child.receive()
    assert child.wait() == 0
    child.stop()


def test_an_error_of_ours_is_raised_in_the_parent_as_it_was() -> None:
    child = ChildProcess(fail, ours=True)

    with pytest.raises(NotFound, match="there is none"):
        child.receive()
    assert child.wait() == 1
    child.stop()


def test_an_error_that_nobody_foresaw_is_raised_without_its_text() -> None:
    child = ChildProcess(fail, ours=False)

    with pytest.raises(RuntimeError, match="ValueError") as raised:
        child.receive()
    assert "CONTENT" not in str(raised.value)
    child.stop()


def test_an_offer_never_waits_for_a_child_that_receives_nothing() -> None:
    child = ChildProcess(sleep)
    child.receive()

    for _ in range(10_000):
        child.offer(None)
    child.kill()


def test_a_child_that_does_not_finish_in_time_is_killed() -> None:
    child = ChildProcess(sleep)
    child.receive()

    child.stop(0.0)

    assert child.wait() == -signal.SIGKILL


def test_a_signal_to_finish_is_left_to_the_parent() -> None:
    child = ChildProcess(echo, "")
    child.send("begun")
    assert child.receive() == "begun"

    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(child.pid, number)
    child.send("alive")

    assert child.receive() == "alive"
    child.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_child_that_is_busy_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    middle = ChildProcess(parent, tmp_path / "pid")
    while not (tmp_path / "pid").exists() or not (text := (tmp_path / "pid").read_text()):
        time.sleep(0.01)

    middle.kill()

    while not gone(int(text)):
        time.sleep(0.01)


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
