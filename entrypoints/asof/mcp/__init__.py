"""The MCP door: tools for agents, each made of operations and of their models."""

__all__ = ["http", "install", "oauth", "stdio"]
