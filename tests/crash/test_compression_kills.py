"""A compression killed at any moment leaves a whole log, which can be compressed again."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from asof_streams.compression import compress
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Records
from effort import tries

pytestmark = [pytest.mark.crash]

MANY = 2_048
KILLS = tries(20, nightly=200)

# Forks a process for each path that it reads, which compresses the log in many small steps; prints "gone" when it is.
COMPRESSORS = """
import os, sys
from pathlib import Path
from asof_streams import compression
compression._BATCH, compression._PAUSE_SECONDS = 64, 0

for line in sys.stdin:
    if pid := os.fork():
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)
    else:
        compression.compress(Path(line.strip()), keep=0, size=8)
        os._exit(0)
"""


def compressed(path: Path) -> int:
    with closing(sqlite3.connect(path)) as raw:
        return Records(path, raw).blocks.end()


def kill_within(compressors: "subprocess.Popen[str]", path: Path, seconds: float) -> None:
    assert compressors.stdin is not None
    assert compressors.stdout is not None
    compressors.stdin.write(f"{path}\n")
    compressors.stdin.flush()
    pid = int(compressors.stdout.readline())
    time.sleep(seconds)
    with suppress(ProcessLookupError):  # it was quicker
        os.kill(pid, signal.SIGKILL)
    assert compressors.stdout.readline() == "gone\n"


def test_a_log_whose_compression_was_killed_is_whole_and_can_be_compressed_again(tmp_path: Path) -> None:
    first = tmp_path / "first" / "messages.sqlite"
    first.parent.mkdir()
    with SqliteLog(first, writable=True, durable=False) as log:
        log.accept([Message(group_id="ana", content=str(n), role_type="user") for n in range(MANY)], clock=1)
        records = list(log.read())
    chance, halfway = random.Random(7), 0
    with subprocess.Popen(
        [sys.executable, "-c", COMPRESSORS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as compressors:
        for kill in range(KILLS):
            path = tmp_path / str(kill) / first.name
            path.parent.mkdir()
            path.write_bytes(first.read_bytes())
            kill_within(compressors, path, chance.uniform(0, 0.2))
            halfway += 0 < compressed(path) < MANY

            with SqliteLog(path) as log:
                assert log.verify() == MANY
                assert list(log.read()) == records
            compress(path, keep=0)
            assert compressed(path) == MANY
    assert halfway > 0, "no kill met a compression under way"
