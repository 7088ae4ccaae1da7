"""Calibrations: how probable it is that a hit answers a question, by a logistic regression over what is known of it.

They are data, in the file of a ranking profile, and were learned with its weights (python -m bench.learn_retrieval).
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

Probability = Annotated[float, Field(ge=0, le=1)]


class Calibration(BaseModel):
    """The weights of a logistic regression, and the probability below which nothing is found by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bias: float
    weights: dict[str, float]
    least: Probability

    def probabilities(self, columns: NDArray[np.float64], names: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of each row; a column without a weight does not count."""
        sums = self.bias + columns @ np.array([self.weights.get(name, 0.0) for name in names])
        chances: NDArray[np.float64] = 1 / (1 + np.exp(-np.clip(sums, -50, 50)))
        return chances


class Calibrations(BaseModel):
    """The calibrations of one profile: of facts and of episodes, with vectors and by words alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedder: str = Field(description="The model of the vectors; facts found with another count as found by words.")
    facts: Calibration
    facts_by_words: Calibration
    nobody_named: Probability = Field(
        description="The `least` of a fact with a vector for a question that names nobody: few were learned on."
    )
    episodes: Calibration = Field(description="Its `least` is of the best one: if that is less, there is none.")
    episodes_by_words: Calibration
    unlike: float = Field(description="The cosine below which no episode answers, if none has a word of the question.")


OF_EPISODES = ("share", "score")


def episode_columns(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each candidate the log of its share in the softmax of all scores, and its score."""
    if not len(scores):
        return np.zeros((0, len(OF_EPISODES)))
    most = scores.max()
    return np.stack([scores - most - np.log(np.exp(scores - most).sum()), scores], axis=1)
