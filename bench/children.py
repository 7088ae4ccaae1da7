"""What is measured in a process of its own, so that its memory and its start are its own: says JSON on stdout."""

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import asof
from bench.figures import peak_megabytes


def import_(directory: str, file: str) -> dict[str, Any]:
    """Import a file of facts; `chunks` are the seconds of every thousand lines, as each was acknowledged."""
    began = time.perf_counter()
    moments = [began]
    with asof.open(directory, embedder="none") as memory, Path(file).open("rb") as lines:
        done = memory.import_facts(lines, acknowledged=lambda *_: moments.append(time.perf_counter()))
    return {
        "seconds": time.perf_counter() - began,
        "chunks": [after - before for before, after in pairwise(moments)],
        "accepted": done.accepted,
        "refused": len(done.refused),
        "parked": done.parked,
    }


def projection(directory: str) -> dict[str, Any]:
    """Build the graph of the generation that answers anew from its log, at another place."""
    from asof.bootstrap import existing, open_log
    from asof.places import Places
    from asof_projections.projector import rebuild

    places = Places(Path(directory))
    name = existing(places).active
    with open_log(places, "semantic") as log:
        began = time.perf_counter()
        rebuild(log, places.root / f"{name}.rebuilt.db")
        return {"seconds": time.perf_counter() - began, "events": log.end()}


def generation(directory: str) -> dict[str, Any]:
    """Build a new generation from the episodic log, and drop it."""
    with asof.open(directory, embedder="none") as memory:
        began = time.perf_counter()
        memory.rebuild("bench")
        seconds = time.perf_counter() - began
        memory.drop("bench")
    return {"seconds": seconds}


def answer(directory: str, name: str) -> dict[str, Any]:
    """Open a directory and answer one question."""
    began = time.perf_counter()
    with asof.open(directory, embedder="none") as memory:
        found = memory.facts(about=name, group_id="bench")
        return {"seconds": time.perf_counter() - began, "found": len(found)}


_PROGRAMS = {"import": import_, "projection": projection, "generation": generation, "answer": answer}

if __name__ == "__main__":
    said = _PROGRAMS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(said | {"cpu_seconds": time.process_time(), "peak_megabytes": peak_megabytes()}))
