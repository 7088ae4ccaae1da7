"""Quotes of stored text, for doors that word answers for a language model."""

from asof_projections.retrieval.quotes import quote

__all__ = ["quote"]
