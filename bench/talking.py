"""A conversation as its user waits for it: what a message takes beside the model, on one core, and how much memory.

The service and all its processes run on one core; the model is a fake one in a process of its own, which replies after
400 ms, and where a model reads what is said, answers that after four seconds. Processor time is that of the service and
of its search, which an answer waits for, without what is embedded while the model takes its time; the worker learns
behind it, and counts by the clock alone.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from asof.runtime.layout import DirectoryLayout
from bench import synthetic
from bench.figures import Figure, Target, percentiles
from bench.material import Material, child
from bench.random_vectors import give_vectors

_SERVER: Final = Path(__file__).resolve().parents[1] / "tests" / "reply_server.py"
_REPLY_SECONDS: Final = 0.4
_READ_SECONDS: Final = 4.0
_ASKED: Final = 200  # messages at full scale


def measure(material: Material) -> Iterator[Figure]:
    facts, count = material.count(100_000, 200), material.count(_ASKED, 5)
    directory, file = material.folder / "talked", material.folder / "talked.jsonl"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(facts))
    child("import", directory, file)
    give_vectors(DirectoryLayout(directory))
    with _model() as url:
        for reader in ("rules", "model"):
            yield from _figures(reader, facts, child("converse", directory, url, facts, count, reader))


def _figures(reader: str, facts: int, found: dict[str, Any]) -> Iterator[Figure]:
    slow = found["slowness"]
    learned = "each learned from before the next" if reader == "rules" else "while a model still reads the one before"
    what = f"answer among {facts:,} facts, {learned}"
    yield Figure(
        f"{what}, without the model's {_REPLY_SECONDS * 1e3:.0f} ms", "ms of processor time, scaled",
        percentiles(found["worked"], 1e3 / slow), targets=(Target("p95", 60),),
        note=f"divided by {slow:.2f}; {found['waiting']} of {found['messages']} answered before that was learned",
    )  # fmt: skip
    waited = [seconds - _REPLY_SECONDS for seconds in found["seconds"]]
    yield Figure(f"{what}, by the clock", "ms", percentiles(waited, 1e3))
    memory = found["megabytes"] | {"MB": sum(found["megabytes"].values())}
    note = "the most that each process had resident; what they share is counted several times"
    yield Figure(f"memory, {learned}", "MB", memory, targets=(Target("MB", 2_000),), note=note)


def spoken(count: int, facts: int) -> Iterator[str]:
    """Yield what a user says: questions about what is known, and what is new, in turns."""
    people = synthetic.subjects(facts)
    for number in range(count):
        who, place = synthetic.person(number * 7 % people), synthetic.invented("place", number)
        if number % 2:
            yield f"I went to {place} with {who} yesterday, and we met {synthetic.invented('person', number)} there."
        else:
            yield f"Where does {who} live, and who are their friends?"


def settle(processes: "Processes", seconds: float = 0.2) -> None:
    """Wait until no process has anything to do."""
    before, spent = -1.0, processes.worked(everybody=True)
    while spent - before > seconds / 50:
        time.sleep(seconds)
        before, spent = spent, processes.worked(everybody=True)


class Processes:
    """This process and all that it has started."""

    def __init__(self, directory: Path) -> None:
        self._learning = int((directory / "writer.lock").read_text())  # the worker

    def worked(self, *, everybody: bool = False) -> float:
        """Return the seconds of processor time so far, but for the worker's; everybody: with that."""
        return sum(_worked(process) for process in self.all if everybody or process != self._learning)

    def megabytes(self) -> dict[str, float]:
        """Return the most that each process has had resident: the service, its worker, and what searches."""
        named = {os.getpid(): "service", self._learning: "worker"}
        return {named.get(process, "search"): _peak_megabytes(process) for process in self.all}

    @cached_property
    def all(self) -> list[int]:
        """Their ids, as of when they are first asked for."""
        tasks = Path("/proc/self/task").glob("*/children")
        return [os.getpid(), *(int(process) for task in tasks for process in task.read_text().split())]


def _worked(process: int) -> float:
    return time.clock_gettime((~process << 3) | 2)  # the clock of another process, as Linux numbers it


def _peak_megabytes(process: int) -> float:
    status = Path("/proc", str(process), "status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1e3


@contextmanager
def _model() -> Iterator[str]:
    """Start a model; give its address."""
    command = [sys.executable, str(_SERVER), str(_REPLY_SECONDS), str(_READ_SECONDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
