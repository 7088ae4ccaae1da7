"""The meaning of a cue in its tense and mood: the relation holds, has ended or is denied, and when."""

from dataclasses import dataclass

from asof_agents.extraction.english.patterns import CueEntry
from asof_agents.extraction.english.predicates import Predicate
from asof_agents.extraction.ports import Stance, TimeHint
from asof_streams.instants import DAY, INF, NEG

_ENDED_STATES = frozenset({"be", "prefer"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """A stance and a stated time. `opposite`: the relation's opposite holds instead.

    granule: [from, to) in which a deed happened, did not happen, or is planned. planned: with `ended`, a plan is off.
    former: with `ended`, it held before.
    """

    stance: Stance
    valid_from: int | None = None
    valid_to: int | None = None
    opposite: bool = False
    granule: tuple[int, int] | None = None
    planned: bool = False
    former: bool = False


def meaning(
    entry: CueEntry, predicate: Predicate, hint: TimeHint | None, said_at: int, *, named: bool
) -> Meaning | None:
    """Return the meaning; None: it is not sure. `named`: the object is a name, not a common noun."""
    if predicate.tense == "past" and hint is not None and hint.start > said_at:
        hint = None
    if entry.takes == "deed" and predicate.negation not in {"", "no longer"}:
        return None  # "I don't plan to move": nothing that was planned has ended
    if entry.relation.is_deed:
        return _event(entry, predicate, hint, said_at, named=named)
    if entry.kind == "cue":
        return _state(entry, predicate, hint, said_at, named=named)
    return _change(entry, predicate, hint, said_at, named=named)


def _state(
    entry: CueEntry, predicate: Predicate, hint: TimeHint | None, said_at: int, *, named: bool
) -> Meaning | None:
    if predicate.negation:
        return _negated_state(entry, predicate, hint)
    if predicate.aspect in {"start", "stop"}:
        return _begun(predicate, hint, said_at, ends=predicate.aspect == "stop")
    if entry.lemma == "be" and not entry.steps and predicate.tense == "present" and _ahead(hint, said_at):
        return None  # "I'm hiking this weekend" is no habit
    begins, ends = stated_period(hint)
    if predicate.tense == "used to":
        return Meaning("ended", valid_to=ends, former=True)
    if predicate.tense == "past":
        if hint is not None and hint.kind in {"point", "during", "until"} and not entry.relation.generic:
            return Meaning("holds", begins, ends)
        if entry.relation.generic:  # "I loved Dune": a taste for a thing with a name stays
            return Meaning("holds") if named else None
        return Meaning("ended", former=True) if named else None
    if entry.takes == "deed" and _ahead(hint, said_at):
        return Meaning("holds", _begin_ahead(hint, said_at))  # the time is that of the deed
    if predicate.tense == "future":
        return Meaning("holds", _begin_ahead(hint, said_at)) if _ahead(hint, said_at) else None
    if hint is not None and hint.kind == "point":
        begins = _begin_ahead(hint, said_at) if predicate.tense == "progressive" else None
        ends = None
    return Meaning("holds", begins, ends)


def _negated_state(entry: CueEntry, predicate: Predicate, hint: TimeHint | None) -> Meaning | None:
    if predicate.aspect or predicate.tense in {"used to", "future"}:
        return None
    if predicate.negation == "no longer":
        at = hint.start if hint and hint.kind in {"point", "since"} else None
        return Meaning("ended", valid_to=at, former=True)
    now = predicate.tense in {"present", "progressive"}
    if now and entry.relation.opposite:
        return Meaning("holds", opposite=True)
    if predicate.negation == "never" or predicate.tense == "perfect":
        return None if entry.relation.generic else Meaning("denied")
    return Meaning("ended") if now else None


def _change(
    entry: CueEntry, predicate: Predicate, hint: TimeHint | None, said_at: int, *, named: bool
) -> Meaning | None:
    ends = entry.kind == "end"
    if predicate.negation:
        done = predicate.tense in {"past", "perfect"} and predicate.negation != "no longer"
        return Meaning("denied") if done and named and not ends else None
    if ends and entry.lemma in _ENDED_STATES and predicate.tense == "present" and not predicate.aspect:
        return Meaning("ended")  # "I'm off sugar", "I prefer coffee over tea"
    return None if predicate.aspect else _begun(predicate, hint, said_at, ends=ends)


def _begun(predicate: Predicate, hint: TimeHint | None, said_at: int, *, ends: bool) -> Meaning | None:
    """A state has begun or ended, or is sure to do so at a stated time."""
    happened = predicate.tense in {"past", "perfect"}
    if not happened and not (predicate.tense in {"future", "progressive", "present"} and _ahead(hint, said_at)):
        return None
    begins, until = stated_period(hint)
    if not happened:
        begins = _begin_ahead(hint, said_at)
    if ends:
        return Meaning("ended", valid_to=begins if begins is not None else until, former=happened)
    return Meaning("holds", begins, until if hint is not None and hint.kind in {"during", "until"} else None)


def _event(
    entry: CueEntry, predicate: Predicate, hint: TimeHint | None, said_at: int, *, named: bool
) -> Meaning | None:
    if predicate.tense == "used to" or predicate.aspect:
        return None
    granule = (hint.start, hint.end) if hint is not None and hint.kind in {"point", "during"} else None
    if predicate.negation:
        return _undone(predicate, granule) if named else None
    if predicate.tense in {"past", "perfect"}:
        return Meaning("holds", granule and granule[0], granule=granule)
    begins = _begin_ahead(hint, said_at)
    if predicate.tense == "present" and entry.lemma == "be":  # "is reading": the cue itself says that it goes on now
        today = said_at - said_at % DAY
        return Meaning("holds", begins, granule=granule or (today, today + DAY), planned=begins is not None)
    planned = predicate.tense in {"future", "progressive"} or entry.lemma == "have"  # "I have an interview tomorrow"
    return Meaning("holds", begins, granule=granule, planned=True) if planned and _ahead(hint, said_at) else None


def _undone(predicate: Predicate, granule: tuple[int, int] | None) -> Meaning | None:
    """A deed was not done, or is not to be done: a plan for it is called off."""
    if predicate.tense in {"future", "progressive"}:
        return Meaning("ended", granule=granule, planned=True)
    done = predicate.tense in {"past", "perfect"} and predicate.negation != "no longer"
    return Meaning("denied", granule=granule) if done else None


def _ahead(hint: TimeHint | None, said_at: int) -> bool:
    """Whether a stated time is still to begin, or is today. "This month" is neither: part of it has passed."""
    if hint is None or hint.kind not in {"point", "during", "since"} or hint.start == NEG:
        return False
    return said_at < hint.start or said_at < hint.end <= hint.start + DAY


def _begin_ahead(hint: TimeHint | None, said_at: int) -> int | None:
    return hint.start if hint is not None and hint.start > said_at else None


def stated_period(hint: TimeHint | None) -> tuple[int | None, int | None]:
    """Return where a stated time begins and ends; None: it does not say."""
    if hint is None:
        return None, None
    return (None if hint.start == NEG else hint.start), (None if hint.end == INF else hint.end)
