"""A process that is killed while it saves a vector index leaves the index before or the index after, whole."""

import os
import random
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

# Saves again and again: at position n it holds the ids 0 to 499 and n, and says so once the save is done.
CHILD = """
import sys
from pathlib import Path
import numpy as np
from asof_projections.vectors.faiss_index import FaissVectorIndex

index = FaissVectorIndex.open(Path(sys.argv[1]), "a-model", 64)
index.remove(range(500, 2000))
ones = np.full((501, 64), 0.125, np.float32)
for position in range(max(500, index.position + 1), 2000):
    index.add([*range(500), position], ones)
    index.save(position)
    print(position, flush=True)
    index.remove([position])
"""


@pytest.mark.crash
def test_a_kill_during_a_save_loses_nothing_that_was_acknowledged_and_leaves_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.index"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    chance = random.Random(20)
    acknowledged = 0

    for _ in range(KILLS):
        command = [sys.executable, "-c", CHILD, str(path)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline()]
            time.sleep(chance.uniform(0, 0.03))
            child.kill()
            lines += child.stdout.read().splitlines()
        acknowledged = max(acknowledged, *(int(line) for line in lines if line.strip()))

        index = FaissVectorIndex.open(path, "a-model", DIMENSIONS)
        assert index.position in {acknowledged, acknowledged + 1}
        assert len(index) == 501
        assert [found for found, _ in index.search(ONE, 1, np.array([index.position]))] == [index.position]
