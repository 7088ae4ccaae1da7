"""Discord: messages, replies, reactions, edits and deletions of those who opted in, and the answers to them."""

__all__ = ["process"]
