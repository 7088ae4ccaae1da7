"""What a bot knows of its conversations: who said what where, what was answered, its check-ins and its prompts."""

__all__ = ["inspection", "model", "prompts", "store"]
