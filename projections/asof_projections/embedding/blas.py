"""Matrix products of numpy: how OpenBLAS makes them, and their number of threads: one, so that several run in parallel.

OpenBLAS splits every product over all cores and spins until the last is done. For products as small as a text's, on a
busy machine, spinning takes a hundred times as long as the work.
"""

import ctypes
import os
from functools import cache
from typing import Any, Final

from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

CORES: Final = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
_NAMES: Final = [
    (f"{prefix}openblas_", suffix) for prefix in ("scipy_", "") for suffix in ("64_", "")
]  # around those of functions, in numpy's own wheels and in other builds
_WITH_SMALL_PRODUCTS: Final = b"SkylakeX"  # as OpenBLAS calls any processor with AVX-512, in numpy's wheels


@cache
def use_one_thread() -> None:
    """Set it for this process. With another BLAS than OpenBLAS nothing is set."""
    setter = _function("set_num_threads")
    if setter is not None:
        setter(ctypes.c_int(1))


@cache
def has_small_products() -> bool:
    """Return whether small matrices are multiplied from where they lie: OpenBLAS does so on some processors alone."""
    name_of_core = _function("get_corename")
    if name_of_core is None:
        return False
    name_of_core.restype = ctypes.c_char_p
    return bool(name_of_core() == _WITH_SMALL_PRODUCTS)


def _function(name: str) -> Any:
    """Return a function of OpenBLAS; None: it is another BLAS."""
    numpy = ctypes.CDLL(_multiarray_umath.__file__)  # it also finds the symbols of linked libraries
    found = (getattr(numpy, f"{prefix}{name}{suffix}", None) for prefix, suffix in _NAMES)
    return next((function for function in found if function is not None), None)
