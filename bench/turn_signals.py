"""Whether two more signals of turns pay, token vectors and the facts of a turn: python -m bench.turn_signals [FOLDER]

Of the conversations that rules may be written on. Each signal is one more column beside those of the profile `learned`,
and all weights are learned anew on the other conversations. Prints evidence recall of turns, by how much it is more
than without the signal (in brackets where 95 of 100 differences lie, of questions drawn anew), and what the signal
costs a search: milliseconds of processor time (median), and bytes a turn on disk.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.ports import Vectors
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import HEAD, FactSearchQuery, ask
from asof_projections.model.rows import Moment
from asof_projections.retrieval import fact_signals
from asof_projections.retrieval.question import Question
from bench.calibration import Judged, fact_search, logistic
from bench.learn_retrieval import fitted, recall
from bench.quality import CUTS, interval
from bench.question_dates import READ
from bench.retrieval import DATA, Asked, EmbedderOnce, told, turn_search, weighed
from bench.token_vectors import LateInteraction, TokenVectors

BASE: Final = "the profile learned"
FACTS: Final = ("score of its facts", "probability of its facts", "says who and what is asked")
ALL_FACTS: Final = "all three of its facts"
BOTH: Final = ("last layer, all words", "last layer, no stop words")
CHOSEN: Final = "the token vectors that are best on the others"
_NAMES, _RELATION = (fact_signals.SIGNALS.index(name) for name in ("names", "gap_in_relation"))
Rows = NDArray[np.float64]


class Found(NamedTuple):
    """The facts that a search weighs for a question: what it knows of them, and the turns that said each."""

    judged: Judged
    scores: list[float]
    said_by: list[frozenset[str]]

    def signals(self, asked: Asked, chances: Rows) -> Rows:
        """Return the columns of FACTS: of each candidate, what is greatest of the facts that it says."""
        rows = self.judged.columns
        is_asked = (rows[:, _NAMES] == 1) & (rows[:, _RELATION] >= 0)
        of = defaultdict[str, list[tuple[float, float, float]]](list)
        for turns, *values in zip(self.said_by, self.scores, chances, is_asked.astype(float), strict=True):
            for name in turns:
                of[name].append((values[0], values[1], values[2]))
        return np.array([np.max(of[name], axis=0) if name in of else np.zeros(len(FACTS)) for name in asked.names])


def found_facts(directory: Path, asked: Sequence[Asked], episodes: SqliteGraph) -> tuple[list[Found], Rows]:
    """Return the facts of each question, and the milliseconds that finding them took, with the question's vector."""
    names = {row.uuid: row.name for row in episodes.episodes(None)}
    found, times = [], []
    embedder = EmbedderOnce(MiniLMEmbedder())
    with fact_search(directory, embedder) as search:
        for each in asked:
            embedder.embed([each.question])
            began = time.process_time()
            facts = search.candidates(
                ask(FactSearchQuery, {"query": each.question, "group_id": each.group}), Moment(None, HEAD)
            )
            times.append(1000 * (time.process_time() - began))
            said_by = [frozenset(names[uuid] for uuid in fact.episodes) for fact in facts.facts]
            right = np.array([bool(turns & each.evidence) for turns in said_by], np.float64)
            found.append(Found(Judged(each.group, facts.signals, right), facts.scores, said_by))
    return found, np.array(times)


class Signals:
    """The further signals of questions, and what they cost a search."""

    def __init__(self, directory: Path, asked: Sequence[Asked]) -> None:
        embedder = TokenVectors()
        turns: dict[str, dict[tuple[str, str], Vectors]] = defaultdict(dict)
        with turn_search(directory, EmbedderOnce(embedder)) as (_, episodes):
            texts = {number: text for number, _, text in episodes.turn_texts()}
            for number, row in episodes.episodes_numbered(list(texts)).items():
                for choice, vectors in embedder.of(texts[number]).items():
                    turns[choice][row.group_id, row.name] = vectors
            names = {group: episodes.turns((group,), HEAD).names for group in READ}
            self._facts, self.fact_times = found_facts(directory, asked, episodes)
        self._questions = [embedder.of(Question.of(a.question, names[a.group]).text) for a in asked]
        self.turns: Final = {c: LateInteraction(directory / f"{c}.vectors", of) for c, of in turns.items()}
        self.token_times: Final = defaultdict[str, list[float]](list)

    def columns(self, asked: Sequence[Asked], base: Rows, without: str) -> dict[str, list[Rows]]:
        """Return columns for each question, by way; what they are made of was not learned on one conversation."""
        columns = {BASE: [np.zeros((len(each.names), 0)) for each in asked]}
        for choice, turns in self.turns.items():
            columns[choice] = []
            for each, question in zip(asked, self._questions, strict=True):
                scores = each.signals @ base
                began = time.process_time()
                column = turns.signal(each, question[choice], scores)
                self.token_times[choice].append(1000 * (time.process_time() - began))
                columns[choice].append(column[:, None])
        chance = logistic([f.judged for f in self._facts if f.judged.source != without], fact_signals.SIGNALS, 0)
        of_facts = [
            found.signals(each, chance.probabilities(found.judged.columns, fact_signals.SIGNALS))
            for each, found in zip(asked, self._facts, strict=True)
        ]
        columns |= {name: [rows[:, n : n + 1] for rows in of_facts] for n, name in enumerate(FACTS)}
        columns[ALL_FACTS] = of_facts
        for choice in BOTH:
            both = zip(columns[choice], of_facts, strict=True)
            columns[f"{choice}; {ALL_FACTS}"] = [np.hstack(each) for each in both]
        return columns


def recalls(asked: Sequence[Asked], signals: Signals) -> dict[str, Rows]:
    """Return recall at the cuts of each question, by way, with weights learned on the other conversations."""
    groups = np.array([each.group for each in asked])
    found: dict[str, Rows] = defaultdict(lambda: np.zeros((len(asked), len(CUTS))))
    for group in dict.fromkeys(groups.tolist()):
        others = [n for n, each in enumerate(asked) if each.group != group and each.relevant.any()]
        base = fitted([(asked[n].signals, asked[n].relevant) for n in others])
        for way, columns in signals.columns(asked, base, group).items():
            rows = [np.hstack([each.signals, more]) for each, more in zip(asked, columns, strict=True)]
            learned = fitted([(rows[n], asked[n].relevant) for n in others])
            for n in np.flatnonzero(groups == group).tolist():
                found[way][n] = [recall(asked[n], rows[n] @ learned, cut) for cut in CUTS]
    for group in dict.fromkeys(groups.tolist()):
        best = max(signals.turns, key=lambda way: float(found[way][groups != group, -1].mean()))
        found[CHOSEN][groups == group] = found[best][groups == group]
    return found


def report(asked: Sequence[Asked], signals: Signals) -> Iterator[str]:
    """Yield a line about each way: recall, what it is more than the first, and the costs."""
    yield (
        f"{len(asked)} questions\n{'':54}"
        + "".join(f"{f'turn@{cut}':>8}{'more':>21}" for cut in CUTS)
        + "    ms  bytes"
    )
    found = recalls(asked, signals)
    for way, rows in found.items():
        cells = ""
        for column, more in zip(rows.T, (rows - found[BASE]).T, strict=True):
            low, high = interval(more)
            change = f"{100 * more.mean():+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
            cells += f"{100 * column.mean():8.1f}{change if way != BASE else '':>21}"
        if way in signals.turns:
            cells += f"{np.median(signals.token_times[way]):6.1f}{signals.turns[way].bytes_a_turn:7.0f}"
        elif way in (*FACTS, ALL_FACTS):
            cells += f"{np.median(signals.fact_times):6.1f}{0:7}"
        yield f"{way:54}{cells}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="conversations and questions.jsonl")
    folder: Path = parser.parse_args().folder
    with TemporaryDirectory(prefix="asof-signals-") as temporary:
        part = Path(temporary)
        for group in READ:
            (part / f"{group}.jsonl").write_bytes((folder / f"{group}.jsonl").read_bytes())
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["group_id"] in READ]
        (part / "questions.jsonl").write_text("".join(kept), encoding="utf-8")
        with told(part) as (_, directory):
            asked = [each for each in weighed(part, directory, EmbedderOnce(MiniLMEmbedder())) if each.evidence]
            print(*report(asked, Signals(directory, asked)), sep="\n")


if __name__ == "__main__":
    main()
