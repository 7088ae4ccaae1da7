"""Entity resolution: decides which entity a mention means."""

__all__ = [
    "entities",
    "exact",
    "judge",
    "structure",
    "unlinked",
]
