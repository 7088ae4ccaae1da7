"""The words of a text as FTS5 has them: without accents and endings, each once. A graph elsewhere finds by the same."""

import sqlite3
from collections.abc import Sequence

_TABLES = """CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = "porter unicode61 remove_diacritics 2");
    CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance);"""


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """Return the words of each text, sorted."""
    words: list[list[str]] = [[] for _ in texts]
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(_TABLES)
        db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
        for place, word in db.execute("SELECT DISTINCT doc, term FROM words ORDER BY doc, term"):
            words[place].append(word)
    finally:
        db.close()
    return words
