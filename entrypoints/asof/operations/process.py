"""Set-up of a process that runs operations: its allocator, where its log goes, and what is installed."""

from asof.runtime.processes import log_to_stderr, tune_allocator
from asof_streams.distribution import install_command, version

__all__ = ["install_command", "log_to_stderr", "tune_allocator", "version"]
