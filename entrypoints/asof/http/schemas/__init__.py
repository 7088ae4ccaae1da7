"""The bodies of requests and answers, and the problems."""

__all__ = [
    "body",
    "graphiti",
    "graphiti_mapping",
    "problems",
    "v1",
]
