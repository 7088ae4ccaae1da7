"""Set-up of a process that runs operations: its allocator, and where its log goes."""

from asof.runtime.processes import log_to_stderr, tune_allocator

__all__ = ["log_to_stderr", "tune_allocator"]
