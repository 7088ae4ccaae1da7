"""The story that the demonstration tells: messages, events, one question as of five moments, why, and a rebuild.

The conversation is data (demo_conversation.jsonl). Each message carries the time at which it is recorded, so that the
story is the same whenever it is told; one arrives more than a year after it was written.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final

from asof.operations.facts import facts, why
from asof.operations.generations import digest, generations, rebuild
from asof.operations.logs import events, replay
from asof.operations.operation import read_query
from asof.operations.sessions import Session, open_session
from asof.operations.writes import add
from asof.settings import Settings

GROUP: Final = "ana-and-ben"
WHO: Final = "Ana"
RELATION: Final = "lives_in"
EXPLAINED: Final = 1  # of the moments: whose answer is explained
AGAIN: Final = "again"  # the generation that is built a second time

LOGS: Final = ("messages", "episodic", "semantic")
OPERATIONS: Final = (add, facts, why, replay, rebuild, digest, generations)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoryMoment:
    """A point on both clocks to ask as of, and what makes its answer what it is."""

    valid_at: str
    known_at: str
    because: str


MOMENTS: Final = (
    StoryMoment("2023-05-20", "2023-05-20", "all that she had told by then"),
    StoryMoment("2023-05-20", "2024-12-31", "in June she told of her move in May"),
    StoryMoment("2023-09-15", "2023-09-15", "Ben had misheard; she set it right on the 20th"),
    StoryMoment("2024-07-01", "2024-04-01", "a plan for June, which came to nothing"),
    StoryMoment("2024-12-31", "2024-12-31", "where it ends"),
)


@dataclass(frozen=True, slots=True)
class StoryAnswer:
    """The answer to the question as of one moment."""

    moment: StoryMoment
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
    """The data that the demonstration shows."""

    messages: int
    first: str  # when the first message was recorded, RFC 3339
    last: str
    speakers: tuple[str, ...]
    events: dict[str, dict[str, int]]  # by log, then by type
    answers: tuple[StoryAnswer, ...]
    why: Any = field(repr=False)  # an Explanation
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


def tell(settings: Settings, heard: Callable[[int, int], None] | None = None) -> Story:
    """Tell the story in the settings' directory, which is empty; `heard` gets (messages so far, all of them)."""
    messages = conversation()
    clock = 0
    here = settings.model_copy(update={"graph": "sqlite", "kafka": None})  # a broker has a clock of its own
    with open_session(here, now=lambda: clock) as session:
        for number, message in enumerate(messages, 1):
            clock = (datetime.fromisoformat(message["recorded_at"]) - _EPOCH) // timedelta(microseconds=1)
            said = {name: value for name, value in message.items() if name != "recorded_at"}
            add.ask(session, **said)
            if heard:
                heard(number, len(messages))
        answers = tuple(_answers(session))
        active = generations.ask(session).active
        types = {log: _types(session, log) for log in LOGS}
        rebuild.ask(session, name=AGAIN)
        return Story(
            len(messages),
            messages[0]["recorded_at"],
            messages[-1]["recorded_at"],
            tuple(dict.fromkeys(message["role"] for message in messages)),
            types,
            answers,
            why.ask(session, id=answers[EXPLAINED].facts[0]),
            {name: digest.ask(session, name=name) for name in (active, AGAIN)},
        )


def _types(session: Session, log: str) -> dict[str, int]:
    query = read_query(events.query, {"log": log})
    return dict(Counter(event.type for event in replay(session, query)))


def _answers(session: Session) -> Iterator[StoryAnswer]:
    for moment in MOMENTS:
        found = facts.ask(
            session,
            group_id=GROUP,
            about=WHO,
            relation=RELATION,
            valid_at=moment.valid_at,
            known_at=moment.known_at,
        )
        yield StoryAnswer(moment, tuple(fact.object for fact in found), tuple(fact.uuid for fact in found))
