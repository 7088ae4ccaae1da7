"""The Python API: Memory, its asynchronous twin, and what `import asof` offers."""

__all__ = [
    "exports",
]
