"""The agents turn messages into events: the engine, its handlers, extraction and resolution, and the Faust worker."""

__all__ = [
    "consolidation",
    "dry_run",
    "engine",
    "extraction",
    "generation",
    "handlers",
    "layer",
    "meter",
    "parking",
    "ports",
    "prefetcher",
    "resolution",
    "worker",
]
