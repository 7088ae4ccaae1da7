"""Rebuilding: the graph from its own log, and a whole new generation from the episodic log."""

from collections.abc import Iterator
from typing import Any

from bench.figures import Figure, Target
from bench.material import Material, child


def measure(material: Material) -> Iterator[Figure]:
    facts = material.facts
    built = child("projection", material.directory)
    yield Figure(
        f"graph of {facts:,} facts from its log",
        "s",
        {"s": built["seconds"]},
        targets=(Target("s", 60),),
        note=f"{built['events']:,} events; {_used(built)}",
    )
    made = child("generation", material.directory)
    yield Figure(
        f"generation of {facts:,} facts from the episodic log",
        "s",
        {"s": made["seconds"]},
        note=f"asof rebuild; {_used(made)}",
    )


def _used(done: dict[str, Any]) -> str:
    return f"{done['cpu_seconds']:.0f} s of processor time, peak {done['peak_megabytes']:.0f} MB"
