"""The graph store in one SQLite file."""

__all__ = ["base", "episode_reader", "inspection", "scans", "schema", "snapshots", "store"]
