"""The story that the demonstration tells: messages, events, one question as of five moments, why, and a rebuild.

The conversation is data (demo_conversation.jsonl). Each message carries the time at which it is recorded, so that the
story is the same whenever it is told; one arrives more than a year after it was written.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from asof.memory import Memory
from asof.settings import Settings
from asof_projections.queries.evidence import Why
from asof_streams.instants import parse

GROUP: Final = "ana-and-ben"
WHO: Final = "Ana"
RELATION: Final = "lives_in"
EXPLAINED: Final = 1  # of the moments: whose answer is explained
AGAIN: Final = "again"  # the generation that is built a second time

LOGS: Final[tuple[Literal["messages", "episodic", "semantic"], ...]] = ("messages", "episodic", "semantic")


@dataclass(frozen=True, slots=True)
class Moment:
    """A point on both clocks to ask as of, and what makes its answer what it is."""

    valid_at: str
    known_at: str
    because: str


MOMENTS: Final = (
    Moment("2023-05-20", "2023-05-20", "all that she had told by then"),
    Moment("2023-05-20", "2024-12-31", "in June she told of her move in May"),
    Moment("2023-09-15", "2023-09-15", "Ben had misheard; she set it right on the 20th"),
    Moment("2024-07-01", "2024-04-01", "a plan for June, which came to nothing"),
    Moment("2024-12-31", "2024-12-31", "where it ends"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the question is answered with as of one moment."""

    moment: Moment
    objects: tuple[str, ...]
    facts: tuple[str, ...]  # their ids

    def to_json(self) -> dict[str, Any]:
        """Return it as the command line shows it."""
        moment = self.moment
        return {
            "valid_at": moment.valid_at,
            "known_at": moment.known_at,
            "objects": list(self.objects),
            "because": moment.because,
            "facts": list(self.facts),
        }


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that the demonstration shows."""

    messages: int
    first: str  # when the first message was recorded, RFC 3339
    last: str
    speakers: tuple[str, ...]
    events: dict[str, dict[str, int]]  # by log, then by type
    answers: tuple[Answer, ...]
    why: Why = field(repr=False)
    digests: dict[str, str]  # by generation

    @property
    def same(self) -> bool:
        """Whether the rebuild gave what the events had given one by one."""
        return len(set(self.digests.values())) == 1

    def to_json(self) -> dict[str, Any]:
        """Return it as the command line shows it."""
        return {
            "messages": self.messages,
            "first": self.first,
            "last": self.last,
            "speakers": list(self.speakers),
            "events": self.events,
            "question": {"group_id": GROUP, "about": WHO, "relation": RELATION},
            "answers": [answer.to_json() for answer in self.answers],
            "why": self.why.to_json(),
            "digests": self.digests,
            "same": self.same,
        }


def conversation() -> list[dict[str, Any]]:
    """Return the messages, each with the time at which it is recorded."""
    text = (files("asof.cli") / "demo_conversation.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def tell(data: Path, settings: Settings, heard: Callable[[int, int], None] | None = None) -> Story:
    """Tell the story in an empty directory; `heard` is called with (messages so far, all of them)."""
    messages = conversation()
    clock = 0
    apart = settings.model_copy(update={"kafka": None})  # a broker has a clock of its own, and others who read
    with Memory(data, apart, now=lambda: clock) as memory:
        for number, message in enumerate(messages, 1):
            clock = parse(message["recorded_at"])
            said = {name: value for name, value in message.items() if name != "recorded_at"}
            memory.add(said.pop("content"), **said)
            if heard:
                heard(number, len(messages))
        answers = tuple(_answers(memory))
        events: dict[str, dict[str, int]] = {
            log: dict(Counter(record.event.type for record in memory.events(log))) for log in LOGS
        }
        active = memory.active()
        memory.rebuild(AGAIN)
        return Story(
            len(messages),
            messages[0]["recorded_at"],
            messages[-1]["recorded_at"],
            tuple(dict.fromkeys(message["role"] for message in messages)),
            events,
            answers,
            memory.why(answers[EXPLAINED].facts[0]),
            {name: memory.digest(name) for name in (active, AGAIN)},
        )


def _answers(memory: Memory) -> Iterator[Answer]:
    for moment in MOMENTS:
        found = memory.facts(
            group_id=GROUP, about=WHO, relation=RELATION, valid_at=moment.valid_at, known_at=moment.known_at
        )
        yield Answer(moment, tuple(fact.object for fact in found), tuple(fact.uuid for fact in found))
