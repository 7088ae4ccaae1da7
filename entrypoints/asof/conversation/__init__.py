"""The doors through which people talk: chat platforms, each with the same conversation behind it."""

__all__ = ["discord", "terminal"]
