"""What searches over turns find of the evidence of questions: python -m bench.quality [FOLDER]

Turn recall@k: the share of a question's evidence turns among the first k turns. Session any-hit@k: whether one of the
first k sessions, each placed by its best turn, has evidence; by chance, what k sessions drawn at random would hit.
Behind them stand the precision of probabilities and beliefs, changes in everyday words, times in the evidence, and what
rules read of a judged sample.
Intervals hold 95 of 100 means of questions drawn anew (bootstrap, of a fixed seed).
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import asof
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.retrieval.profile import profile
from bench import changes, judged, precision, question_dates
from bench.learn_retrieval import leaving_out, vector_of
from bench.retrieval import DATA, Asked, EmbedderOnce, conversations_of, told, weighed
from bench.search_fusion import WAYS, Conversation

SAMPLES: Final = 2_000
CUTS: Final = (5, 10)
_BASELINES: Final = ("words alone", "meaning alone", "0.5 words + 0.5 meaning")
Ranked = Callable[[Asked], Sequence[str]]


class Sessions:
    """The session of each turn of a conversation, by name."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self.of: Final = {message["name"]: message["source_description"] for message in messages}
        self.count: Final = len(set(self.of.values()))

    def hits(self, ranked: Sequence[str], evidence: frozenset[str], count: int) -> bool:
        """Whether one of the first sessions has evidence."""
        first = list(dict.fromkeys(self.of[name] for name in ranked))[:count]
        return bool({self.of[name] for name in evidence if name in self.of} & set(first))

    def chance(self, evidence: frozenset[str], count: int) -> float:
        """Return how often so many sessions drawn at random have evidence."""
        wanted = len({self.of[name] for name in evidence if name in self.of})
        return 1 - comb(self.count - wanted, count) / comb(self.count, count) if wanted else 0.0


class Row(NamedTuple):
    """One way to rank: what it finds of each question, by cut."""

    way: str
    turns: dict[int, NDArray[np.float64]]
    sessions: dict[int, NDArray[np.float64]]

    def text(self) -> str:
        """Return the row of the table, in hundredths."""
        low, high = interval(self.turns[10])
        cells = [*(self.turns[cut].mean() for cut in CUTS), low, high, *(self.sessions[cut].mean() for cut in CUTS)]
        return f"{self.way:34}" + "".join(f"{100 * cell:8.1f}" for cell in cells)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return between what 95 of 100 means lie."""
    drawn = np.random.default_rng(0).integers(0, len(values), (SAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(1), (0.025, 0.975))
    return float(low), float(high)


def measured(way: str, ranked: Ranked, asked: Sequence[Asked], sessions: Mapping[str, Sessions]) -> Row:
    """Return what a way to rank finds."""
    orders = [ranked(each) for each in asked]
    pairs = list(zip(asked, orders, strict=True))
    return Row(
        way,
        {cut: np.array([len(a.evidence & set(order[:cut])) / len(a.evidence) for a, order in pairs]) for cut in CUTS},
        {cut: np.array([float(sessions[a.group].hits(o, a.evidence, cut)) for a, o in pairs]) for cut in CUTS},
    )


def ways(folder: Path, memory: asof.Memory, asked: Sequence[Asked]) -> dict[str, Ranked]:
    """Return each way to rank the turns of a question."""
    embedder = MiniLMEmbedder()
    texts = {group: Conversation(folder / f"{group}.jsonl", embedder) for group in conversations_of(folder)}
    others = {group: vector_of(weights) for group, weights in leaving_out(asked).items()}

    def baseline(way: str) -> Ranked:
        def ranked(each: Asked) -> Sequence[str]:
            turns = texts[each.group]
            scores = WAYS[way](turns.words(each.question), turns.meaning(each.question))
            return [turns.names[row] for row in np.argsort(-scores, kind="stable")]

        return ranked

    def found(each: Asked) -> Sequence[str]:
        hits = memory.search(each.question, group_id=each.group, over="episodes", limit=200)
        return [hit.name for hit in hits.episodes]

    def walked(each: Asked) -> Sequence[str]:
        hits = memory.search(each.question, group_id=each.group, over="episodes", profile="pipeline", limit=200)
        return [hit.name for hit in hits.episodes if hit.score is not None]

    return {
        **{way: baseline(way) for way in _BASELINES},
        "profile fixed": lambda a: a.best(profile("fixed").scores(a.signals, by_meaning=True)),
        "profile learned, without this chat": lambda a: a.best(a.signals @ others[a.group]),
        "search as shipped (it flatters)": found,
        "profile pipeline": walked,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DATA, help="conversations and questions.jsonl")
    folder: Path = parser.parse_args().folder
    sessions = {group: Sessions(messages) for group, messages in conversations_of(folder).items()}
    embedder = EmbedderOnce(MiniLMEmbedder())
    with told(folder) as (memory, directory):
        every = weighed(folder, directory, embedder)
        asked = [each for each in every if each.evidence]
        rows = [measured(way, ranked, asked, sessions) for way, ranked in ways(folder, memory, asked).items()]
        precise = [*precision.report(folder, directory, every, embedder)]
    print(f"{len(asked)} questions\n{'':34} turn@5 turn@10    from      to  sess.@5 sess.@10")
    for row in rows:
        print(row.text())
    chances = [np.mean([sessions[a.group].chance(a.evidence, cut) for a in asked]) for cut in CUTS]
    print(f"{'by chance':66}" + "".join(f"{100 * chance:8.1f}" for chance in chances))
    categories = sorted({each.category for each in asked})
    print(f"\n{'turn recall@10':34}" + "".join(f"{category:>14}" for category in categories))
    of = np.array([each.category for each in asked])
    for row in rows:
        means = (100 * row.turns[10][of == category].mean() for category in categories)
        print(f"{row.way:34}" + "".join(f"{mean:14.1f}" for mean in means))
    print("", *precise, sep="\n")
    print("\nchanges in everyday words", *changes.report(), sep="\n")
    dated = [group for group in question_dates.READ if group in sessions]
    print("\ntimes in the evidence of temporal questions", *question_dates.report(dated, folder), sep="\n")
    if len(dated) == len(question_dates.READ):
        print("\nwhat the rules read, as judged", *judged.report(folder), sep="\n")


if __name__ == "__main__":
    main()
