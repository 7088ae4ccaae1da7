"""The grammar of English time expressions: lexicon, rewriting rules, and the calendar they resolve on."""

__all__ = [
    "calendar_spans",
    "lexer",
    "rewriting",
    "rules_clock",
    "rules_directions",
    "understanding",
    "when",
]
