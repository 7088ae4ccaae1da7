"""The bodies of requests and answers, and the problems."""

__all__ = [
    "body",
    "conversation",
    "graphiti",
    "graphiti_mapping",
    "problems",
    "v1",
]
