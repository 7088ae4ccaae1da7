"""Vector indexes: their port, the projection that fills them, and the FAISS adapter."""

__all__ = ["faiss_index", "inspection", "late_selection", "ports", "projection", "snapshot"]
