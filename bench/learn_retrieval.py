"""Learn the weights of the profile `learned`, and its calibrations: python -m bench.learn_retrieval [FOLDER]

A listwise regression: the softmax of a question's candidates is to be where its evidence is. The weights, rounded to
two digits, go into the package with the digest of the questions; no clock and no chance is in them. Prints evidence
recall@10 with weights learned on the other conversations alone.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.retrieval import profile as profiles
from asof_projections.retrieval.signals import OF_MEANING, SIGNALS
from bench.calibration import calibrated, judged_beliefs, judged_facts
from bench.retrieval import DATA, Asked, EmbedderOnce, told, weighed

STEPS: Final = 400
RIDGE: Final = 1e-2
RATE: Final = 0.3
Weights = NDArray[np.float64]
_FILE: Final = Path(profiles.__file__).with_name("profile_learned.json")


def learn(asked: Sequence[Asked], names: Sequence[str] = SIGNALS) -> dict[str, float]:
    """Return the weights of some signals that put the evidence of questions first."""
    columns = [SIGNALS.index(name) for name in names]
    weights = fitted([(each.signals[:, columns], each.relevant) for each in asked if each.relevant.any()])
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def fitted(lists: Sequence[tuple[Weights, Weights]]) -> Weights:
    """Return the weights of columns that put what is relevant first; lists: of a question, its rows and which are."""
    signals = np.concatenate([rows for rows, _ in lists])
    wanted = np.concatenate([relevant / relevant.sum() for _, relevant in lists])
    spread = signals.std(0) + 1e-9
    sizes = [len(relevant) for _, relevant in lists]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    of = np.repeat(np.arange(len(sizes)), sizes)
    weights: Weights = _descend((signals - signals.mean(0)) / spread, wanted, starts, of) / spread
    return weights


def _descend(rows: Weights, wanted: Weights, starts: NDArray[np.int64], of: NDArray[np.int64]) -> Weights:
    """Return the weights of least cross-entropy between softmax and what is wanted, by Adam."""
    weights, mean, square = (np.zeros(rows.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = rows @ weights
        powers = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
        shares = powers / np.add.reduceat(powers, starts)[of]
        slope = rows.T @ (shares - wanted) / len(starts) + RIDGE * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        moved = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = weights - RATE / (1 + step / 50) * moved
    return weights


def recall(asked: Asked, scores: Weights, count: int = 10) -> float:
    """Return the share of a question's evidence among the first candidates."""
    return len(asked.evidence.intersection(asked.best(scores)[:count])) / len(asked.evidence)


def vector_of(weights: dict[str, float]) -> Weights:
    """Return weights in the order of the signals."""
    return np.array([weights.get(name, 0.0) for name in SIGNALS])


def leaving_out(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """Return for each conversation the weights that are learned on the others."""
    groups = dict.fromkeys(each.group for each in asked)
    return {group: learn([each for each in asked if each.group != group]) for group in groups}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="conversations and questions.jsonl")
    folder: Path = parser.parse_args().folder
    embedder = EmbedderOnce(MiniLMEmbedder())
    with told(folder) as (_, directory):
        every = weighed(folder, directory, embedder)
        facts = [*judged_facts(folder, directory, embedder), *judged_beliefs("tuned", embedder)]
    asked = [each for each in every if each.evidence]
    others = leaving_out(asked)
    held_out = np.mean([recall(each, each.signals @ vector_of(others[each.group])) for each in asked])
    learned = profiles.Profile(
        name="learned",
        made_by="python -m bench.learn_retrieval",
        learned_on=hashlib.sha256((folder / "questions.jsonl").read_bytes()).hexdigest(),
        weights=learn(asked),
        without_vectors=learn(asked, [name for name in SIGNALS if name not in OF_MEANING]),
    )
    learned = learned.model_copy(update={"calibrations": calibrated(learned, every, facts, embedder.model_id)})
    _FILE.write_text(json.dumps(learned.model_dump(), indent=1) + "\n", encoding="utf-8")
    fixed = profiles.profile("fixed")
    by_hand = np.mean([recall(each, fixed.scores(each.signals, by_meaning=True)) for each in asked])
    print(f"{len(asked)} questions: recall@10 {100 * held_out:.1f} with weights of other conversations, ", end="")
    print(f"{100 * by_hand:.1f} with fixed ones; wrote {_FILE.name}")


if __name__ == "__main__":
    main()
