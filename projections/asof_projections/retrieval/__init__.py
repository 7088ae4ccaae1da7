"""Retrieval: facts by words and meaning, entities by similar names, turns by many signals."""

__all__ = [
    "about",
    "center",
    "changes",
    "context",
    "pipeline",
    "question",
    "quotes",
    "relations",
    "rule_scopes",
    "search",
    "token_count",
    "turns",
]
