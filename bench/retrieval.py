"""Conversations with questions about them, asked through the real store: what searches weigh, and what they find.

A folder has a file of messages for each conversation and questions.jsonl: group_id, question, category, and as evidence
the names of the turns that hold the answer. Questions without an answer are left out.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import asof
from asof.runtime.layout import DirectoryLayout
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import HEAD
from asof_projections.retrieval.profile import profile
from asof_projections.retrieval.turns import EpisodeSearch
from asof_projections.vectors.projection import turns_of
from bench.indexes import filled_index

DATA: Final = (
    Path(os.environ.get("ASOF_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "locomo-dev"
)
_FIELDS: Final = ("group_id", "name", "role", "role_type", "content", "timestamp", "source_description")


class Asked(NamedTuple):
    """A question, its evidence, and what a search weighs for it."""

    group: str
    question: str
    category: str
    evidence: frozenset[str]  # names of turns
    names: list[str]  # of the candidates
    signals: NDArray[np.float64]

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Which candidates are evidence."""
        return np.array([name in self.evidence for name in self.names], np.float64)

    def best(self, scores: NDArray[np.float64]) -> list[str]:
        """Return the names of the candidates, best first."""
        return [self.names[place] for place in np.lexsort((np.arange(len(scores)), -scores))]


def questions_of(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of a folder that have an answer."""
    asked = [json.loads(line) for line in (folder / "questions.jsonl").open(encoding="utf-8")]
    return [each for each in asked if each["category"] != "adversarial" and each["evidence"]]


def conversations_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the messages of each conversation of a folder."""
    paths = [path for path in sorted(folder.glob("*.jsonl")) if path.name != "questions.jsonl"]
    return {path.stem: [json.loads(line) for line in path.open(encoding="utf-8")] for path in paths}


@contextmanager
def told(folder: Path) -> Iterator[tuple[asof.Memory, Path]]:
    """Tell all conversations of a folder to a memory in a temporary directory."""
    with TemporaryDirectory(prefix="asof-quality-") as temporary:
        directory = Path(temporary) / "memory"
        with asof.open(directory) as memory:
            for messages in conversations_of(folder).values():
                for message in messages:
                    memory.add(**{name: message[name] for name in _FIELDS})
            memory.embed()
            yield memory, directory


@contextmanager
def turn_search(directory: Path, embedder: Embedder) -> Iterator[tuple[EpisodeSearch, SqliteGraph]]:
    """Open the turns of a directory for search, with a vector for each."""
    places = DirectoryLayout(directory)
    cache = CachedEmbedder(embedder, places.vectors)
    with SqliteGraph(places.episodes, "episodic") as episodes:
        index = filled_index(places.turns_index, turns_of(episodes), cache)
        yield EpisodeSearch(episodes, embedder, index), episodes
    cache.close()


class EmbedderOnce:
    """Embeds one text at a time, each once: questions are asked of several groups."""

    def __init__(self, embedder: Embedder) -> None:
        self.model_id: Final = embedder.model_id
        self.dimensions: Final = embedder.dimensions
        self._one: Final = cache(lambda text: embedder.embed([text]))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector for each text."""
        return np.concatenate([self._one(text) for text in texts])


def weighed(folder: Path, directory: Path, embedder: Embedder) -> list[Asked]:
    """Return each question of a folder with its candidates: when all is known, and twice without an answer.

    That is as known just before its evidence was said, and in another conversation.
    """
    asked = []
    questions = questions_of(folder)
    groups = sorted({each["group_id"] for each in questions})
    with turn_search(directory, embedder) as (search, episodes):
        said = {(row.group_id, row.name): row.created_at for row in episodes.episodes(None)}
        for number, each in enumerate(questions):
            own, evidence = each["group_id"], frozenset(each["evidence"])
            before = min((said[own, name] for name in evidence if (own, name) in said), default=HEAD) - 1
            elsewhere = other_than(own, groups, number)
            ways = ((own, HEAD, evidence), (own, before, frozenset[str]()), (elsewhere, HEAD, frozenset[str]()))
            for group, known, answer in ways:
                found = search.candidates(each["question"], (group,), known, profile().pool)
                rows = episodes.episodes_numbered(found.numbers.tolist())
                names = [rows[number].name for number in found.numbers.tolist()]
                asked.append(Asked(own, each["question"], each["category"], answer, names, found.signals))
    return asked


def other_than(group: str, groups: Sequence[str], number: int) -> str:
    """Return another group, each in its turn."""
    return groups[(groups.index(group) + 1 + number % (len(groups) - 1)) % len(groups)]
