"""How many threads numpy's matrix products take: one, so that several products can run beside each other.

OpenBLAS splits every product over all cores and waits for the last by spinning. On products as small as a text's, on
a machine that has anything else to do, that wait is nearly all of the time: a hundred times the work itself.
"""

import ctypes
from functools import cache
from typing import Final

from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

_SETTERS: Final = [
    f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
]  # as numpy's own wheels name it, and as others build it


@cache
def use_one_thread() -> None:
    """Set it for this process. Where numpy has another BLAS than OpenBLAS there is nothing to set."""
    numpy = ctypes.CDLL(_multiarray_umath.__file__)  # finds what is in the libraries it is linked to
    for name in _SETTERS:
        setter = getattr(numpy, name, None)
        if setter is not None:
            setter(ctypes.c_int(1))
            return
