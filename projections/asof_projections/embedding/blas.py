"""The number of threads of numpy's matrix products: one, so that several products can run in parallel.

OpenBLAS splits every product over all cores and spins until the last is done. For products as small as a text's, on a
busy machine, spinning takes a hundred times as long as the work.
"""

import ctypes
import os
from functools import cache
from typing import Final

from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

CORES: Final = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
_SETTERS: Final = [
    f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
]  # the names in numpy's own wheels and in other builds


@cache
def use_one_thread() -> None:
    """Set it for this process. With another BLAS than OpenBLAS nothing is set."""
    numpy = ctypes.CDLL(_multiarray_umath.__file__)  # it also finds the symbols of linked libraries
    for name in _SETTERS:
        setter = getattr(numpy, name, None)
        if setter is not None:
            setter(ctypes.c_int(1))
            return
