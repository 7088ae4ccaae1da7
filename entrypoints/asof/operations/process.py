"""Set-up of a process that runs operations: its allocator, where its log goes, what is installed and chosen."""

from asof.runtime.embedders import embedder_fallback, resolve_embedder
from asof.runtime.processes import log_to_stderr, tune_allocator
from asof_streams.distribution import install_command, version

__all__ = [
    "embedder_fallback",
    "install_command",
    "log_to_stderr",
    "resolve_embedder",
    "tune_allocator",
    "version",
]
