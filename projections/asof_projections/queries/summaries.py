"""An entity in a few sentences: what it is like, then what holds of it, what was attested last first.

A summary is made for the answer that shows it, from what is known at the moment that is asked for; so it is right as of
any moment, changes with what it rests on, and says nothing that no fact or attribute says. A language model would have
to be asked anew for every pair of moments, or would tell the past what was heard later. Only what a producer gave as an
entity's summary is kept: an attribute of that name, which then stands in the place of all others. Pure.
"""

from collections.abc import Sequence
from typing import Final

from asof_projections.model.rows import AttributeRow, FactRow

GIVEN: Final = "summary"  # the attribute that a given summary is
SUMMARISED: Final = 40  # facts: as many short ones as fit
LONGEST: Final = 600  # characters


def summary(attributes: Sequence[AttributeRow], facts: Sequence[FactRow]) -> str:
    """Return what is known in whole sentences, at most LONGEST characters of them; "" where nothing is known."""
    for attribute in attributes:
        if attribute.name == GIVEN:
            return attribute.value
    described = [f"{attribute.name.replace('_', ' ')}: {attribute.value}" for attribute in attributes]
    parts = dict.fromkeys(_ended(part) for part in (*described, *(fact.fact for fact in facts)))
    whole = ""
    for part in parts:
        longer = f"{whole} {part}".lstrip()
        if len(longer) <= LONGEST:
            whole = longer
    return whole


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
