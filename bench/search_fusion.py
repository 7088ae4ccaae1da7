"""How words and meaning are best added up: evidence recall over the turns of real conversations.

    .venv/bin/python bench/search_fusion.py [FOLDER of conversations and questions.jsonl]

Evidence recall@10: of a question's evidence turns, the share among the first ten turns found; the mean over all
questions that have an answer. Words are BM25 as the graph asks for it; meaning is the cosine of all-MiniLM-L6-v2.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.retrieval.question import content_words

Scores = NDArray[np.float64]
TOP = 10
DATA = Path(os.environ.get("ASOF_TEST_DATA", Path(__file__).parents[2] / "shared" / "data")) / "locomo-dev"


class Conversation:
    """The turns of one group, with the scores that words and meaning give them for a question."""

    def __init__(self, path: Path, embedder: MiniLMEmbedder) -> None:
        turns = [json.loads(line) for line in path.open(encoding="utf-8")]
        self.names = [turn["name"] for turn in turns]
        self._embedder = embedder
        self._vectors = embedder.embed([turn["content"] for turn in turns])
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61 remove_diacritics 2')")
        self._db.executemany("INSERT INTO t VALUES (?)", [(f"{turn['role']}: {turn['content']}",) for turn in turns])

    def words(self, question: str) -> Scores:
        scores = np.zeros(len(self.names))
        match = " OR ".join(f'"{word}"' for word in content_words(question).split())
        for row, score in self._db.execute("SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (match,)):
            scores[row - 1] = score
        return scores

    def meaning(self, question: str) -> Scores:
        scores: Scores = (self._vectors @ self._embedder.embed([question])[0]).astype(np.float64)
        return scores


def weighed(weight: float) -> Callable[[Scores, Scores], Scores]:
    return lambda words, meaning: weight * words / max(words.max(), 1e-9) + (1 - weight) * meaning


def reciprocal_ranks(words: Scores, meaning: Scores) -> Scores:
    said, meant = (np.argsort(np.argsort(-scores, kind="stable"), kind="stable") for scores in (words, meaning))
    return 1 / (60 + said) + 1 / (60 + meant)


WAYS: dict[str, Callable[[Scores, Scores], Scores]] = {
    "words alone": lambda words, _: words,
    "meaning alone": lambda _, meaning: meaning,
    "reciprocal ranks": reciprocal_ranks,
    **{f"{w} words + {1 - w:.1f} meaning": weighed(w) for w in (0.4, 0.5, 0.6, 0.7, 0.8)},
}


def main(folder: Path) -> None:
    embedder = MiniLMEmbedder()
    paths = [path for path in sorted(folder.glob("*.jsonl")) if path.name != "questions.jsonl"]
    conversations = {path.stem: Conversation(path, embedder) for path in paths}
    recalls: dict[str, list[float]] = {way: [] for way in WAYS}
    for line in (folder / "questions.jsonl").open(encoding="utf-8"):
        asked = json.loads(line)
        if asked["category"] == "adversarial" or not asked["evidence"]:
            continue
        turns = conversations[asked["group_id"]]
        words, meaning = turns.words(asked["question"]), turns.meaning(asked["question"])
        for way, add in WAYS.items():
            found = {turns.names[row] for row in np.argsort(-add(words, meaning), kind="stable")[:TOP]}
            recalls[way].append(len(found & set(asked["evidence"])) / len(set(asked["evidence"])))
    for way, recall in recalls.items():
        print(f"{way:28} {100 * sum(recall) / len(recall):5.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
