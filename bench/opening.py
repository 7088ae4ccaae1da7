"""A fresh process that opens a directory and answers; and how soon the command line speaks."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import synthetic
from bench.figures import Figure, Target, percentiles, timed
from bench.material import Material, child

_RUNS = 11  # at full scale


def measure(material: Material) -> Iterator[Figure]:
    name = synthetic.fact(material.facts // 2, material.facts)["subject"]
    runs = material.count(_RUNS, 1)
    whole, inner, memory = [], [], []
    for _ in range(runs):
        said: list[dict[str, float]] = []
        whole.append(timed(lambda said=said: said.append(child("answer", material.directory, name))))
        inner.append(said[0]["seconds"])
        memory.append(said[0]["peak_megabytes"])
    facts = f"{material.facts:,} facts"
    yield Figure(f"fresh process: open {facts}, answer", "s", percentiles(whole), targets=(Target("p50", 2),))
    yield Figure("of this: open and answer alone", "s", percentiles(inner))
    yield Figure("peak resident memory of it", "MB", {"MB": max(memory)}, targets=(Target("MB", 2_000),))
    bare = percentiles(timed(_run, sys.executable, "-c", "pass") for _ in range(runs))
    help_ = percentiles(timed(_run, Path(sys.executable).with_name("asof"), "--help") for _ in range(runs))
    yield Figure("asof --help", "s", help_, bare, "python -c pass", (Target("p50", 0.5),))


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
