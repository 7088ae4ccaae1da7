"""Ontologies and prompts as data: their models, and their loading, validation and adaptation to one message."""

__all__ = [
    "adaptation",
    "cues",
    "errors",
    "model",
    "prompts",
    "registry",
]
