"""Measure this version beside another: python -m bench.versions --beside DIR, where DIR has a work tree and its .venv.

Each subject is run in both versions, in turns and in one run: so both see the same machine, however busy it is. Times
are of the processor, in milliseconds: the least of each version, and the median of the ratios by round.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench import synthetic
from bench.material import Material

ROOT: Final = Path(__file__).resolve().parents[1]
_CHAT: Final = 120  # messages
_ASKED: Final = 100  # questions of each kind in a round
Times = defaultdict[str, tuple[list[float], list[float]]]  # by subject: those of the other version, and of this one


@dataclass(frozen=True)
class Version:
    """A work tree with an interpreter of its own, and a folder for what it writes."""

    tree: Path
    folder: Path

    def command(self, program: str, *arguments: object) -> list[str]:
        return [str(self.tree / ".venv" / "bin" / program), *map(str, arguments)]

    def run(self, command: list[str]) -> float:
        """Return the milliseconds of processor time of a command, those of its own children included."""
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.tree)
        after = os.times()
        return (after.children_user - before.children_user + after.children_system - before.children_system) * 1e3


class Process:
    """A process of a version in which questions and small writes are measured; see bench/version_subjects.py."""

    def __init__(self, version: Version, facts: Path, chat: Path, opened: ExitStack) -> None:
        script = ROOT / "bench" / "version_subjects.py"
        command = version.command("python", "-P", script, version.folder, _ASKED, facts, chat)
        self._process = opened.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=version.tree)
        )
        opened.callback(self._process.kill)

    def subjects(self) -> list[str]:
        """Wait until all is prepared; return the names of what can be measured."""
        return list(self._answer())

    def measure(self, subject: str) -> float:
        assert self._process.stdin is not None
        print(json.dumps(subject), file=self._process.stdin, flush=True)
        return float(self._answer())

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


def compare(versions: tuple[Version, Version], folder: Path, facts: int, rounds: int, runs: int) -> Times:
    """Return the milliseconds of each subject by round."""
    every, some, chat = folder / "facts.jsonl", folder / "some.jsonl", folder / "chat.jsonl"
    every.write_bytes(b"".join(synthetic.fact_lines(facts)))
    some.write_bytes(b"".join(islice(synthetic.fact_lines(facts), facts // 5)))
    chat.write_bytes(b"\n".join(line.strip() for line in Material(folder, 1).chat(_CHAT)[1]))
    name = synthetic.fact(facts // 2, facts)["subject"]
    times: Times = defaultdict(lambda: ([], []))
    with ExitStack() as opened:
        processes = [Process(version, every, chat, opened) for version in versions]
        subjects, _ = [process.subjects() for process in processes]
        for number in range(rounds):
            for subject in subjects:
                for which in _turns(number):
                    times[subject][which].append(processes[which].measure(subject))
        for number in range(runs):
            both = [_commands(version, some, facts // 5, name, number) for version in versions]
            for subject in both[0]:
                for which in _turns(number):
                    command, units = both[which][subject]
                    times[subject][which].append(versions[which].run(command) / units)
    return times


def _turns(number: int) -> tuple[int, int]:
    return (0, 1) if number % 2 else (1, 0)


def _commands(version: Version, file: Path, facts: int, name: str, number: int) -> dict[str, tuple[list[str], int]]:
    """Return what is measured as a process from start to end: each command, and by how many units it is divided."""
    directory = version.folder / f"import-{number}"
    children = ("-m", "bench.children")
    return {
        f"`asof import` of {facts:,} facts, a fact": (
            version.command("python", *children, "import", directory, file),
            facts,
        ),
        "graph from its log, a fact": (version.command("python", *children, "projection", directory), facts),
        "`asof rebuild`, a fact": (version.command("python", *children, "generation", directory), facts),
        "fresh process: open, answer": (
            version.command("python", *children, "answer", version.folder / "facts", name),
            1,
        ),
        "`asof --help`": (version.command("asof", "--help"), 1),
    }


def _short(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:#.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("--beside", type=Path, required=True, metavar="DIR", help="the work tree of the other version")
    parser.add_argument("--facts", type=int, default=100_000, help="that are asked; a fifth of them is imported again")
    parser.add_argument("--rounds", type=int, default=40, help="of questions and small writes")
    parser.add_argument("--runs", type=int, default=5, help="of whole processes")
    chosen = parser.parse_args()
    with TemporaryDirectory(prefix="asof-versions-") as temporary:
        folder = Path(temporary)
        versions = Version(chosen.beside.resolve(), folder / "before"), Version(ROOT, folder / "now")
        for version in versions:
            version.folder.mkdir()
        load = os.getloadavg()[0]
        times = compare(versions, folder, chosen.facts, chosen.rounds, chosen.runs)
    print(f"load {load:.0f} at the start, {os.getloadavg()[0]:.0f} at the end", file=sys.stderr)
    print("| what | before, ms | now, ms | ratio |\n|---|---|---|---|")
    for subject, (before, now) in times.items():
        ratio = median(after / earlier for earlier, after in zip(before, now, strict=True))
        print(f"| {subject} | {_short(min(before))} | {_short(min(now))} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
