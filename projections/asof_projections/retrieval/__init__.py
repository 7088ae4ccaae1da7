"""Retrieval: facts by words and meaning, entities by similar names."""

__all__ = [
    "search",
]
