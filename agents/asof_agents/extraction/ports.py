"""The ports of extraction: extractors, the requests to a model and its replies, and the values that they exchange.

An extractor gets one turn, the few turns before it, and the names that its group already knows. It returns mentions and
relationships as worded. It keeps no state and resolves no entity: that is done later, for each generation, by
`resolution`.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from asof_streams.episodic import ExtractionFailed
from asof_streams.messages import Grain

MOST_GOALS: Final = 4  # that a turn implies

Stance = Literal["holds", "ended", "denied"]

JOB: Final = "job"
SPOUSE: Final = "spouse"
ROLES: Final = frozenset({JOB, SPOUSE})
"""What an ending may call its object, whatever it is: belief knows the one that holds."""
CALLED_OFF: Final = frozenset({"off", "cancelled", "canceled"})
"""What an ending may call a value, whatever it is: "the wedding is off"."""
NEVER: Final = "never"
ALWAYS: Final = "always"
ABOUT_RULE: Final = "about"
"""How an ending of a rule begins: by what it forbade or required, or what it was about. Belief knows the rule."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One entity as worded in one turn; identified by (episode_id, type, text)."""

    episode_id: str
    type: str
    text: str = field(repr=False)
    start: int = field(compare=False)  # offset of the first occurrence in the turn's text
    speaker: bool = False  # the words ("I", "my") mean the speaker, whom the turn's role names


@dataclass(frozen=True, slots=True)
class Turn:
    """One episode as an extractor sees it. `text` is the content alone, without the "role(type): " prefix."""

    episode_id: str
    role: str  # the speaker's own name; "" if unknown
    role_type: str  # user | assistant | system
    text: str = field(repr=False)
    said_at: int  # microseconds UTC
    mentions: tuple[Mention, ...] = ()  # of an earlier turn; empty for the turn to extract
    is_json: bool = False  # the text is a JSON document
    timezone: str = "UTC"  # by whose days its times in words are read; an IANA name
    chat: bool = False  # a person's turn of a chat, which may reveal what they aim at


@dataclass(frozen=True, slots=True)
class TimeHint:
    """A time expression, resolved against the time of the message. Times are UTC microseconds.

    point: [start, end) is the named granule ("in March", "yesterday"); since: end is INF; until: start is NEG, and end
    is the first instant after it; during: [start, end) is the stated period.
    """

    kind: Literal["point", "since", "until", "during"]
    start: int
    end: int
    grain: Grain
    words: str = field(repr=False)
    span: tuple[int, int]  # of the words, in the text read


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship stated in one turn: source and target are mentions of this turn or of an earlier one.

    stance: `holds` (from valid_from to valid_to), `ended` ("I no longer…": the world changed at valid_to) or `denied`
    ("I never…", "not X": the statement was wrong). Times are UTC microseconds; None: the text states no time.
    granule: [from, to) in which a deed happened, or `planned` is to happen. former: it held before it `ended`.
    shared: of a relation that is `exclusive`, another source has it as well: "Bob also owns the parser".
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
    cue: str | None = field(default=None, compare=False)  # of the ontology, by which a rule recognised it
    granule: tuple[int, int] | None = None
    planned: bool = False
    former: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class StatedAttribute:
    """A quality of a mention stated in one turn ("a vegetarian", "42 years old"), in the words of the text."""

    mention: Mention
    name: str  # in snake_case: role, age, diet
    value: str = field(repr=False)
    confidence: float = 1.0  # 0 to 1
    span: tuple[int, int] = (0, 0)  # the words that say it, in the turn's text


@dataclass(frozen=True, slots=True)
class ImpliedGoal:
    """A goal that a turn reveals without declaring it, in a model's words."""

    description: str = field(repr=False)
    saliency: float  # 0 to 1
    span: tuple[int, int] = (0, 0)  # the words that reveal it, in the turn's text


class RejectedPart(NamedTuple):
    """A part of a model's answer that was rejected, and the reason: fixed words, never the model's own."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of an extractor for one turn. `refused`: the rejected parts of a model's answer."""

    mentions: tuple[Mention, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    refused: tuple[RejectedPart, ...] = ()
    attributes: tuple[StatedAttribute, ...] = ()
    goals: tuple[ImpliedGoal, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A complete request to a language model: everything that could change the answer is a field."""

    prompt: str
    prompt_version: int
    model: str
    temperature: float
    system: str = field(repr=False)
    user: str = field(repr=False)
    schema: str = field(repr=False)  # of the answer, as JSON

    @property
    def digest(self) -> str:
        """SHA-256 of all fields, by which a recorded answer is found again."""
        return hashlib.sha256(json.dumps(astuple(self), ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The reply to a request: an answer, or the reason of a failure. Counts and latency are of all its calls."""

    answer: str | None = field(repr=False)
    failure: str = ""
    calls: int = 1
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_ms: int = 0


class Answers(Protocol):
    """The source of a model's answers for the handlers: recorded answers, else the model's."""

    def reply(self, group: str, request: ModelRequest, cause: int) -> ModelReply:
        """Return the reply to a request about the message at position `cause`: an answer, or why there is none."""
        ...

    def failure(self, group: str, request: str, cause: int) -> ExtractionFailed | None:
        """Return the recorded failure of a request, by its digest, about the message at position `cause`."""
        ...


KnownNames = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns the entity types of those of the names, in any case, that the group has mentioned, by the name as passed."""


class Extractor(Protocol):
    """Extracts mentions, relationships and attributes from one turn. Pure: equal arguments give equal results."""

    @property
    def version(self) -> str:
        """Name and version. It changes whenever the same text may give another result, and is part of a build."""
        ...

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest | None:
        """Return the request whose answer `extract` needs; None: it needs no model.

        It depends on the texts of the turns alone, not on their mentions, so it can be sent ahead of time.
        """
        ...

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the extraction of a turn, whatever the text or the answer.

        InvalidInput: the text is too much for one message; the reason says what to do.
        before: the earlier turns for context, oldest first; four, unless the message names others.
        answer: the model's answer to `request`; None: there was no request, or it failed.
        """
        ...
