"""What extraction is given and what it gives back: the port of every extractor, rules or model.

An extractor sees one turn, the few turns before it, and which names its group already knows. It answers with
mentions and relationships as worded; it resolves nothing to entities (spec/episodic-graph) and keeps no state.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Literal, NamedTuple, Protocol

Grain = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
Stance = Literal["holds", "ended", "denied"]


@dataclass(frozen=True, slots=True)
class Mention:
    """One entity as worded in one turn; identified by (episode_id, type, text)."""

    episode_id: str
    type: str
    text: str = field(repr=False)
    start: int = field(compare=False)  # offset of the first occurrence in the turn's text
    speaker: bool = False  # the words mean whoever speaks ("I", "my"): resolved by the turn's role


@dataclass(frozen=True, slots=True)
class Turn:
    """One episode as an extractor sees it. `text` is the content alone, without the "role(type): " prefix."""

    episode_id: str
    role: str  # the speaker's own name, "" where none was given
    role_type: str  # user | assistant | system
    text: str = field(repr=False)
    said_at: int  # microseconds UTC
    mentions: tuple[Mention, ...] = ()  # filled for the turns before; empty for the turn to read


@dataclass(frozen=True, slots=True)
class TimeHint:
    """What one time expression says, resolved against the moment it was said.

    point: [start, end) is the granule named ("in March", "yesterday"); since: start is known, end is INF;
    until: end is known (exclusive: the first instant after it), start is NEG; during: a stated period.
    """

    kind: Literal["point", "since", "until", "during"]
    start: int
    end: int
    grain: Grain
    words: str = field(repr=False)
    span: tuple[int, int]  # of the words, in the text read


@dataclass(frozen=True, slots=True)
class Relationship:
    """A statement found in one turn: source and target are mentions of this turn or of an earlier one.

    stance: `holds` (true from valid_from, to valid_to where an end is said), `ended` ("I no longer…": the world changed
    at valid_to), `denied` ("I never…", "not X": it was wrong to say so). None where the text says nothing of the time.
    """

    source: Mention
    relation: str  # a relation type of the ontology
    target: Mention
    stance: Stance = "holds"
    valid_from: int | None = None
    valid_to: int | None = None
    grain: Grain | None = None
    time_words: str | None = field(default=None, repr=False)
    confidence: float = 1.0  # 0 to 1
    span: tuple[int, int] = (0, 0)  # the sentence that says it, in the turn's text


@dataclass(frozen=True, slots=True)
class StatedAttribute:
    """What one turn says a thing is like ("a vegetarian", "42 years old"): the value is worded as it was said."""

    mention: Mention
    name: str  # in snake_case: role, age, diet
    value: str = field(repr=False)
    confidence: float = 1.0  # 0 to 1
    span: tuple[int, int] = (0, 0)  # the words that say it, in the turn's text


class RejectedPart(NamedTuple):
    """One part of a model's answer that could not stand, and why: in words of ours, never the model's."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything found in one turn."""

    mentions: tuple[Mention, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    refused: tuple[RejectedPart, ...] = ()
    attributes: tuple[StatedAttribute, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a language model, whole: whatever could change the answer is a field."""

    prompt: str
    prompt_version: int
    model: str
    temperature: float
    system: str = field(repr=False)
    user: str = field(repr=False)
    schema: str = field(repr=False)  # of the answer, as JSON

    @property
    def digest(self) -> str:
        """SHA-256 of all of it: the same question has the same answer."""
        return hashlib.sha256(json.dumps(astuple(self), ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came of a question: an answer, or the reason why there is none. Counts are of all calls that it took."""

    answer: str | None = field(repr=False)
    failure: str = ""
    calls: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_ms: int = 0


class Answers(Protocol):
    """Where the handlers get answers: recorded ones, else asked for ahead of them."""

    def reply(self, group: str, request: ModelRequest) -> ModelReply:
        """Return what came of a question about a group's text."""
        ...


KnownNames = Callable[[Sequence[str]], Mapping[str, str]]
"""Given names (any case), the entity type of those that the group has mentioned before, keyed by the name asked."""


class Extractor(Protocol):
    """Reads one turn. Pure: the same arguments give the same answer."""

    @property
    def version(self) -> str:
        """Name and version: a change of it means that the same text may be read differently."""
        ...

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest | None:
        """Return what a language model has to be asked first; None: nothing. Of the turns it takes the texts alone."""
        ...

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return what the turn says. `before` holds up to four earlier turns of its group, oldest first.

        `answer` is what a model answered to `request`, where there is an answer.
        """
        ...
