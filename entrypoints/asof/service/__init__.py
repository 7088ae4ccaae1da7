"""The service: a memory opened for operations, and what serves many callers at once behind HTTP."""

__all__ = [
    "api_keys",
    "service",
    "session",
]
