"""Extraction by a language model: requests, answers, and the journal that records them."""

__all__ = [
    "budget",
    "chat_model",
    "extractor",
    "journal",
    "prompts",
    "schemas",
    "usage",
]
