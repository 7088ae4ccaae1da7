"""The middleware: authentication, limits, metrics and unexpected errors."""

__all__ = [
    "authentication",
    "limits",
    "metrics",
    "unexpected_errors",
]
