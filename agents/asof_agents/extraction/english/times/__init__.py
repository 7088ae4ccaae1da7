"""The grammar of English time expressions: lexicon, rewriting rules, and the calendar they resolve on."""

__all__ = [
    "calendar_spans",
    "completeness",
    "lexer",
    "rewriting",
    "rules_clock",
    "rules_directions",
    "when",
]
