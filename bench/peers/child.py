"""A peer in a process of its own: python -m bench.peers.child NAME FOLDER MODEL FACTS.

It loads the facts, searches, and says what it can do, with the time of both. Then it answers each line on stdin, a
subject with the number of its first call and how many there are: with the processor time of its whole tree of
processes, and the time by the clock. At the end of its input it says how much memory it took.
"""

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import get_native_id
from typing import Any, Final

from bench.peers.subjects import SUBJECTS, Peer, facts, questions

_QUIET: Final = 0.7  # seconds in which nobody works or waits to: nothing is left, though asof pauses for half of one
_LITTLE: Final = 0.02  # seconds of processor time that are no work


def main() -> None:
    name, folder, model, among = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    said, sys.stdout = sys.stdout, sys.stderr  # a package may print
    peer: Peer = import_module(f"bench.peers.adapters.{name}_peer").NewPeer(folder, model)
    can = [subject.name for subject in SUBJECTS if hasattr(peer, subject.name)]
    said_first = {"version": peer.version, "can": can, "times": _loaded(peer, among)}
    print(json.dumps(said_first), file=said, flush=True)
    for line in sys.stdin:
        print(json.dumps(_measured(peer, among, **json.loads(line))), file=said, flush=True)
    memory = sum(_peak(process) for process in _tree())
    peer.close()
    print(json.dumps({"peak": memory}), file=said, flush=True)


def _loaded(peer: Peer, among: int) -> dict[str, dict[str, float]]:
    """Load the facts and search at once; return the time of each, to the search what the load left to do behind it.

    A peer that keeps no facts has no such times.
    """
    given, question = facts(0, among, among), questions(0, 1, among)[0]
    times = {"load": _timed(lambda: peer.load(given), among)}
    if hasattr(peer, "search"):
        times["first search"] = _timed(lambda: peer.search(question), settles=True)
    _settled()
    return times if hasattr(peer, "state") else {}


def _timed(work: Callable[[], object], units: int = 1, *, settles: bool = False) -> dict[str, float]:
    """Return the seconds that a unit of some work takes, of processor time and by the clock; settles: its rest too."""
    before, began = _worked(), time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    worked = (_settled() if settles else _worked()) - before
    return {"processor": worked / units, "clock": seconds / units}


def _measured(peer: Peer, among: int, subject: str, start: int, count: int) -> dict[str, float]:
    """Return the seconds that a unit takes, of processor time and by the clock."""
    [measured] = [one for one in SUBJECTS if one.name == subject]
    call, given = getattr(peer, subject), measured.drawn(start, count, among)
    units = sum(len(one) if isinstance(one, list) else 1 for one in given)
    return _timed(lambda: [call(one) for one in given], units, settles=measured.writes)


def _settled() -> float:
    """Wait until no process of the tree has anything to do; return what they worked until then."""
    before, worked = -1.0, _worked()
    while worked - before > _LITTLE or any(map(_waits, _tree())):
        time.sleep(_QUIET)
        before, worked = worked, _worked()
    return worked


def _worked() -> float:
    """Return the seconds of processor time of all processes of the tree so far, of those that ended too."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = sum(time.clock_gettime((~process << 3) | 2) for process in _tree()[1:])  # as Linux numbers their clocks
    return time.process_time() + ended.ru_utime + ended.ru_stime + running


def _waits(process: int) -> bool:
    """Whether a thread of a process, other than this one, works or waits for a processor."""
    for task in Path(f"/proc/{process}/task").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if int(task.name) != get_native_id() and (task / "stat").read_text().rpartition(")")[2].split()[0] == "R":
                return True
    return False


def _tree(process: int | None = None) -> list[int]:
    process = process or os.getpid()
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [process, *(one for task in tasks for child in task.read_text().split() for one in _tree(int(child)))]


def _peak(process: int) -> float:
    """Return the most megabytes that a process had resident."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0]) / 1e3


def embedder() -> Any:
    """Return the embedder that all peers share: words and their parts, hashed."""
    return import_module("asof_projections.embedding.hashing").HashingEmbedder()


if __name__ == "__main__":
    main()
