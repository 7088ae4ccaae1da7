"""The agents turn messages into events: the engine, its handlers, extraction and resolution, and the Faust worker."""

__all__ = [
    "believer",
    "consolidation",
    "conversation",
    "dry_run",
    "engine",
    "extraction",
    "generation",
    "handlers",
    "layer",
    "meter",
    "parking",
    "partition_task",
    "ports",
    "prefetcher",
    "resolution",
    "worker",
]
