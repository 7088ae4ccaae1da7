"""Matrix products run in one thread, so that a machine busy with other things does not bring embedding to a halt."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import time
import numpy as np
from asof_projections.embedding import blas

blas.use_one_thread()
a = np.ones((600, 600), np.float32)
own, all = time.thread_time(), time.process_time()
for _ in range(60):
    a @ a
print((time.process_time() - all) / (time.thread_time() - own))
"""


@pytest.mark.skipif((os.cpu_count() or 1) == 1, reason="NOT CHECKED with several threads: there is one core")
def test_a_matrix_product_is_all_done_by_the_thread_that_asks_for_it() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)

    assert float(done.stdout) < 1.2
