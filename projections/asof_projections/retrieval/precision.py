"""The precision of a search: it leaves out improbable hits, and of one slot all but two claims."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.model.answers import Hit
from asof_projections.retrieval.center import lasting

CLAIMS: Final = 2  # of a slot: what holds, and what it displaced


def within_slots(hits: Sequence[Hit], single: Callable[[str, str], bool]) -> list[Hit]:
    """Return hits, in their order, with two claims at most of a slot whose relation is single-valued in its group.

    Those that hold or end last are left; of such that end at once the better ones.
    """
    slots: dict[tuple[str, str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        slots[hit.group_id, hit.relation, hit.subject_uuid].append(hit)
    crowded = {slot[:2] for slot, claims in slots.items() if len(claims) > CLAIMS}
    limited = {relation for relation in crowded if single(*relation)}
    dropped = {
        hit.uuid
        for slot, claims in slots.items()
        if slot[:2] in limited
        for hit in sorted(claims, key=lasting)[CLAIMS:]
    }
    return [hit for hit in hits if hit.uuid not in dropped]


def probable_places(
    places: NDArray[np.int64], chances: NDArray[np.float64], asked: float | None, least: float
) -> NDArray[np.int64]:
    """Return the places, best first, that are as probable as was asked; where nothing was, all if the best one is.

    A chance that is not known (NaN) is no reason to leave anything out.
    """
    if asked is not None:
        return places[~(chances[places] < asked)]
    return places[:0] if (chances[places[:1]] < least).any() else places
