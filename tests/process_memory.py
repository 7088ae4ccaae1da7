"""How much memory a process has, as Linux says; programs that measure themselves run in new interpreters."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent


def private_megabytes() -> float:
    """Return the memory of this process that is of no file."""
    return _megabytes("RssAnon")


def peak_megabytes() -> float:
    """Return the most memory that this process has had since its start."""
    return _megabytes("VmHWM")


def printed_by(program: str, *arguments: object) -> list[float]:
    """Run a program, which can import this module, in a new interpreter; return the numbers that it prints."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [*map(float, done.stdout.split())]


def _megabytes(field: str) -> float:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1e3
