"""How far probabilities are right, and what searches leave out: a part of python -m bench.quality.

Every probability here is of a calibration that was learned without the conversation, or the world, that it is asked
about; those of turns also with weights learned without it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

import asof
from asof_projections.embedding.ports import Embedder
from asof_projections.retrieval import fact_signals
from asof_projections.retrieval.calibration import OF_EPISODES
from asof_projections.retrieval.profile import calibrations
from bench import beliefs
from bench.calibration import Judged, judged_beliefs, judged_facts, judged_turns, logistic
from bench.learn_retrieval import leaving_out, vector_of
from bench.retrieval import Asked

BINS: Final = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.01)
Chances = list[tuple[NDArray[np.float64], NDArray[np.float64]]]  # of each question: as said, and what is right


def report(folder: Path, directory: Path, every: Sequence[Asked], embedder: Embedder) -> Iterator[str]:
    """Yield the lines of the report; every: each question, and again without an answer, as `weighed` gives them."""
    of_turns = turn_chances(every)
    facts = list(judged_facts(folder, directory, embedder))
    tuned, unseen = (list(judged_beliefs(half, embedder)) for half in beliefs.VOCABULARIES)
    yield f"{'probabilities':34}   Brier   of all"
    yield from reliability("turns", of_turns)
    yield from reliability("facts of conversations", fact_chances(facts, tuned, facts))
    yield from reliability("facts of belief cases, tuned", fact_chances(tuned, tuned, facts))
    yield from reliability("facts of belief cases, held out", fact_chances(unseen, tuned, facts))
    least = calibrations().episodes.least
    empty = [all(said < least) for said, _ in of_turns]
    kinds = [*zip(("asked", "as known before it was said", "of another conversation"), (0, 1, 2), strict=True)]
    yield "\nturns, empty answers (in %): " + ", ".join(f"{k} {100 * np.mean(empty[n::3]):.1f}" for k, n in kinds)
    yield f"\n{'belief cases (in %)':34}" + "".join(f"{name:>12}" for name in ("the right", "n", "empty", "n"))
    for half in beliefs.VOCABULARIES:
        for kind, (right, cases, empties, none) in belief_rows(half).items():
            cells = (100 * right / cases if cases else np.nan, cases, 100 * empties / none if none else np.nan, none)
            yield f"{f'{half}: {kind}':34}" + "".join(f"{cell:12.0f}" for cell in cells)


def turn_chances(every: Sequence[Asked]) -> Chances:
    """Return the probabilities of the first turns of each question, by what was learned on other conversations."""
    weights = {group: vector_of(of) for group, of in leaving_out([each for each in every if each.evidence]).items()}
    learned = {
        group: logistic(judged_turns([each for each in every if each.group != group], of), OF_EPISODES, 0)
        for group, of in weights.items()
    }
    chances = []
    for each in every:
        [judged] = judged_turns([each], weights[each.group])
        chances.append((learned[each.group].probabilities(judged.columns, OF_EPISODES), judged.right))
    return chances


def fact_chances(asked: Sequence[Judged], *learned_on: Sequence[Judged]) -> Chances:
    """Return the probabilities of the facts of each question, by what was learned on other conversations and worlds."""
    every = [judged for part in learned_on for judged in part]
    of = {
        source: logistic([judged for judged in every if judged.source != source], fact_signals.SIGNALS, 0)
        for source in dict.fromkeys(judged.source for judged in asked)
    }
    return [
        (of[judged.source].probabilities(judged.columns, fact_signals.SIGNALS), judged.right)
        for judged in asked
        if len(judged.right)
    ]


def reliability(name: str, chances: Chances) -> Iterator[str]:
    """Yield the Brier score, that of one probability for all, and what was said and was the case, bin by bin."""
    said, right = (np.concatenate(column) for column in zip(*chances, strict=True))
    yield f"{name:34}{np.mean((said - right) ** 2):8.4f}{right.mean() * (1 - right.mean()):8.4f}"
    bins = np.digitize(said, BINS)
    shown = (
        f"{said[bins == b].mean():.2f}: {right[bins == b].mean():.2f} of {(bins == b).sum()}" for b in np.unique(bins)
    )
    yield "    " + ", ".join(shown)


def belief_rows(half: beliefs.Half) -> Mapping[str, list[int]]:
    """Return of each kind of case, and of all: right, of how many; empty, of how many that should be."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    worlds = list(beliefs.worlds_of(half))
    with TemporaryDirectory(prefix="asof-beliefs-") as folder, asof.open(Path(folder) / "memory") as memory:
        beliefs.tell(memory, worlds)
        memory.embed()  # or a busy machine would answer some by words alone
        for case in (case for world in worlds for case in world.cases):
            is_right = beliefs.is_right(memory, case)
            for kind in ("all", case.kind):
                at = 0 if case.expected else 2
                rows[kind][at] += is_right
                rows[kind][at + 1] += 1
    return rows
