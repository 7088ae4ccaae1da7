"""BM25 search over the sentences of facts, which scores only the likely candidates.

Scoring a fact costs twenty times as much as finding it, and one frequent word finds a tenth of all facts. Sentences are
short and seldom repeat a word, so BM25 depends mostly on which words of the query a fact has. Candidates are therefore
ranked by the sum of the inverse document frequencies of their words, and only the first are scored; all of them, where
few facts have any of the words.
"""

import sqlite3
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.sqlite_store.base import listed
from asof_projections.model.rows import Window

_SCORED: Final = 200  # facts at least, and four for each one wanted; four times as many while too few of them hold
_MOST: Final = 0.6  # of all facts
_SAMPLE: Final = 64  # facts, evenly spread, by which the share of a group is estimated

_COUNT: Final = "SELECT count(*) FROM facts"
_SHARE: Final = f"""WITH RECURSIVE sample (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM sample WHERE i < {_SAMPLE - 1})
    SELECT coalesce(avg(grp = :group), 0) FROM (SELECT (SELECT grp FROM facts
        WHERE n > i * (SELECT max(n) FROM facts) / {_SAMPLE} ORDER BY n LIMIT 1) AS grp FROM sample)"""
_HAVING: Final = "SELECT group_concat(rowid) FROM sentence_words WHERE sentence_words MATCH :words"
_SCORES: Final = """SELECT w.rowid, -w.rank FROM sentence_words w
    WHERE sentence_words MATCH :words AND w.rank MATCH 'bm25(1.0, 0.0)'
    AND +w.rowid IN (SELECT value FROM json_each(:among))
    AND EXISTS (SELECT 1 FROM versions v INDEXED BY version_fact WHERE v.fact = w.rowid
        AND (:group IS NULL OR v.grp = :group) AND v.kt > :kmin AND v.kf <= :kmax AND v.vf <= :vmax AND v.vt > :vmin)"""


def best(
    db: sqlite3.Connection,
    words: list[str],
    group: int | None,
    window: Window,
    limit: int,
    among: NDArray[np.int64] | None = None,
) -> list[tuple[int, float]]:
    """Return (number, score) of the best facts that hold in a window; equal scores by number. among: only these.

    The caller holds a transaction, so that all statements read one state.
    """
    phrases = [f'"{word}"' for word in words]
    # The group is indexed as a word beside the sentence, with weight 0, so that a search reads its own group alone.
    # Where most facts are of the group, that filter costs more than reading the others too.
    most = group is not None and db.execute(_SHARE, {"group": group}).fetchone()[0] > _MOST
    within = "" if group is None or most else f'grp : "g{group}" AND '
    likely = _likely(db, [f"{within}sentence : {phrase}" for phrase in phrases])
    if among is not None:
        likely = likely[np.isin(likely, among)]
    parameters = window._asdict() | {"group": group, "words": f"{within}sentence : ({' OR '.join(phrases)})"}
    scored: list[tuple[int, float]] = []
    start, stop = 0, max(_SCORED, 4 * limit)
    while start < len(likely) and len(scored) < limit:
        scored += db.execute(_SCORES, parameters | {"among": listed(likely[start:stop].tolist())})
        start, stop = stop, 4 * stop
    scored.sort(key=lambda each: (-each[1], each[0]))
    return scored[:limit]


def _likely(db: sqlite3.Connection, phrases: list[str]) -> NDArray[np.int64]:
    """Return the facts that have any of these phrases, by the summed weight of their phrases."""
    total = db.execute(_COUNT).fetchone()[0]
    matches = (db.execute(_HAVING, {"words": phrase}).fetchone()[0] for phrase in phrases)
    having = [np.fromstring(numbers, np.int64, sep=",") for numbers in matches if numbers]
    if not having:
        return np.empty(0, np.int64)
    weights = [log((total + 1) / (len(numbers) + 0.5)) for numbers in having]
    numbers, places = np.unique(np.concatenate(having), return_inverse=True)
    weighed = np.bincount(places, np.repeat(weights, list(map(len, having))))
    return numbers[np.argsort(-weighed, kind="stable")]
