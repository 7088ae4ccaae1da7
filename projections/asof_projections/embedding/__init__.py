"""Embedders: their port, the models that compute vectors, and the cache of vectors."""

__all__ = [
    "blas",
    "cache",
    "endpoint",
    "hashing",
    "minilm",
    "openai",
    "ports",
    "sentence_transformers",
    "weights",
]
