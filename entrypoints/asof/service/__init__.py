"""The service: sessions of a memory for operations, and the service behind HTTP for many callers at once."""

__all__ = [
    "api_keys",
    "children",
    "consents",
    "contexts",
    "conversation",
    "served_conversation",
    "service",
    "session",
    "spans",
    "topic_responder",
]
