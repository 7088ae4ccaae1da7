"""Extraction: finds mentions, relationships and attributes in a turn, by English rules or a language model."""

__all__ = [
    "aims",
    "english",
    "hybrid",
    "llm",
    "ports",
    "reader",
    "registry",
    "replies",
    "turns",
]
