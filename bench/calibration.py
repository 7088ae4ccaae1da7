"""Learn how probable it is that a hit answers: the calibrations of the profile `learned`, by bench.learn_retrieval.

Of turns, from questions about conversations: each asked when all is known, as known just before its evidence was said,
and of another conversation, so that two of three have no answer. Of facts, from the same questions, where a fact is
right if an evidence turn says it, and from the tuned half of the belief cases, which together count as much.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import asof
from asof.runtime.layout import DirectoryLayout
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Embedder
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import HEAD, FactSearchQuery, ask, instant
from asof_projections.model.rows import Moment
from asof_projections.retrieval import fact_signals
from asof_projections.retrieval.calibration import OF_EPISODES, Calibration, Calibrations, episode_columns
from asof_projections.retrieval.profile import Profile
from asof_projections.retrieval.search import Search
from asof_projections.vectors.projection import facts_of
from bench import beliefs
from bench.indexes import filled_index
from bench.retrieval import Asked, other_than, questions_of

Rows = NDArray[np.float64]

RIDGE: Final = 1.0
STEPS: Final = 30
FIRST: Final = 20  # turns of each question
LEAST: Final = {"facts": 0.25, "facts_by_words": 0.02, "episodes": 0.02, "episodes_by_words": 0.01}
NOBODY_NAMED: Final = 0.03  # nonsense reached .026 in a memory of four facts, a word for what one says .055
UNLIKE: Final = 0.2  # a cosine; nonsense reached .12 there
_GENERATION: Final = "main"
_WORLDS: Final = {f"{half} {number}" for half in beliefs.VOCABULARIES for number in range(beliefs.WORLDS)}


class Judged(NamedTuple):
    """The candidates of one question: their columns, and which of them are right."""

    source: str  # the conversation or world of the question
    columns: Rows
    right: Rows


def logistic(judged: Sequence[Judged], names: Sequence[str], least: float, only: Sequence[str] = ()) -> Calibration:
    """Return the logistic regression that fits best, by Newton's method, on some of the columns."""
    used = [name for name in names if name in (only or names)]
    places = [names.index(name) for name in used]
    rows = np.concatenate([each.columns[:, places] for each in judged])
    right = np.concatenate([each.right for each in judged])
    counts = _counts(judged)
    rows = np.column_stack([np.ones(len(rows)), rows])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (right - chances)) - RIDGE * weights
        curve = (rows.T * (counts * chances * (1 - chances))) @ rows + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    bias, *others = (round(float(weight), 2) for weight in weights)
    return Calibration(bias=bias, weights=dict(zip(used, others, strict=True)), least=least)


def _counts(judged: Sequence[Judged]) -> Rows:
    """Return what each row counts: 1 in belief cases, and as much in sum in conversations, of which there are more."""
    made = np.concatenate([np.full(len(each.right), each.source in _WORLDS) for each in judged])
    share = made.sum() / max((~made).sum(), 1) if made.any() else 1.0
    return np.where(made, 1.0, share)


def judged_turns(asked: Sequence[Asked], weights: Rows) -> list[Judged]:
    """Return the first candidates of each question under some weights."""
    judged = []
    for each in asked:
        scores = each.signals @ weights
        first = np.lexsort((np.arange(len(scores)), -scores))[:FIRST]
        judged.append(Judged(each.group, episode_columns(scores)[first], each.relevant[first]))
    return judged


def calibrated(profile: Profile, asked: Sequence[Asked], facts: Sequence[Judged], embedder: str) -> Calibrations:
    """Return the calibrations of a profile, learned on some questions."""
    of_turns = {
        "episodes": profile.vector(by_meaning=True),
        "episodes_by_words": profile.vector(by_meaning=False),
    }
    words = [name for name in fact_signals.SIGNALS if name not in fact_signals.OF_MEANING]
    return Calibrations(
        embedder=embedder,
        nobody_named=NOBODY_NAMED,
        unlike=UNLIKE,
        facts=logistic(facts, fact_signals.SIGNALS, LEAST["facts"]),
        facts_by_words=logistic(facts, fact_signals.SIGNALS, LEAST["facts_by_words"], words),
        **{name: logistic(judged_turns(asked, of), OF_EPISODES, LEAST[name]) for name, of in of_turns.items()},
    )


def judged_facts(folder: Path, directory: Path, embedder: Embedder) -> Iterator[Judged]:
    """Yield the facts that are weighed for each question about conversations: its own, and another one."""
    questions = questions_of(folder)
    groups = sorted({each["group_id"] for each in questions})
    with (
        fact_search(directory, embedder) as search,
        SqliteGraph(DirectoryLayout(directory).episodes, "episodic") as turns,
    ):
        for number, each in enumerate(questions):
            own = each["group_id"]
            for group in (own, other_than(own, groups, number)):
                found = search.candidates(
                    ask(FactSearchQuery, {"query": each["question"], "group_id": group}), Moment(None, HEAD)
                )
                names = _names(turns, [uuid for fact in found.facts for uuid in fact.episodes])
                evidence = set(each["evidence"]) if group == own else set()
                right = [bool(evidence & {names.get(uuid) for uuid in fact.episodes}) for fact in found.facts]
                yield Judged(own, found.signals, np.array(right, np.float64))


def judged_beliefs(half: beliefs.Half, embedder: Embedder) -> Iterator[Judged]:
    """Yield the facts that are weighed for each belief case of a half."""
    worlds = list(beliefs.worlds_of(half))
    with TemporaryDirectory(prefix="asof-beliefs-") as folder:
        directory = Path(folder) / "memory"
        with asof.open(directory) as memory:
            beliefs.tell(memory, worlds)
        with fact_search(directory, embedder) as search:
            for number, world in enumerate(worlds):
                for case in world.cases:
                    valid = instant(case.valid_at or beliefs.NOW)
                    query = ask(FactSearchQuery, {"query": case.question, "group_id": case.group})
                    found = search.candidates(query, Moment(valid, HEAD))
                    claims = [(fact.subject, fact.relation, fact.object) in case.expected for fact in found.facts]
                    yield Judged(f"{half} {number}", found.signals, np.array(claims, np.float64))


@contextmanager
def fact_search(directory: Path, embedder: Embedder) -> Iterator[Search]:
    """Open the facts of a directory for search, with a vector for each."""
    places = DirectoryLayout(directory)
    with ExitStack() as opened:
        cache = CachedEmbedder(embedder, places.vectors)
        opened.callback(cache.close)
        beliefs_ = opened.enter_context(SqliteGraph(places.graph(_GENERATION), f"semantic.{_GENERATION}"))
        index = filled_index(places.index(_GENERATION), facts_of(beliefs_), cache)
        yield Search(beliefs_, embedder, index)


def _names(turns: SqliteGraph, uuids: Sequence[str]) -> dict[str, str]:
    numbers = turns.turn_numbers(list(dict.fromkeys(uuids)))
    return {row.uuid: row.name for row in turns.episodes_numbered(numbers).values()}
