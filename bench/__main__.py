"""Measure: python -m bench [SUBJECT ...] [--scale full|small|SHARE]. A table here, JSON in bench/results/.

full is what the targets speak of, a million facts; small is a twentieth of it, to see that all runs. Data is made in a
temporary folder (TMPDIR says on which disk) and removed.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from asof.runtime.processes import tune_allocator
from bench import peers, synthetic
from bench.figures import Figure, machine, table, timed
from bench.material import Material

SUBJECTS = {  # the function that measures each
    "log": "logs.measure",
    "import": "importing.measure",
    "rebuild": "rebuilding.measure",
    "chat": "chatting.measure",
    "model": "asking.measure",
    "asof": "moments.measure",
    "vectors": "finding.measure",
    "open": "opening.measure",
    "growth": "growth.measure",
    "growth-model": "growth.measure_model",
    "shapes": "shapes.measure",
    "search": "searching.measure",
    "serve": "serving.measure",
    "serve-memory": "service_memory.measure",
    "mcp": "agents.measure",
    "conversation": "talking.measure",
    "generations": "generations.measure",
    "telemetry": "tracing.measure",
    "two-clocks": "two_clocks.measure",
    "kafka": "kafka.measure",
    "soak": "soak.measure",
    "generations-kafka": "generations.measure_on_kafka",
    "peers": "peers.comparison.measure",
    "agent-memory": "peers.agent_memory.measure",
    "scale": "scaling.measure",
    "scale-import": "scaling.measure_import",
}
ASKED = {"agent-memory", "peers", "scale", "scale-import"}  # measured only if named: they install, or take hours
SCALES = {"full": 1.0, "small": 0.05}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "subjects",
        nargs="*",
        metavar="SUBJECT",
        help=f"of {', '.join(SUBJECTS)}; all but {', '.join(sorted(ASKED))} if none is given",
    )
    parser.add_argument("--scale", default="full", help="full, small, or a multiple of full such as 0.01")
    parser.add_argument("--peers", nargs="+", choices=peers.TITLES, help="those that the subject peers compares")
    parser.add_argument("--facts", type=int, metavar="N", help="how many facts they load; by the scale, if left out")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent / "results", help="the folder for the JSON")
    chosen = parser.parse_args()
    if unknown := set(chosen.subjects) - SUBJECTS.keys():
        parser.error(f"no such subject: {', '.join(sorted(unknown))}; there are {', '.join(SUBJECTS)}")
    subjects = [subject for subject in SUBJECTS if subject in (chosen.subjects or SUBJECTS.keys() - ASKED)]
    scale = SCALES[chosen.scale] if chosen.scale in SCALES else float(chosen.scale)

    tune_allocator()  # as the command does, and every process of ours
    name = "-".join(subjects) if chosen.subjects else "all"
    chosen.into.mkdir(parents=True, exist_ok=True)
    file = chosen.into / f"{name}-{chosen.scale}.json"
    figures: list[tuple[str, Figure]] = []
    with TemporaryDirectory(prefix="asof-bench-") as temporary:
        result = {"scale": scale, "seed": synthetic.SEED, "machine": machine(Path(temporary))}
        material = Material(Path(temporary), scale, chosen.peers, chosen.facts)
        for subject in subjects:
            seconds = timed(lambda subject=subject: figures.extend((subject, f) for f in _measured(subject, material)))
            print(f"{subject}: measured in {seconds:.0f} s", file=sys.stderr, flush=True)
            result["load_average_at_end"] = os.getloadavg()
            result["figures"] = [{"subject": subject} | figure.to_json() for subject, figure in figures]
            file.write_text(json.dumps(result, indent=1) + "\n")  # after each: a long run may be broken off
    print(table(figures))


def _measured(subject: str, material: Material) -> Iterator[Figure]:
    """Yield the figures of a subject. What it needs is imported now: all of it takes longer than many a small scale."""
    module, _, function = SUBJECTS[subject].rpartition(".")
    yield from getattr(import_module(f"bench.{module}"), function)(material)


if __name__ == "__main__":
    main()
