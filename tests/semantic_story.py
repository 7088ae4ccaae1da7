"""Semantic events told one after the other, as a log would hold them: one message a call, a second apart."""

from asof_streams.events import Draft, Event, Record
from asof_streams.semantic import EntityIntroduced, FactAsserted, FactEnded, FactInvalidated, FactRetracted

START = 1_000_000_000
SECOND = 1_000_000


class Story:
    """Collects records; `now` is the known moment of the last one."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.drafts: list[Draft] = []
        self.now = START
        self.messages = 0

    def tell(self, *events: Event, group: str = "g") -> int:
        """Append the events of one message; return the known moment from which they are believed."""
        self.now += SECOND
        for place, event in enumerate(events):
            draft = Draft(group, self.now, self.messages, place, len(events), event)
            self.drafts.append(draft)
            self.records.append(Record(len(self.records), *draft[:5], 1, event))
        self.messages += 1
        return self.now


def entity(name: str, type_: str | None = None) -> EntityIntroduced:
    return EntityIntroduced(entity_id=f"id-{name}", name=name, entity_type=type_, episode_id=f"said-{name}")


def fact(id_: str, subject: str, relation: str, obj: str | None = None, *holds, value=None, **more) -> FactAsserted:
    """`holds` are periods; without one, it holds from 0 on."""
    periods = holds or ((0, None),)
    given = {
        "fact_id": id_,
        "subject": f"id-{subject}",
        "relation": relation,
        "object": obj and f"id-{obj}",
        "value": value,
        "sentence": f"{subject} {relation} {obj or value}",
        "confidence": 1.0,
        "valid_from": periods[0][0],
        "valid_to": periods[-1][1],
        "said_at": 0,
        "episode_id": f"said-{id_}",
        "holds": periods,
    }
    return FactAsserted(**given | more)


def unasserted(id_: str, *holds, kind: str = "superseded", cause: str = "other") -> FactInvalidated:
    return FactInvalidated(fact_id=id_, kind=kind, cause=cause, holds=holds)


def ended(id_: str, subject: str, relation: str, obj: str | None, at: int, **more) -> FactEnded:
    where = {"subject": f"id-{subject}", "relation": relation, "object": obj and f"id-{obj}"}
    return FactEnded(ending_id=id_, at=at, said_at=at, episode_id=f"said-{id_}", **where | more)


def retracted(id_: str, target: str, *dead: str, live: tuple[str, ...] = ()) -> FactRetracted:
    said = {"episode_id": f"said-{id_}", "reason": "retracted"}
    return FactRetracted(retraction_id=id_, target=target, dead=dead or (target,), live=live, **said)
