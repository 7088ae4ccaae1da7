"""Ranking profiles: the weights of the signals, as data that comes with the package."""

from functools import cache
from importlib import resources
from typing import Annotated, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from asof_projections.retrieval.calibration import OF_EPISODES, Calibrations, episode_columns
from asof_projections.retrieval.signals import OF_MEANING, SIGNALS

Name = Literal["learned", "fixed"]
DEFAULT: Final[Name] = "learned"


class Profile(BaseModel):
    """The weight of each signal of a search over turns; a signal that is left out has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    made_by: str = Field(description="The command that made it, or that it was set by hand.")
    learned_on: str | None = Field(None, description="SHA-256 of the questions that it was learned on.")
    pool: Annotated[int, Field(ge=1, description="Candidates by words, and as many by meaning.")] = 400
    weights: dict[str, float]
    without_vectors: dict[str, float] = Field(description="The weights where there are words alone.")
    calibrations: Calibrations | None = Field(
        default=None, description="Of the probability of hits; left out: it is unknown."
    )

    @model_validator(mode="after")
    def _of_signals(self) -> Self:
        if self.weights.keys() - set(SIGNALS) or self.without_vectors.keys() - (set(SIGNALS) - OF_MEANING):
            vectors = ", ".join(sorted(OF_MEANING))
            raise ValueError(f"weights name signals ({', '.join(SIGNALS)}), and without_vectors none of {vectors}")
        return self

    def scores(self, signals: NDArray[np.float64], *, by_meaning: bool) -> NDArray[np.float64]:
        """Return the weighed sum of each row of signals."""
        sums: NDArray[np.float64] = signals @ self.vector(by_meaning=by_meaning)
        return sums

    def vector(self, *, by_meaning: bool) -> NDArray[np.float64]:
        """Return the weights in the order of the signals."""
        weights = self.weights if by_meaning else self.without_vectors
        return np.array([weights.get(name, 0.0) for name in SIGNALS])

    def probabilities(self, scores: NDArray[np.float64], *, by_meaning: bool) -> tuple[NDArray[np.float64], float]:
        """Return the probability of each of some scores, and the least of a best one. Not calibrated: NaN."""
        if self.calibrations is None:
            return np.full(len(scores), np.nan), 0.0
        of = self.calibrations.episodes if by_meaning else self.calibrations.episodes_by_words
        return of.probabilities(episode_columns(scores), OF_EPISODES).round(4), of.least


@cache
def profile(name: Name = DEFAULT) -> Profile:
    """Return a profile that comes with asof."""
    return Profile.model_validate_json(resources.files(__package__).joinpath(f"profile_{name}.json").read_bytes())


def calibrations() -> Calibrations:
    """Return the calibrations of the default profile."""
    found = profile().calibrations
    assert found is not None, "the default profile is calibrated"
    return found
