"""asof beside other memories and stores: the same facts and messages, the same model and embedder, in turns.

Each peer is a process of its own, in an environment of its own (bench/peers/environments.py), which has loaded the same
facts. Rounds of a subject are measured peer by peer, so that all see the same machine. The figure of a peer is the
median over its rounds of the processor time of all its processes, which includes what a write leaves to do behind it.
"""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from bench.figures import Figure, Values
from bench.material import Material
from bench.peers.process import PeerProcess
from bench.peers.subjects import LATENCY, SUBJECTS

TITLES: Final = {
    "asof": "asof",
    "sqlite": "SQLite by hand",
    "duckdb": "DuckDB",
    "eventsourcing": "eventsourcing",
    "memvara": "Memvara",
    "mem0": "mem0",
    "graphiti": "Graphiti",
}
_FACTS: Final = 2_000  # at full scale
_ROUNDS: Final = 5
Rounds = defaultdict[str, dict[str, list[Values]]]  # by subject and peer


def measure(material: Material) -> Iterator[Figure]:
    facts, scale = material.count(_FACTS, 50), min(material.scale, 1)
    with ExitStack() as opened:
        model = opened.enter_context(_Model.started())
        peers: dict[str, PeerProcess] = {}
        for name in material.peers or TITLES:
            try:
                peers[name] = PeerProcess(name, material.folder / "peers" / name, model.url, facts)
            except subprocess.CalledProcessError as failed:
                print(f"{name}: left out, since it cannot be installed: {failed}", file=sys.stderr)
                continue
            opened.callback(peers[name].kill)
        hellos = {name: peer.loaded() for name, peer in peers.items()}
        titles = {name: f"{TITLES[name]} {hello['version']}" for name, hello in hellos.items()}
        found: Rounds = defaultdict(lambda: defaultdict(list))
        for number in range(1 + max(round(_ROUNDS * scale), 2)):  # the first warms up
            for subject in SUBJECTS:
                count = max(round(subject.calls * scale), 2)
                able = [name for name, hello in hellos.items() if subject.name in hello["can"]]
                for name in able if number % 2 else reversed(able):
                    values = peers[name].measure(subject.name, number * count, count)
                    values["calls"] = model.calls() / count
                    if number:
                        found[subject.name][name].append(values)
        ends = {name: peer.end() for name, peer in peers.items()}
    among = f"among {facts:,} facts"
    for subject in (one for one in SUBJECTS if found[one.name]):
        of = {title: found[subject.name][name] for name, title in titles.items() if name in found[subject.name]}
        yield Figure(f"{subject.title}, {among}", "ms of processor time", _medians(of, "processor", 1e3))
        if subject.name == "read":
            yield Figure(f"{subject.title}: calls of the model", "calls", _medians(of, "calls", 1))
            note = f"of which a call takes {LATENCY * 1e3:.0f}"
            yield Figure(f"{subject.title}: by the clock", "ms", _medians(of, "clock", 1e3), note=note)
    keep = {title: ends[name]["disk"] for name, title in titles.items() if "state" in hellos[name]["can"]}
    yield Figure("disk, a fact", "bytes", keep)
    peaks = {title: ends[name]["peak"] for name, title in titles.items()}
    yield Figure("memory, peak of all processes", "MB", peaks)


def _medians(of: dict[str, list[Values]], what: str, scale: float) -> Values:
    return {name: median(one[what] for one in rounds) * scale for name, rounds in of.items()}


class _Model:
    """The model, in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.url = self._said()

    @classmethod
    @contextmanager
    def started(cls) -> Iterator["_Model"]:
        command = [sys.executable, str(Path(__file__).parent / "model.py"), str(LATENCY)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield cls(process)
            finally:
                process.kill()

    def calls(self) -> int:
        """Return how many there were since this was last asked."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return int(self._said())

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()
