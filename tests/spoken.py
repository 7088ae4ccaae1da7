"""A history whose turns say exactly the relationships that a test gives them, whatever their words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any, Final

from asof_agents.extraction.ports import Extraction, KnownNames, Mention, Relationship, Turn
from asof_agents.resolution.judge import Judge
from asof_streams.episodic import RelationshipStated
from asof_streams.events import Event
from asof_streams.instants import NEG, from_datetime, to_datetime
from asof_streams.messages import Message, accept
from asof_streams.semantic import FactAsserted, FactEnded, FactReinforced, FactRetracted
from histories import History, Triples, on

KINDS: Final = {
    **dict.fromkeys(("Ana", "Ben", "Cleo", "user"), "Person"),
    **dict.fromkeys(("Oslo", "Rome", "Bonn", "Kyiv", "York", "New York"), "Location"),
    **dict.fromkeys(("SAP", "Acme", "Acme Labs", "MIT", "job"), "Organization"),
    **dict.fromkeys(("30", "31"), "Age"),
    **dict.fromkeys(("900", "900 euros", "950", "9", "off"), "Value"),
    **dict.fromkeys(("rent", "office rent", "monthly rent", "monthly office rent"), "Matter"),
    **dict.fromkeys(("parser", "linter"), "Component"),
    "tea": "Food",
}
_WORDS: Final = re.compile(r"(.+?) ([a-z]+_[a-z_]+|likes|owns|uses|visited) (.+)")
_STATEMENTS: Final = FactAsserted | FactReinforced | FactRetracted | FactEnded


def at(text: str) -> int:
    """Return an instant: "2024-05-01", or "2024-05-01T10:00:00.000001"."""
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


def holds(words: str, **fields: Any) -> Relationship:
    """Return what says that "Ana lives_in Oslo"."""
    said = _WORDS.fullmatch(words)
    assert said, words
    source, relation, target = said.groups()
    return Relationship(_mention(source), relation, _mention(target), **fields)


def ended(words: str, **fields: Any) -> Relationship:
    return holds(words, stance="ended", **fields)


def denied(words: str, **fields: Any) -> Relationship:
    return holds(words, stance="denied", **fields)


def _mention(name: str) -> Mention:
    return Mention("", KINDS.get(name, "Rule" if name.startswith("never ") else "Thing"), name, 0)


class Spoken(Triples):
    """Finds in every turn what is said next."""

    def __init__(self) -> None:
        self.said: Sequence[Relationship] = ()

    def extract(
        self, turn: Turn, _before: Sequence[Turn], _known: KnownNames, _answer: str | None = None
    ) -> Extraction:
        said = [
            replace(
                each,
                source=replace(each.source, episode_id=turn.episode_id),
                target=replace(each.target, episode_id=turn.episode_id),
            )
            for each in self.said
        ]
        return Extraction(tuple(mention for each in said for mention in (each.source, each.target)), tuple(said))


class SpokenHistory(History):
    """What Ana says, message by message; `build` changes fields of the build."""

    def __init__(self, folder: Path, **build: Any) -> None:
        super().__init__(folder)
        self.extractor = self._spoken = Spoken()
        [self._generation] = self.engine.generations
        self._generation.build = replace(self._generation.build, **build)
        self._facts: dict[str, FactAsserted] = {}
        self.last: list[Any] = []  # the statements of the last message
        self.relationships: list[str] = []  # the ids of all that were said, in their order

    def judge(self, judge: Judge) -> None:
        """Let a judge be asked from now on."""
        self._generation.judge = judge

    def hear(self, day: str, *said: Relationship, **fields: Any) -> list[str]:
        """Let Ana say something on a day, or at an instant; return the statements that follow, each in a few signs.

        "+ Ana lives in Oslo, 2024-05-01.." is asserted, "=" is said again, "-" is retracted, and "| Ana lives_in Oslo,
        2024-05-01" is ended then. "<2024-05-01" is the last instant before that day. `fields`: others of the message.
        """
        self._spoken.said = said
        stamp = datetime.fromisoformat(day).replace(tzinfo=UTC).isoformat()
        message = {"group_id": "g", "content": "Hm.", "role": "Ana", "role_type": "user", "timestamp": stamp}
        self.send_at(max(at(day), on("2000")), accept(Message, message | fields))
        cause = self.messages.end() - 1
        events = [r.event for r in self.episodic.read() if r.cause == cause]
        self.relationships += [event.relationship_id for event in events if isinstance(event, RelationshipStated)]
        self.last = [r.event for r in self.semantic.read() if r.cause == cause and isinstance(r.event, _STATEMENTS)]
        self._facts |= {event.fact_id: event for event in self.last if isinstance(event, FactAsserted)}
        return [self._brief(event) for event in self.last]

    def _brief(self, event: Event) -> str:
        match event:
            case FactAsserted():
                return f"+ {event.sentence}, {_brief(event.valid_from)}..{_brief(event.valid_to)}"
            case FactReinforced():
                return f"= {self._facts[event.fact_id].sentence}"
            case FactRetracted():
                return f"- {self._facts[event.target].sentence}, {event.reason}"
            case FactEnded():
                subject, object_ = (self.beliefs.entity(uuid) for uuid in (event.subject, event.object or ""))
                whose, what = subject and subject.name, object_.name if object_ else event.value
                return f"| {whose} {event.relation} {what}, {_brief(event.at)}"
        raise AssertionError(event.type)


def _brief(instant: int | None) -> str:
    if instant in (None, NEG):
        return ""
    after = to_datetime(instant + 1)
    if after.time() == time.min:
        return f"<{after.date()}"
    return to_datetime(instant).isoformat().removesuffix("+00:00").removesuffix("T00:00:00")
