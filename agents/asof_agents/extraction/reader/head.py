"""The head of the reader: how probable it is that a clause is worth keeping, by its vector and what rules know of it.

A logistic regression, learned by `python -m bench.learn_reader`; its weights lie beside this module.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE: Final = Path(__file__).with_name("head.json")
_VERSION: Final = "reader-3"  # of the candidates, their features and what they state


class ClauseHead(BaseModel):
    """The weights, and where they come from."""

    model_config = ConfigDict(frozen=True, strict=True)

    made_by: str
    embedder: str  # the id of the vectors' model
    learned_on: dict[str, str]  # the sha256 of each file, by its name
    licence: str  # of these files, and so of the weights
    least: float  # the probability from which on a clause is kept
    worthless: float  # that below which nothing is told in a clause's words, whoever found it
    features: tuple[str, ...]  # the names of those that rules know, in order; the vector stands before them
    bias: float
    weights: tuple[float, ...]

    def probabilities(self, rows: "NDArray[np.float32]") -> "NDArray[np.float64]":
        """Return the probability of each row: a clause's vector, then its features."""
        import numpy as np  # noqa: PLC0415 - a command starts without it

        scores: NDArray[np.float64] = rows.astype(np.float64) @ np.array(self.weights) + self.bias
        return 1.0 / (1.0 + np.exp(-scores))


@cache
def head() -> ClauseHead:
    """Return the head of this package."""
    return ClauseHead.model_validate_json(FILE.read_bytes())


@cache
def version() -> str:
    """Return the version of the reader: its own, and the beginning of the sha256 of its weights."""
    return f"{_VERSION}@{hashlib.sha256(FILE.read_bytes()).hexdigest()[:12]}"


def write(learned: ClauseHead, path: Path = FILE) -> None:
    """Write the weights that were learned."""
    fields = learned.model_dump()
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def rounded(values: Sequence[float]) -> tuple[float, ...]:
    """Return weights as they are written: four digits behind the point."""
    return tuple(round(float(value), 4) for value in values)
