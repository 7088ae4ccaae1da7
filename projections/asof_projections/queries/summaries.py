"""Summaries: an entity's attributes, then its facts, the most recently attested first, in a few sentences.

A community has the facts of its members, those between two of them first.

A summary is made for each answer, from what is known at the moment of the question. So it is right as of any moment and
says only what an attribute or a fact says. A language model would have to write one for every pair of moments, or would
mix later knowledge into the past. Only a summary that a producer gave is stored: as an attribute of that name, which
replaces the rest.
"""

from collections.abc import Sequence
from typing import Final

from asof_projections.graph.ports import GraphStore
from asof_projections.model.rows import AttributeRow, CommunityRow, FactRow, Moment

GIVEN: Final = "summary"  # the attribute with a producer's summary
SUMMARISED: Final = 40  # facts: as many short ones as fit
LONGEST: Final = 600  # characters
MEMBERS: Final = 100  # of a community, those that joined first: facts of others are not looked at


def summary(attributes: Sequence[AttributeRow], facts: Sequence[FactRow]) -> str:
    """Return as many whole sentences as fit into LONGEST characters, plans left out; "" where nothing is known."""
    for attribute in attributes:
        if attribute.name == GIVEN:
            return attribute.value
    described = [f"{attribute.name.replace('_', ' ')}: {attribute.value}" for attribute in attributes]
    parts = dict.fromkeys(_ended(part) for part in (*described, *(fact.fact for fact in facts if not fact.planned)))
    whole = ""
    for part in parts:
        longer = f"{whole} {part}".lstrip()
        if len(longer) <= LONGEST:
            whole = longer
    return whole


def community_summary(beliefs: GraphStore, community: CommunityRow, at: Moment) -> str:
    """Return the summary of a community as of a moment: of facts that hold then, or happened before."""
    members = [member.uuid for member in community.members[:MEMBERS]]
    facts = beliefs.latest(members, Moment(at.valid, at.known, deeds=True), SUMMARISED)
    inside = set(members)
    return summary((), sorted(facts, key=lambda fact: not inside.issuperset({fact.subject_uuid, fact.object_uuid})))


def surest(attributes: Sequence[AttributeRow]) -> tuple[AttributeRow, ...]:
    """Return the surest value of each attribute over an entity and its duplicates, in their order."""
    best = {a.name: a for a in sorted(attributes, key=lambda a: a.sureness)}
    return tuple(a for a in attributes if best[a.name] is a)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
