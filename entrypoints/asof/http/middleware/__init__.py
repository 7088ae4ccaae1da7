"""The middleware: authentication, limits, metrics, tracing and unexpected errors."""

__all__ = [
    "authentication",
    "limits",
    "metrics",
    "tracing",
    "unexpected_errors",
]
