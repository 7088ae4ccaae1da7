"""Set-up of a process that runs operations: its allocator, where its log goes, what is installed and chosen."""

from asof.runtime.embedders import embedder_fallback, resolve_embedder
from asof.runtime.forks import can_fork, fork
from asof.runtime.processes import log_to_stderr, tune_allocator
from asof_streams.distribution import install_command, version
from asof_streams.files import locked_file
from asof_streams.files import make_folder as make_private_folder

__all__ = [
    "can_fork",
    "embedder_fallback",
    "fork",
    "install_command",
    "locked_file",
    "log_to_stderr",
    "make_private_folder",
    "resolve_embedder",
    "tune_allocator",
    "version",
]
