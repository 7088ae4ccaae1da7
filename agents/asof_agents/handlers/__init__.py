"""The handlers: pure functions from one message, and a view of what is known, to its events."""

__all__ = [
    "entities",
    "episodes",
    "extraction_copy",
    "facts",
    "mentions",
    "statement_writer",
    "withdrawals",
]
