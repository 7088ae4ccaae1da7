"""Mindsets: how a question thinks, told by its words, and how well a memory fits that. The rules are data."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter

from asof_projections.model.queries import Mindset

Feature = Literal["confidence", "directness", "remoteness", "periphery", "procedure"]
_WORD = re.compile(r"\w+")


class Features(NamedTuple):
    """The features of a memory that a mindset looks at."""

    confidence: float  # of a fact; a half where there is none
    is_direct: bool  # the question itself found it, not a walk through the graph
    centrality: float
    text: str


class Rules(BaseModel):
    """The rules of one mindset."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cues: tuple[str, ...]  # words and phrases of a question
    words: frozenset[str] = frozenset()  # of a memory that tells of a procedure
    weights: Mapping[Feature, float]  # which sum to 1

    def count(self, question: str) -> int:
        """Return how many of the cues a question has."""
        return sum(f" {cue} " in question for cue in self.cues)

    def score(self, features: Features) -> float:
        """Return how well a memory fits the mindset, from 0 to 1."""
        has_procedure = not self.words.isdisjoint(_WORD.findall(features.text.casefold()))
        values: dict[Feature, float] = {
            "confidence": features.confidence,
            "directness": float(features.is_direct),
            "remoteness": float(not features.is_direct),
            "periphery": 1.0 - features.centrality,
            "procedure": float(has_procedure),
        }
        return sum(weight * values[name] for name, weight in self.weights.items())


@cache
def rules() -> Mapping[Mindset, Rules]:
    """Return the rules of every mindset."""
    data = resources.files(__package__).joinpath("mindsets.json").read_bytes()
    return TypeAdapter(dict[Mindset, Rules]).validate_json(data)


def mindset_of(question: str) -> Mindset | None:
    """Return the mindset of which a question has most cues; None: it has none, or as many of two."""
    words = f" {' '.join(_WORD.findall(question.casefold()))} "
    counts = {name: rule.count(words) for name, rule in rules().items()}
    most = max(counts.values())
    best = [name for name, count in counts.items() if count == most]
    return best[0] if most and len(best) == 1 else None
