"""asof beside other memories and stores. Each of these imports this package in an environment of its own."""

from typing import Final

TITLES: Final = {
    "asof": "asof",
    "sqlite": "SQLite by hand",
    "duckdb": "DuckDB",
    "eventsourcing": "eventsourcing",
    "memvara": "Memvara",
    "mem0": "mem0",
    "graphiti": "Graphiti",
    "cognee": "cognee",
}
