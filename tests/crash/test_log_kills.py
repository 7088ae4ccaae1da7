"""A writer killed at any moment loses nothing that it acknowledged, and leaves a whole log."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from effort import tries

pytestmark = [pytest.mark.crash, pytest.mark.long]

KILLS = tries(20, nightly=40)
SEED = int(os.environ.get("ASOF_CRASH_SEED", "20240101"))

# Forks a writer for each line that it reads. The writer appends batches that number themselves, erases now and then,
# and prints the end of the log after each round; when it is dead, its parent prints "gone".
WRITERS = """
import os, sys
from pathlib import Path
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog

def write(path):
    with SqliteLog(path, writable=True) as log:
        while True:
            end = log.end()
            size = end % 9 + 1
            said = [Message(group_id="kept", content=f"{n} of {end}+{size}", role_type="user") for n in range(size)]
            log.accept(said, clock=1_000)
            if end % 7 == 0:
                log.accept([Message(group_id="lost", content="x" * 5_000, role_type="user")], clock=1_000)
                log.erase("lost")
            os.write(1, b"%d\\n" % log.end())  # at once: half a line would be taken for a number

for _ in sys.stdin:
    if pid := os.fork():
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)
    else:
        write(Path(sys.argv[1]))
"""


def one_kill(writers: "subprocess.Popen[str]", seconds: float, *, begun: bool) -> int:
    """Kill a writer some time after its start or, once it has `begun`, after its first round.

    Return the end of the log that it acknowledged last, or 0.
    """
    assert writers.stdin is not None
    assert writers.stdout is not None
    writers.stdin.write("\n")
    writers.stdin.flush()
    pid = int(writers.stdout.readline())
    acknowledged = int(writers.stdout.readline()) if begun else 0
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    while (line := writers.stdout.readline()) != "gone\n":
        acknowledged = int(line)
    return acknowledged


def test_what_was_acknowledged_is_there_after_kill_9_and_batches_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "messages.sqlite"
    SqliteLog(path, writable=True).close()
    chance = random.Random(SEED)
    ends = []
    command = [sys.executable, "-c", WRITERS, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writers:
        for number in range(KILLS):
            acknowledged = one_kill(writers, chance.uniform(0, 0.06), begun=number % 2 == 1)

            with SqliteLog(path) as log:
                ends.append(log.verify())
            assert ends[-1] >= acknowledged, f"ASOF_CRASH_SEED={SEED}"

    with SqliteLog(path, writable=True) as log:
        records = [record for record in log.read() if record.group == "kept"]
        log.erase("lost")
        batches: dict[str, list[int]] = {}
        for record in records:
            assert isinstance(record.event, Message)
            place, _, batch = record.event.content.partition(" of ")
            batches.setdefault(batch, []).append(int(place))
    assert [batch for batch, numbers in batches.items() if numbers != list(range(int(batch.split("+")[1])))] == []
    assert [record.recorded_at for record in records] == [1_000 + n for n in range(len(records))]
    assert ends == sorted(ends)
