"""What writing gives back, and the events of a log: plain values with the JSON that every door shows."""

from dataclasses import dataclass
from typing import Any

from asof_streams.events import Record
from asof_streams.instants import render


@dataclass(frozen=True, slots=True)
class Added:
    """A message that is on the log for good."""

    position: int  # on Kafka its offset, in the partition of its group
    episode_id: str | None  # None on Kafka, where it is known once a worker has taken the message

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return {"position": self.position, "episode_id": self.episode_id}


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was not accepted, and why; never its content."""

    line: int  # from 1
    reason: str  # names the field

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return {"line": self.line, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Produced:
    """What became of many lines."""

    accepted: int
    refused: tuple[Refused, ...]
    first: int | None  # position of the first accepted message; on Kafka its offset, in the partition of its group
    parked: int | None  # accepted, yet no fact could be made of them, events say why; None on Kafka: not known yet

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return {
            "accepted": self.accepted,
            "refused": [r.to_json() for r in self.refused],
            "first_position": self.first,
            "parked": self.parked,
        }


def event_json(record: Record, log: str, generation: str | None) -> dict[str, Any]:
    """Return an event with its envelope, as every door shows it."""
    return {
        "position": record.position,
        "id": record.id_in(log if generation is None else f"semantic.{generation}"),
        "type": record.event.type,
        "version": record.event.version,
        "group_id": record.group,
        **({} if generation is None else {"generation": generation}),
        "recorded_at": render(record.recorded_at),
        "cause": record.cause,
        "index": record.place,
        "count": record.size,
        "term": record.term,
        "data": record.event.model_dump(mode="json", exclude_none=True),
    }
