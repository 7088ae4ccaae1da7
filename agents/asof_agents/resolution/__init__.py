"""Entity resolution: decides which entity a mention means."""

__all__ = [
    "entities",
    "episode_resolver",
    "exact",
    "judge",
    "open_facts",
    "structure",
    "wordings",
]
