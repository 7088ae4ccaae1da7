"""The agents turn messages into events: the engine, its handlers, extraction and resolution, and the Faust worker."""

__all__ = [
    "dry_run",
    "engine",
    "extraction",
    "generation",
    "handlers",
    "layer",
    "ports",
    "prefetcher",
    "resolution",
    "worker",
]
