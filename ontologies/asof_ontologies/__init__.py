"""Ontologies and prompts as data: their models, and their loading, validation and adaptation to one message."""

__all__ = [
    "adaptation",
    "comparison",
    "cues",
    "errors",
    "model",
    "prompts",
    "registry",
]
