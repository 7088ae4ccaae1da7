"""The graph store in ArangoDB."""

__all__ = [
    "administration",
    "connection",
    "store",
]
