"""Learn the weights of the reader: python -m bench.learn_reader [--folds 5]

It learns from the conversations in bench/conversations, which were written for it: of each turn the clauses that are
worth keeping are marked. A candidate that is such a clause, by most of its words, is right; one that overlaps one is
left out; the others are wrong. Prints what the reader finds in conversations that it has not learned from, and writes
the weights, learned from all, into the package. Takes a minute or two; no clock and no chance is in it.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.ports import Turn
from asof_agents.extraction.reader.features import NAMES, features
from asof_agents.extraction.reader.head import ClauseHead, rounded, write
from asof_agents.extraction.reader.reader import clauses_of, context_of
from asof_projections.embedding.minilm import DIMENSIONS, MiniLMEmbedder
from asof_streams.instants import parse

FOLDER: Final = Path(__file__).with_name("conversations")
LICENCE: Final = "Apache-2.0"
LEAST: Final = 0.59
WORTHLESS: Final = 0.4
SCALE: Final = 4.0  # of a vector, whose numbers are small beside features of 0 and 1
RIDGE: Final = 10.0
STEPS: Final = 12
PRECISIONS: Final = (0.95, 0.9, 0.88, 0.85, 0.8, 0.7)
Matrix = NDArray[np.float64]


class Learned(NamedTuple):
    """A clause of a conversation: its numbers, and whether it is worth keeping."""

    conversation: str
    row: Matrix
    right: bool


def learned_from(folder: Path, embedder: MiniLMEmbedder) -> Iterator[tuple[list[Learned], int]]:
    """Yield the clauses of each conversation, and how many were marked in it."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            conversation = json.loads(line)
            marked = sum(len(turn["keep"]) for turn in conversation["turns"])
            yield list(_clauses(conversation, embedder)), marked


def _clauses(conversation: dict[str, Any], embedder: MiniLMEmbedder) -> Iterator[Learned]:
    for number, said in enumerate(conversation["turns"]):
        at = parse(f"{said['date'][:10]}T12:00:00Z")
        turn = Turn(f"{conversation['id']}/{number}", said["speaker"], "user", said["text"], at)
        context = context_of(turn, find_times)
        found = list(clauses_of(context))
        starts = [(turn.text.find(keep["clause"]), keep["clause"]) for keep in said["keep"]]
        marked = [(start, start + len(clause)) for start, clause in starts if start >= 0]
        rights = _right(turn.text, [each.span for each in found], marked)
        if not found:
            continue
        vectors = embedder.embed([turn.text[slice(*each.span)] for each in found])
        for each, vector, right in zip(found, vectors, rights, strict=True):
            if right is not None:
                known = features(context, each.parsed, each.candidate)
                yield Learned(conversation["id"], np.array([*(SCALE * vector), *known]), right)


def _right(text: str, spans: Sequence[tuple[int, int]], marked: Sequence[tuple[int, int]]) -> list[bool | None]:
    """Return of each clause whether it is a marked one; None: it overlaps one."""

    def words(start: int, end: int) -> int:
        return len(text[start:end].split()) if start < end else 0

    rights: list[bool | None] = [False] * len(spans)
    for start, end in marked:
        shared = [words(max(start, a), min(end, b)) for a, b in spans]
        for at, (a, b) in enumerate(spans):
            if 2 * shared[at] >= words(a, b) and rights[at] is False:
                rights[at] = None
        shares = [shared[at] / max(words(start, end), words(a, b)) for at, (a, b) in enumerate(spans)]
        best = max(range(len(spans)), key=shares.__getitem__, default=None)
        if best is not None and 2 * shares[best] >= 1:
            rights[best] = True
    return rights


def fitted(rows: Matrix, right: Matrix) -> tuple[Matrix, float]:
    """Return the weights and the bias of a logistic regression, by Newton's method."""
    middle = rows.mean(0)
    columns = np.concatenate([rows - middle, np.ones((len(rows), 1))], axis=1)
    weights = np.zeros(columns.shape[1])
    ridge = np.full(columns.shape[1], RIDGE)
    ridge[-1] = 1e-9
    for _ in range(STEPS):
        said = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (said - right) + ridge * weights
        curve = (columns * (said * (1 - said))[:, None]).T @ columns + np.diag(ridge)
        weights -= np.linalg.solve(curve, slope)
    return weights[:-1], float(weights[-1] - middle @ weights[:-1])


def held_out(clauses: Sequence[Learned], folds: int) -> Matrix:
    """Return the probability of each clause, by what was learned from conversations of other folds."""
    fold = np.array([int(hashlib.sha256(each.conversation.encode()).hexdigest(), 16) % folds for each in clauses])
    rows, right = _arrays(clauses)
    said = np.zeros(len(clauses))
    for number in range(folds):
        weights, bias = fitted(rows[fold != number], right[fold != number])
        said[fold == number] = 1 / (1 + np.exp(-(rows[fold == number] @ weights + bias)))
    return said


def _arrays(clauses: Sequence[Learned]) -> tuple[Matrix, Matrix]:
    return np.array([each.row for each in clauses]), np.array([each.right for each in clauses], np.float64)


def report(said: Matrix, right: Matrix, marked: int) -> Iterator[str]:
    """Yield how many of the marked clauses are found at each precision, and from which probability on."""
    order = np.argsort(-said, kind="stable")
    found = np.cumsum(right[order])
    precision = found / np.arange(1, len(order) + 1)
    for wanted in PRECISIONS:
        enough = np.flatnonzero(precision >= wanted)
        if len(enough):
            last = enough[-1]
            yield f"precision {wanted:.0%}: {found[last] / marked:.0%} of all, from {said[order][last]:.2f} on"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", type=int, default=5, help="parts of the conversations, each held out once")
    folds: int = parser.parse_args().folds
    embedder = MiniLMEmbedder()
    conversations = list(learned_from(FOLDER, embedder))
    clauses = [each for of, _ in conversations for each in of]
    marked = sum(count for _, count in conversations)
    rows, right = _arrays(clauses)
    print(f"{len(conversations)} conversations, {len(clauses)} clauses; of {marked} marked ones {right.sum():.0f}")
    print(*report(held_out(clauses, folds), right, marked), sep="\n")
    weights, bias = fitted(rows, right)
    weights[:DIMENSIONS] *= SCALE
    sources = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(FOLDER.glob("*.jsonl"))}
    write(
        ClauseHead(
            made_by="python -m bench.learn_reader",
            embedder=embedder.model_id,
            learned_on=sources,
            licence=LICENCE,
            least=LEAST,
            worthless=WORTHLESS,
            features=tuple(NAMES),
            bias=round(bias, 4),
            weights=rounded(weights.tolist()),
        )
    )


if __name__ == "__main__":
    main()
