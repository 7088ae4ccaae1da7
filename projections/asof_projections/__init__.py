"""The projections: read models that follow the logs, and the questions that are asked of them."""

__all__ = [
    "belief_cache",
    "confidence",
    "control",
    "conversation",
    "embedding",
    "entity_ids",
    "generations",
    "graph",
    "long_slot",
    "makers",
    "model",
    "names",
    "ports",
    "projector",
    "queries",
    "retrieval",
    "slot_cache",
    "spelling",
    "vectors",
    "versions",
]
