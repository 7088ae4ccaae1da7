"""A fork of this process shares what is imported here, and of the files that are open here has those named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from child_work import has_ended
from patience import wait_until

TESTS = Path(__file__).parents[1]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a process forks on Linux alone")


def run(program: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in a process of its own, which has no other threads."""
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True)


@LINUX
def test_a_fork_has_the_files_that_are_named_and_no_other() -> None:
    done = run("""
import os, sys
from asof.runtime.forks import can_fork, fork
kept, told = os.pipe()
other, _ = os.pipe()
def work():
    sys.stdin.read()
    print("to be read")
    sys.stdout.flush()
    open_files = [file for file in range(20) if os.path.exists(f"/proc/self/fd/{file}")]
    os.write(2, f"{open_files} {os.getsid(0) == os.getpid()}".encode())
assert can_fork()
pid = fork(work, kept, stdout=told)
os.close(told)
assert os.read(kept, 100) == b"to be read\\n"
print(kept, os.waitpid(pid, 0)[1])
""")

    kept, code = done.stdout.split()
    assert (done.stderr, code) == (f"[0, 1, 2, {kept}] True", "0")


@LINUX
def test_a_fork_of_a_fork_has_its_standard_streams_too() -> None:
    done = run("""
import logging, os, sys
from asof.runtime.forks import fork
logging.basicConfig()
def inner():
    logging.warning("logged")
    print("printed", os.path.sameopenfile(0, 1), file=sys.stderr)
os.waitpid(fork(lambda: os.waitpid(fork(inner), 0)), 0)
""")

    assert done.stderr == "WARNING:root:logged\nprinted True\n"


@LINUX
def test_a_fork_ends_with_its_work_and_nothing_of_the_process_goes_on_in_it() -> None:
    done = run("""
import atexit, os
from asof.runtime.forks import fork
atexit.register(print, "the process ends")
try:
    pid = fork(lambda: 1 / 0)
finally:
    print("after the fork")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")

    assert done.stdout == "after the fork\n1\nthe process ends\n"
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_process_with_threads_is_not_to_be_forked_for_they_may_hold_locks() -> None:
    done = run("""
from threading import Event, Thread
from asof.runtime.forks import can_fork
ended = Event()
thread = Thread(target=ended.wait)
thread.start()
print(can_fork())
ended.set()
""")

    assert done.stdout == "False\n"


@LINUX
def test_children_of_a_service_have_what_it_imported_and_end_once_it_has_no_more_use_for_them() -> None:
    done = run("""
import gc, os, sys
import child_work
from asof.service.children import child_starter
gc.disable()
sys.modules["marked"] = sys
with child_starter() as start_child:
    first, second = start_child(child_work.loaded), start_child(child_work.sleep)
    print(*first.receive())
    pid = second.receive()
    first.stop()
print(second.wait(), pid)
""")

    loaded, ended = done.stdout.splitlines()
    code, pid = ended.split()
    assert (loaded, code) == ("True True", "-9")
    wait_until(lambda: has_ended(int(pid)))


@LINUX
def test_a_service_collects_nothing_of_what_its_children_share_with_it() -> None:
    done = run("""
import gc
from asof.service.children import child_starter
shared = len(gc.get_objects())
with child_starter():
    print(gc.get_freeze_count() >= shared)
""")

    assert done.stdout == "True\n"


def test_children_of_a_service_are_interpreters_where_it_cannot_fork() -> None:
    done = run("""
import sys
from threading import Event, Thread
import child_work
from asof.service.children import child_starter
sys.modules["marked"] = sys
ended = Event()
Thread(target=ended.wait).start()
with child_starter() as start_child:
    child = start_child(child_work.loaded)
    print(*child.receive())
    child.stop()
ended.set()
""")

    assert done.stdout == "False True\n"
