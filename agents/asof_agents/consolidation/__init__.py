"""Consolidation: a pass over what changed in a group, whose results are events that take nothing away."""

__all__ = [
    "cycle",
    "undo",
]
