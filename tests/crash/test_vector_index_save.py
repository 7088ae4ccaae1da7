"""A process that is killed while it saves a vector index leaves the index before or the index after, whole."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from asof_projections.vectors.faiss_index import FaissVectorIndex

KILLS = 20
DIMENSIONS = 64
ONE = np.full(DIMENSIONS, 0.125, np.float32)

# Forks a writer for each line that it reads. The writer saves again and again: at position n the index holds the ids 0
# to 499 and n, and the writer says so once the save is done; when it is dead, its parent says "gone".
WRITERS = """
import os, sys
from pathlib import Path
import numpy as np
from asof_projections.vectors.faiss_index import FaissVectorIndex

def write(path):
    index = FaissVectorIndex.open(path, "a-model", 64)
    index.remove(range(500, 2000))
    ones = np.full((501, 64), 0.125, np.float32)
    for position in range(max(500, index.position + 1), 2000):
        index.add([*range(500), position], ones)
        index.save(position)
        os.write(1, b"%d\\n" % position)
        index.remove([position])

for _ in sys.stdin:
    if pid := os.fork():
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)
    else:
        write(Path(sys.argv[1]))
        os._exit(0)
"""


def one_kill(writers: "subprocess.Popen[str]", seconds: float) -> int:
    """Kill a writer some time after its first save; return the position that it saved last, as far as it said."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    writers.stdin.write("\n")
    writers.stdin.flush()
    pid, saved = int(writers.stdout.readline()), int(writers.stdout.readline())
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    while (line := writers.stdout.readline()) != "gone\n":
        saved = int(line)
    return saved


@pytest.mark.crash
def test_a_kill_during_a_save_loses_nothing_that_was_acknowledged_and_leaves_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.index"
    chance = random.Random(20)
    command = [sys.executable, "-c", WRITERS, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writers:
        for _ in range(KILLS):
            acknowledged = one_kill(writers, chance.uniform(0, 0.03))

            index = FaissVectorIndex.open(path, "a-model", DIMENSIONS)
            assert index.position in {acknowledged, acknowledged + 1}
            assert len(index) == 501
            assert [found for found, _ in index.search(ONE, 1, np.array([index.position]))] == [index.position]
