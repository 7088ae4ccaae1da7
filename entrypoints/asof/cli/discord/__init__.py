"""The bot on Discord: what those who opted in say, take back and react with, and the answers to it."""

__all__ = []
