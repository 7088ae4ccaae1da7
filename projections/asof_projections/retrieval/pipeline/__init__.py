"""The retrieval pipeline: a ranking profile that walks from what fits a question through the graph around it."""

__all__ = [
    "answers",
    "configuration",
    "query_entities",
    "search",
    "seeds",
]
