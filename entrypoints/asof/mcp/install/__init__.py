"""Writes `asof mcp` into the configuration of clients, and leaves all else in it as it was."""

__all__ = ["clients", "plan"]
