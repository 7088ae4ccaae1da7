"""The trained reader: the clauses of a message that are worth keeping, beside what the rules find."""

__all__ = ["extractor", "reader"]
