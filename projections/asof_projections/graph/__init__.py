"""The graph store: its port, and one adapter for each database."""

__all__ = [
    "arango",
    "ports",
    "sqlite_store",
]
