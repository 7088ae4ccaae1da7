"""Making files last: what is written, or renamed, is on the disk when `sync` returns."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Put a file on the disk; or a folder, whose content is the names in it, so that a rename lasts."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
