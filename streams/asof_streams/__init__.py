"""The logs: messages, events and envelopes; the SQLite log, and under `kafka` the same logs as topics."""

__all__ = [
    "backoff",
    "chain",
    "distribution",
    "episodic",
    "errors",
    "events",
    "files",
    "ids",
    "instants",
    "kafka",
    "log",
    "messages",
    "options",
    "resource_pool",
    "semantic",
    "sqlite",
    "sqlite_log",
    "sqlite_requests",
    "tail",
    "writer_lock",
]
