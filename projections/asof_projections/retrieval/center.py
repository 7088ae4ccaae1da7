"""The centre of a search: how many steps facts are away from an entity, as of the moment of the question."""

from typing import Final

from asof_projections.model.answers import Hit
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import FactRow, Moment
from asof_projections.ports import BeliefStore

_NEAR: Final = 2  # steps that are looked at where a query does not say how many


def steps_from_center(beliefs: BeliefStore, query: FactSearchQuery, at: Moment) -> dict[str, int]:
    """Return the ids of the entities whose facts are near the centre of a query, with their steps away from it.

    The centre and its duplicates are 0 steps away. Of a centre that nobody is, and without one, there are none.
    """
    if query.center is None:
        return {}
    steps = dict.fromkeys(_meant(beliefs, query, query.center, at.known), 0)
    last = sorted(steps)
    for step in range(1, query.hops or _NEAR):
        if not last:
            break
        around = beliefs.reach(query.group, last, at, None)
        ends = {end for fact in (*around.outward, *around.inward) for end in (fact.subject_uuid, fact.object_uuid)}
        last = sorted(
            beliefs.identity(sorted(end for end in ends if end and end not in steps), at.known) - steps.keys()
        )
        steps |= dict.fromkeys(last, step)
    return steps


def hop_of(fact: FactRow, steps: dict[str, int]) -> int | None:
    """Return how many steps a fact is away from the centre: 1 for a fact of the centre itself; None: it is not near."""
    nearest = min((steps[end] for end in (fact.subject_uuid, fact.object_uuid) if end in steps), default=None)
    return None if nearest is None else nearest + 1


def nearness(hit: Hit) -> tuple[bool, int, float, tuple[bool, float]]:
    """Return the key that puts hits in order: those fewer steps away first, of these the better, then what lasts."""
    return hit.hop is None, hit.hop or 0, -hit.score, lasting(hit)


def lasting(hit: Hit) -> tuple[bool, float]:
    """Return the key that puts facts without an end first, then those that end later."""
    return hit.invalid_at is not None, 0 if hit.invalid_at is None else -hit.invalid_at.timestamp()


def _meant(beliefs: BeliefStore, query: FactSearchQuery, name: str, known: int | None) -> set[str]:
    groups = (None,) if query.groups is None else query.groups
    named = {uuid for group in groups for uuid in beliefs.meant(group, name, known)}
    return named or beliefs.identity([name], known)
