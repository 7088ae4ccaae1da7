"""The data model: query models, answer models, and the rows that stores return."""

__all__ = [
    "answers",
    "builds",
    "comparisons",
    "contexts",
    "periods",
    "prices",
    "prompts",
    "queries",
    "rows",
    "usage",
    "write_answers",
]
