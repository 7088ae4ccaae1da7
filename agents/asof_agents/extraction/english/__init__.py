"""Extraction by English rules that an ontology's cues drive."""

__all__ = [
    "clause_times",
    "context",
    "cue_words",
    "dates",
    "examples",
    "explanation",
    "extractor",
    "first_names",
    "lexicon",
    "meaning",
    "patterns",
    "verb_phrases",
    "verbs",
    "version",
    "weight",
    "word_roots",
]
