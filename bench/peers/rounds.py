"""The rounds of a comparison: all peers load the same facts, then take turns at each subject."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from bench.figures import Values
from bench.peers.environments import interpreter
from bench.peers.process import PeerProcess
from bench.peers.subjects import SUBJECTS

_LOADS: Final = 3  # of each peer at full scale
Found = dict[str, dict[str, list[Values]]]  # by subject and peer, what each round measured


class Rounds:
    """The peers of some names, each in a process that loaded so many facts last; scale: of all rounds and calls.

    One that cannot be installed is left out. calls: how many calls of the model there were since this was last asked.
    """

    def __init__(
        self, names: Iterable[str], folder: Path, model: tuple[str, Callable[[], int]], facts: int, scale: float
    ) -> None:
        self.hellos: dict[str, dict[str, Any]] = {}
        self.found: Found = defaultdict(lambda: defaultdict(list))
        self._names = [name for name in names if _installed(name)]
        self._peers: dict[str, PeerProcess] = {}
        self._folder, self._facts, self._scale = folder, facts, min(scale, 1)
        self._url, self._calls = model

    def run(self) -> dict[str, dict[str, float]]:
        """Measure everything; return of each peer what it says at its end."""
        with ExitStack() as begun:
            for number in range(max(round(_LOADS * self._scale), 1)):
                for name in self._in_turn(number):
                    self._load(name, number, begun)
            for number in range(1 + max(self._rounds(subject.rounds) for subject in SUBJECTS)):
                self._measure(number)
            return {name: peer.end() for name, peer in self._peers.items()}

    def _rounds(self, full: int) -> int:
        return max(round(full * self._scale), min(full, 2))

    def _in_turn(self, number: int) -> list[str]:
        """Return the names in the order of a round: in every second one the last comes first."""
        return self._names[::-1] if number % 2 else self._names

    def _load(self, name: str, number: int, begun: ExitStack) -> None:
        """Let a peer load the facts in a process of its own, in place of the one that there is."""
        if name in self._peers:
            self._peers[name].kill()
        peer = self._peers[name] = PeerProcess(name, self._folder / f"{name}-{number}", self._url, self._facts)
        begun.callback(peer.kill)
        self.hellos[name] = peer.loaded()
        for subject, values in self.hellos[name]["times"].items():
            self.found[subject][name].append(values)

    def _measure(self, number: int) -> None:
        """Measure each subject that has such a round; the first one warms up, where there are several."""
        for subject in SUBJECTS:
            if number > self._rounds(subject.rounds):
                continue
            count = max(round(subject.calls * self._scale), min(subject.calls, 2))
            for name in self._in_turn(number):
                if subject.name in self.hellos[name]["can"]:
                    values = self._peers[name].measure(subject.name, number * count, count)
                    values["calls"] = self._calls() / count
                    if number:
                        self.found[subject.name][name].append(values)


def _installed(name: str) -> bool:
    try:
        interpreter(name)
    except subprocess.CalledProcessError as failed:
        print(f"{name}: left out, since it cannot be installed: {failed}", file=sys.stderr)
        return False
    return True
