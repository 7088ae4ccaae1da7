"""OAuth 2.1 of `/mcp` as a resource server: access tokens of an authorization server, beside the API keys."""

__all__ = ["resource", "tokens"]
