"""What is measured: a figure, the baseline run beside it, the target it is held to; and the machine it ran on."""

import _sqlite3 as sqlite3_module
import ctypes
import math
import os
import platform
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
_PER_MEGABYTE = 1e6 if sys.platform == "darwin" else 1e3  # of what getrusage counts in
_STEPS = 2_000_000  # of the loop that processor time is scaled by: a machine that is busy or slow is so in both
_LOOP_SECONDS = 0.1  # that they take on the machine that the targets speak of
Values = dict[str, float]


@dataclass(frozen=True)
class Target:
    """What a figure must reach: one of its values, or (`ratio p50`) the ratio of that value to its baseline's."""

    value: str
    limit: float
    at_least: bool = False

    def holds(self, values: Values) -> bool:
        return values[self.value] >= self.limit if self.at_least else values[self.value] <= self.limit

    def __str__(self) -> str:
        return f"{self.value} {'>=' if self.at_least else '<='} {self.limit:,g}"


@dataclass(frozen=True)
class Figure:
    """One measured thing: its values by name (percentiles, or one), and those of its baseline."""

    name: str
    unit: str
    values: Values
    baseline: Values | None = None
    beside: str = ""  # what the baseline is
    targets: tuple[Target, ...] = ()
    note: str = ""

    @property
    def ratios(self) -> Values:
        """The values as multiples of the baseline's."""
        beside = self.baseline or {}
        return {f"ratio {name}": self.values[name] / beside[name] for name in self.values if beside.get(name)}

    @property
    def holds(self) -> bool | None:
        """Whether every target is reached; None where there is none."""
        found = self.values | self.ratios
        return all(target.holds(found) for target in self.targets) if self.targets else None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "values": {name: _short(value) for name, value in self.values.items()},
            "baseline": self.baseline and {name: _short(value) for name, value in self.baseline.items()},
            "beside": self.beside,
            "ratios": {name: _short(value) for name, value in self.ratios.items()},
            "targets": [str(target) for target in self.targets],
            "holds": self.holds,
            "note": self.note,
        }


def percentiles(samples: Iterable[float], scale: float = 1.0) -> Values:
    """Return the nearest-rank percentiles of samples, each multiplied by `scale`."""
    ordered = sorted(samples)
    return {name: ordered[math.ceil(share * len(ordered)) - 1] * scale for name, share in SHARES.items()}


def slowness() -> float:
    """Return the processor time of a loop as a multiple of what it takes on the machine that the targets speak of."""
    began, total = time.thread_time(), 0
    for step in range(_STEPS):
        total += step & 7
    return (time.thread_time() - began) / _LOOP_SECONDS


def timed(call: Callable[..., object], *arguments: Any) -> float:
    """Return how many seconds a call takes."""
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def side_by_side(
    first: Callable[[Any], object], second: Callable[[Any], object], inputs: Iterable[Any]
) -> list[Values]:
    """Call both for each input, in turns of who is first, so that both see the same machine; return milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    for number, given in enumerate(inputs):
        turns = [(times[0], first), (times[1], second)]
        for spent, call in turns if number % 2 else reversed(turns):
            spent.append(timed(call, given))
    return [percentiles(found, 1e3) for found in times]


def table(figures: Sequence[tuple[str, Figure]]) -> str:
    """Return figures as aligned lines. Several numbers without names are percentiles: p50, p95, p99, p99.9."""
    rows = [("subject", "figure", "measured", "unit", "beside", "ratio", "target", "holds")]
    for subject, f in figures:
        values, beside = _listed(f.values), _listed(f.baseline or {})
        ratio = " / ".join(f"{value:.2f}" for value in f.ratios.values())
        holds = {True: "yes", False: "NO", None: ""}[f.holds]
        rows.append((subject, f.name, values, f.unit, beside, ratio, ", ".join(map(str, f.targets)), holds))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def machine(folder: Path) -> dict[str, Any]:
    """Return what the figures depend on; `folder` is where the data is."""
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "file_system": _file_system(folder),
        "load_average": os.getloadavg(),
    }


def peak_megabytes() -> float:
    """Return the most memory that this process, or one that it waited for, has had resident since its start."""
    waited_for = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / _PER_MEGABYTE
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says of this process includes what its parent had
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return max(waited_for, int(line.split()[1]) / 1e3)
    return max(waited_for, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _PER_MEGABYTE)


def sqlite_megabytes() -> float:
    """Return what SQLite has allocated in this process, nearly all of it pages; 0 where its library does not say."""
    library = ctypes.CDLL(sqlite3_module.__file__)
    try:
        used = library.sqlite3_memory_used
    except AttributeError:
        return 0.0
    used.restype = ctypes.c_int64
    return float(used()) / 1e6


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "unknown"
    found = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    under = [(len(point), kind) for point, kind in found if folder.resolve().is_relative_to(point)]
    return max(under)[1]


def _listed(values: Values) -> str:
    if len(values) < 2 or values.keys() <= SHARES.keys():
        return " / ".join(f"{_short(value):,}" for value in values.values())
    return " / ".join(f"{name} {_short(value):,}" for name, value in values.items())


def _short(value: float) -> float:
    if abs(value) >= 1_000:
        return round(value)
    return float(f"{value:.4g}")
