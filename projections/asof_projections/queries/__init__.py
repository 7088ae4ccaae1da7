"""The questions that a graph answers: as of a moment, over time, why, and as an export."""

__all__ = [
    "comparison",
    "consistent_read",
    "consolidations",
    "effects",
    "export",
    "reports",
    "summaries",
    "temporal",
    "timelines",
]
