"""Finds the facts of which nobody said since when they hold, and which a later message tells to be over before that.

"I live in Oslo" says that it holds: its fact begins when it was said, for want of better. "I moved to Berlin last
month", or "I left Oslo last week", said after it, speaks of now, and a start that nobody stated does not stand against
it. What is told of a time long ago does: "I moved to Berlin in 2010" is of a life before Oslo. Pure.
"""

from collections.abc import Iterable
from typing import Final

from asof_agents.ports import FactView
from asof_projections.model.rows import Statement
from asof_projections.versions import Assertion
from asof_streams.instants import DAY

_RECENT: Final = 366 * DAY  # until when a change, from the end of its day, month or year, is still of now
MOST: Final = 100  # facts that may give way at once: who states more in that time tells of no life


def is_recent(told_end: int, said_at: int) -> bool:
    """Whether what is told of a day, month or year that ends at an instant is of now, when it is said."""
    return said_at - told_end <= _RECENT


def facts_begun_by(
    assertions: Iterable[Assertion], change: int, said_at: int, known: FactView
) -> list[tuple[Assertion, Statement]]:
    """Return those of the believed assertions that begin at a change or later, without words that say so, in order.

    said_at: when the change was told; what was said later than that stands.
    """
    later = [a for a in assertions if not a.granules and a.start >= change and a.attested <= said_at]
    found = [(assertion, known.statement(assertion.fact_id)) for assertion in later]
    return [(a, s) for a, s in found if s is not None and s.said_at == a.start]
