"""Extraction by English rules that an ontology's cues drive."""

__all__ = [
    "cue_words",
    "dates",
    "examples",
    "explanation",
    "extractor",
    "first_names",
    "lexicon",
    "version",
    "word_roots",
]
