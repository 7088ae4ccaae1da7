"""The agents turn messages into events: the engine, its handlers, extraction and resolution, and the Faust worker."""

__all__ = [
    "engine",
    "extraction",
    "handlers",
    "ports",
    "prefetcher",
    "resolution",
    "worker",
]
