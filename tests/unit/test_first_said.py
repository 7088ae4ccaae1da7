"""Which statement of a value holds, against looking at each instant."""

from itertools import pairwise
from random import Random

from asof_projections.restatements import SlotClaim, first_said
from effort import tries


def claims(random: Random, count: int, span: int, values: str) -> list[SlotClaim]:
    """Return claims in order, some of which claim nothing."""
    orders = random.sample(range(count), count)
    made = []
    for n, order in enumerate(orders):
        start = random.randrange(span)
        made.append(SlotClaim(f"f{n}", random.choice(values), start, start + random.randrange(span), (order, 0)))
    return sorted(made, key=lambda claim: (claim.start, claim.order))


def at(instant: int, ordered: list[SlotClaim]) -> str | None:
    """Return the fact that holds at an instant."""
    cover = [claim for claim in ordered if claim.start <= instant < claim.end]
    same: list[SlotClaim] = []
    for claim in reversed(cover):
        if claim.value != cover[-1].value:
            break
        same.append(claim)
    return min(same, key=lambda claim: claim.order).fact_id if same else None


def test_the_first_said_of_those_that_say_the_same_holds_at_each_instant() -> None:
    for random in map(Random, range(tries(300, nightly=20_000))):
        span = random.choice([5, 20, 60])
        ordered = claims(random, random.randrange(1, 30), span, random.choice(["x", "xy", "xxxy", "xyz"]))

        held = first_said(ordered)

        assert held.keys() == {claim.fact_id for claim in ordered}
        for instant in range(2 * span):
            found = [fact for fact, periods in held.items() for low, high in periods if low <= instant < high]
            assert found == [fact for fact in [at(instant, ordered)] if fact is not None]
        for periods in held.values():
            assert all(low < high for low, high in periods)
            assert all(one[1] < other[0] for one, other in pairwise(periods))
