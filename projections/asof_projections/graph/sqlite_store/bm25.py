"""BM25 over the sentences of the facts that hold at a moment, and over no others.

FTS5 finds which facts have a word, but its own scores are not used: they count the facts of all groups and of all
times. Then another group's words would show through a score, and an answer as of an earlier known moment would not be
the one that was given then. Sentences are short and seldom repeat a word, so a word counts once, however often a
sentence has it; and long is what is longer than a length that never changes.
"""

import sqlite3
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.sqlite_store.base import listed

_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # BM25's k1 and b
_USUAL: Final = 5.0  # words of a sentence
_SCORED: Final = 200  # facts at least, and four for each one wanted: those with the rarest words
_MOST: Final = 0.6  # of all facts
_SAMPLE: Final = 64  # facts, evenly spread, by which the share of a group is estimated

_SHARE: Final = f"""WITH RECURSIVE sample (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM sample WHERE i < {_SAMPLE - 1})
    SELECT coalesce(avg(grp = :group), 0) FROM (SELECT (SELECT grp FROM facts
        WHERE n > i * (SELECT max(n) FROM facts) / {_SAMPLE} ORDER BY n LIMIT 1) AS grp FROM sample)"""
_HAVING: Final = "SELECT group_concat(rowid) FROM sentence_words WHERE sentence_words MATCH :words"
_LENGTHS: Final = """SELECT length(sentence) - length(replace(sentence, ' ', '')) + 1 FROM facts
    WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n"""


def best(
    db: sqlite3.Connection, words: list[str], group: int | None, holding: NDArray[np.int64], limit: int
) -> list[tuple[int, float]]:
    """Return (number, score) of the best of the facts that hold, which come ascending; equal scores by number.

    The caller holds a transaction, so that all statements read one state.
    """
    # The group is indexed as a word beside the sentence, so that a search reads its own group alone. Where most facts
    # are of the group, that filter costs more than reading the others too.
    most = group is not None and db.execute(_SHARE, {"group": group}).fetchone()[0] > _MOST
    within = "" if group is None or most else f'grp : "g{group}" AND '
    sums = np.zeros(len(holding))
    for word in words:
        has = np.isin(holding, _having(db, f'{within}sentence : "{word}"'), assume_unique=True)
        sums += has * np.log((len(holding) + 1) / (np.count_nonzero(has) + 0.5))
    having = np.flatnonzero(sums)
    places = np.sort(having[np.argsort(-sums[having], kind="stable")[: max(_SCORED, 4 * limit)]])
    numbers = holding[places].tolist()
    lengths = np.array([length for (length,) in db.execute(_LENGTHS, (listed(numbers),))], np.float64)
    norms = 1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / _USUAL
    scores = (sums[places] * (1 + _SATURATION) / (1 + _SATURATION * norms)).tolist()
    return sorted(zip(numbers, scores, strict=True), key=lambda each: (-each[1], each[0]))[:limit]


def _having(db: sqlite3.Connection, phrase: str) -> NDArray[np.int64]:
    numbers = db.execute(_HAVING, {"words": phrase}).fetchone()[0]
    return np.fromstring(numbers, np.int64, sep=",") if numbers else np.empty(0, np.int64)
