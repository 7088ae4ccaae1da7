"""Vector indexes: their port, the projection that fills them, and the FAISS adapter."""

__all__ = [
    "faiss_index",
    "ports",
    "projection",
    "snapshot",
]
