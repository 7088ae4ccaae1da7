"""asof beside other memories and stores: the same facts and messages, the same model and embedder, in turns.

Each peer is a process of its own, in an environment of its own (bench/peers/environments.py), which has loaded the same
facts. Loads, each in a new process, and rounds of a subject are measured peer by peer, so that all see the same machine
(bench/peers/rounds.py). The figure of a peer is the median over its rounds: of the processor time of all its processes,
which includes what a write leaves to do behind it, and of the time by the clock.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import asof
from bench.figures import Figure, Values
from bench.material import Material
from bench.peers import TITLES
from bench.peers.environments import PINNED, installed_megabytes
from bench.peers.rounds import Found, Rounds
from bench.peers.subjects import LATENCY, SUBJECTS, facts, questions
from bench.service_memory import searched_megabytes

_FACTS: Final = 2_000  # at full scale
_SEARCHES: Final = 20  # of a service, before its memory is looked at
_MEMORIES: Final = ("memvara", "mem0", "graphiti", "cognee")  # beside the service: they embed and answer in a process
_FIRST: Final = {"load": "import, a fact", "first search": "first search after an import, with what it left to do"}


def measure(material: Material) -> Iterator[Figure]:
    among = material.facts_of_peers or material.count(_FACTS, 50)
    with _Model.started() as model:
        folder, names = material.folder / "peers", material.peers or TITLES
        rounds = Rounds(names, folder, (model.url, model.calls), among, material.scale)
        ends = rounds.run()
    titles = {name: f"{TITLES[name]} {hello['version']}" for name, hello in rounds.hellos.items()}
    yield from _times(rounds.found, titles, f"among {among:,} facts")
    keep = {title: ends[name]["disk"] for name, title in titles.items() if "state" in rounds.hellos[name]["can"]}
    yield Figure("disk, a fact", "bytes", keep)
    peaks = {title: ends[name]["peak"] for name, title in titles.items()}
    yield Figure("memory, peak of all processes", "MB", peaks)
    if "asof" in titles:
        beside = {title: peaks[title] for name, title in titles.items() if name in _MEMORIES}
        yield from _services(material, titles["asof"], among, beside)
    asked_for = {title: installed_megabytes(name) for name, title in titles.items() if name in {"asof", *PINNED}}
    if asked_for:
        yield Figure("installed, with all that it asks for", "MB", asked_for)


def _times(found: Found, titles: dict[str, str], among: str) -> Iterator[Figure]:
    """Yield what each subject takes of the processor and by the clock."""
    subjects = _FIRST | {subject.name: subject.title for subject in SUBJECTS}
    for subject, title in subjects.items():
        of = {titles[name]: found[subject][name] for name in titles if name in found[subject]}
        if not of:
            continue
        yield Figure(f"{title}, {among}", "ms of processor time", _medians(of, "processor", 1e3))
        note = f"of which a call takes {LATENCY * 1e3:.0f}" if subject == "read" else ""
        yield Figure(f"{title}: by the clock", "ms", _medians(of, "clock", 1e3), note=note)
        if subject == "read":
            yield Figure(f"{title}: calls of the model", "calls", _medians(of, "calls", 1))


def _services(material: Material, ours: str, among: int, beside: Values) -> Iterator[Figure]:
    """Yield the memory of `asof serve`, by the embedder of all peers, and by the one that it has itself."""
    directory, asked = material.folder / "served", questions(0, _SEARCHES, among)
    with asof.open(directory, embedder="none") as memory:
        memory.import_facts(facts(0, among, among))
    name = "memory of `asof serve`"
    yield Figure(
        f"{name}, beside the processes of others", "MB", {ours: searched_megabytes(directory, asked, "hash")} | beside
    )
    yield Figure(f"{name}, with MiniLM", "MB", {ours: searched_megabytes(directory, asked, "minilm")})


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
