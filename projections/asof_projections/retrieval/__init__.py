"""Retrieval: facts by words and meaning, entities by similar names."""

__all__ = [
    "center",
    "search",
]
