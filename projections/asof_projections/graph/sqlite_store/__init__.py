"""The graph store in one SQLite file."""

__all__ = ["base", "inspection", "scans", "schema", "store"]
