"""What a conversation needs beside memory: what each message of a chat is, and what it asks for."""

__all__ = [
    "archetypes",
    "asked_times",
    "checkins",
    "classification",
    "material",
    "prompts",
    "questions",
    "replies",
    "reply_model",
    "small_talk",
    "templates",
]
