"""What a conversation needs beside memory: what each message of a chat is, and what it asks for."""

__all__ = ["checkins", "classification", "material", "templates"]
