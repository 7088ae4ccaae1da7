"""The routes: ours under `/v1`, Graphiti's, and those of health."""

__all__ = [
    "conversation",
    "description",
    "feed",
    "generations",
    "graphiti",
    "groups",
    "health",
    "prompts",
    "routers",
    "v1",
]
