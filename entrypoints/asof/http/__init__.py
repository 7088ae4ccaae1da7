"""The HTTP service: messages in over Graphiti's routes, on the log before the answer; a worker behind it; answers."""

__all__ = [
    "server",
]
