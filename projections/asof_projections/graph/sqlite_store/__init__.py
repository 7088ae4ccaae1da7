"""The graph store in one SQLite file."""

__all__ = [
    "base",
    "scans",
    "schema",
    "store",
]
