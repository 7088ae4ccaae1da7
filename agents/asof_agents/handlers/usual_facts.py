"""The usual structured fact: an assertion about a slot of which nothing is known, or a new value of a short one.

What follows from it is what `structured_facts` would derive, at a fraction of the cost:
tests/property/test_usual_facts.py holds the two to each other. Pure.
"""

from typing import Final

from asof_agents.handlers.granules import granule_of
from asof_agents.handlers.invalidations import SlotState, consequences, open_periods, value_of
from asof_agents.handlers.statement_writer import ALSO_KNOWN_AS, MERGE, Build
from asof_agents.ports import FactView
from asof_agents.resolution.exact import first_fitting, introduction
from asof_projections.model.rows import Slot
from asof_projections.versions import Assertion, belief
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event, Record, event_of
from asof_streams.ids import derive
from asof_streams.instants import INF
from asof_streams.messages import FactStatement
from asof_streams.semantic import FactAsserted, Period
from asof_streams.timezones import zone_of

_DEEDS: Final = 2  # the first rule of belief that tells them from states
_SHORT: Final = 8  # assertions of a slot; in a longer one it costs less to find what a new one touches


_Claim = tuple[int, int | None, bool, bool]
"""What is claimed: from when, until when, whether it happened then, and whether that is still ahead."""


def usual_events(first: Record, episode: EpisodeRecorded, build: Build, known: FactView) -> list[Event] | None:
    """Return the semantic events of the episode of a structured fact; None: it is not a usual one."""
    stated = episode.statement
    claim = _claim(stated, episode, build)
    if claim is None or (stated.ref is not None and _is_known(stated.ref, first.group, known)):
        return None
    events: list[Event] = []
    subject = _named(stated.subject or "", stated.subject_type, first.group, episode, build, known, events)
    is_new, entity = bool(events), None
    if isinstance(stated.object, str):
        entity = _named(stated.object, stated.object_type, first.group, episode, build, known, events)
    fact, relation = derive("fact", build.digest, episode.episode_id, "0"), stated.relation or ""
    literal = stated.value
    value = value_of(entity, literal)
    start, end, occurrence, planned = claim
    holds: tuple[Period, ...] = ((start, end),)
    changes: list[Event] = []
    single = known.single(first.group, relation)
    if entity is not None and _holds_both_ways(relation, episode, build):
        reverse = None if events else known.slot(first.group, entity, relation, value_of(subject, None))
        if single or (reverse is not None and reverse.assertions):
            return None
    if single or not is_new:  # else no store has anything of the slot
        slot = known.slot(first.group, subject, relation, None if single else value)
        if slot.assertions or slot.endings:
            may_contest = single and build.policy == "recency" and not occurrence
            if not may_contest or not _is_new_value(value, slot, is_told=stated.ref is None):
                return None
            until, order = INF if end is None else end, (first.cause, 0)
            new = Assertion(fact, value, start, until, order, episode.valid_at, (), not planned)
            holds, changes = _weigh(new, slot, build.rule)
    said = literal if entity is None else stated.object
    fields = {  # all of them, in their order
        "fact_id": fact,
        "subject": subject,
        "relation": relation,
        "object": entity,
        "value": literal,
        "sentence": stated.fact or f"{stated.subject} {relation.replace('_', ' ')} {said}",
        "confidence": stated.confidence,
        "valid_from": start,
        "valid_to": end,
        "said_at": episode.valid_at,
        "grain": stated.grain,
        "time_words": None,
        "episode_id": episode.episode_id,
        "relationship_id": None,
        "ref": stated.ref,
        "corrects": None,
        "occurrence": occurrence,
        "planned": planned,
        "number": literal is not None,
        "qualifiers": stated.qualifiers or {},
        "holds": holds,
    }
    return [*events, event_of(FactAsserted, fields), *changes]


def _claim(stated: FactStatement, episode: EpisodeRecorded, build: Build) -> _Claim | None:
    """Return what an assertion claims; None: it is none, is worth no fact, or merges what it names."""
    relation = stated.relation or ""
    if stated.op != "assert" or relation == ALSO_KNOWN_AS or stated.object == stated.subject:
        return None
    ontology = build.ontology_of(episode)
    kind = ontology.relation(relation)
    start, end = episode.valid_at if stated.valid_at is None else stated.valid_at, stated.invalid_at
    if end is not None and start >= end:
        return None
    if build.rule < _DEEDS or kind is None:
        return start, end, False, False
    occurrence = relation in ontology.occurrences
    if occurrence and end is None:
        start, end = granule_of(start, stated.grain or "day", zone_of(episode.timezone or "UTC"))
    is_deed = relation in ontology.relations and kind.is_deed
    return start, end, occurrence, is_deed and start > episode.valid_at


def _holds_both_ways(relation: str, episode: EpisodeRecorded, build: Build) -> bool:
    kind = build.ontology_of(episode).relation(relation)
    return kind is not None and kind.symmetric


def _is_known(ref: str, group: str, known: FactView) -> bool:
    """Whether a ref may be that of something known."""
    own = ref.removeprefix(MERGE)
    return known.fact_with_ref(group, own) is not None or known.statement(own) is not None


def _named(
    name: str,
    type_: str | None,
    group: str,
    episode: EpisodeRecorded,
    build: Build,
    known: FactView,
    events: list[Event],
) -> str:
    """Return the id of the entity with exactly a name; of a new one, whose introduction is added to some events."""
    found = first_fitting(known.entities_named(group, name), type_)
    if found is not None:
        return found.uuid
    introduced = introduction(name, type_, build.digest, episode.episode_id)
    events.append(introduced)
    return introduced.entity_id


def _is_new_value(value: str, slot: Slot, *, is_told: bool) -> bool:
    """Whether a value displaces others of a short slot of states, and nothing else; is_told: again, if it has it."""
    states = slot.assertions
    return (
        not slot.endings
        and len(states) < _SHORT
        and not any(state.granules or (is_told and state.value == value) for state in states)
    )


def _weigh(new: Assertion, slot: Slot, rule: int) -> tuple[tuple[Period, ...], list[Event]]:
    """Return the periods over which a new assertion is believed, and what follows for the others of its slot."""
    fact, before = new.fact_id, slot.held
    held = belief([*slot.assertions, new], (), single=True, rule=rule)
    changed = sorted(each for each, periods in held.items() if each != fact and before.get(each, ()) != periods)
    if not changed:
        return open_periods(held[fact]), []
    state = SlotState(
        single=True, rule=rule, assertions={one.fact_id: one for one in slot.assertions}, before=before, last=fact
    )
    return open_periods(held[fact]), list(consequences(state, changed, held))
