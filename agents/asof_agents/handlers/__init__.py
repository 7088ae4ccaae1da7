"""The handlers: pure functions from one message, and a view of what is known, to its events."""

__all__ = [
    "entities",
    "episodes",
    "extraction_copy",
    "facts",
    "identities",
    "invalidations",
    "mentions",
    "objectives",
    "posts",
    "statement_writer",
    "structured_facts",
    "withdrawals",
]
