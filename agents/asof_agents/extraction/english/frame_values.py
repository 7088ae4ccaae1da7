"""The frames of everyday values: the verbs by which a speaker tells an attribute, and what its value may be."""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_STARTS,
    CONJUNCTIONS,
    FIRST_PERSON,
    GREETINGS,
    ORNAMENTS,
    PREPOSITIONS,
    PRONOUNS,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.quantities import Value, address_at, value_at
from asof_agents.extraction.english.verbs import Form, forms
from asof_agents.extraction.ports import Mention
from asof_ontologies.cues import Step, parse_cue

Takes = Literal[
    "activity", "address", "dose", "identity", "meal", "medicine", "model", "money", "name", "number", "partner",
    "phrase", "provider", "relation", "role", "size", "spending", "status", "taste", "time", "titled",
]  # fmt: skip
Rows = tuple[tuple[str, Takes, str], ...]

TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "prof"})
BE: Final = frozenset({"am", "are", "is", "'s"})
_WALKED: Final = BE | ADVERBS | {"have", "has", "been", "do"}
_OMITTED: Final = CLAUSE_STARTS | GREETINGS | {"!", ".", "…", "and", "btw", "update", "turns", "out", "lol"}
_ASIDE: Final = ADVERBS | ORNAMENTS | frozenset("a an the this my our beat up used called guy".split())
CLOSING: Final = PREPOSITIONS | CONJUNCTIONS | ADVERBS | AUXILIARIES | PRONOUNS | {"and", "every", "each", "after"}
_SAME: Final = 8  # words from "I" to a second verb
_MONEY: Final = frozenset("$ € £ ¥ bucks dollar dollars euro euros k grand pounds quid".split())


@dataclass(frozen=True, slots=True)
class Frame:
    """One cue of an attribute. `begun`: it says that it has begun, so that it may stand in the past."""

    key: str
    takes: Takes
    begun: bool
    forms: frozenset[Form]
    steps: tuple[Step, ...]
    next: frozenset[str]  # the words of which one comes next; empty where others may
    cue: str


class FrameMatch(NamedTuple):
    """A frame in a sentence: its verb is the word `at`, its value may begin at `after`."""

    context: TurnContext
    parsed: ParsedSentence
    at: int
    after: int
    frame: Frame

    @property
    def low(self) -> tuple[str, ...]:
        """The words of the sentence, in lower case."""
        return self.parsed.sentence.low

    def text(self, value: Value) -> str:
        """Return the words of a value."""
        return self.context.turn.text[slice(*self.parsed.sentence.span(value.first, value.last))]

    def speaker(self) -> Mention | None:
        """Return the speaker, by the verb if no word means them."""
        speaker = self.context.speaker()
        if speaker is None and self.context.turn.role_type == "user":
            speaker = self.context.findings.add_speaker(*self.parsed.sentence.span(self.at, self.at + 1))
        return speaker

    def attribute(self, value: Value, key: str | None = None) -> bool:
        """State a value of an attribute of the speaker, by default the frame's; return whether there is a speaker."""
        name = self.context.patterns.values["quality"].of_noun(key or self.frame.key)
        return self.state(name, "Date" if value.kind == "time" else "Value", value)

    def state(self, relation: str, kind: str, value: Value) -> bool:
        """State a relation of the speaker; return whether there is a speaker. The verb says nothing more."""
        source = self.speaker()
        return source is not None and self.state_of(source, relation, kind, value)

    def state_of(self, source: Mention, relation: str, kind: str, value: Value) -> bool:
        """State a relation of a source."""
        sentence, findings = self.parsed.sentence, self.context.findings
        target = findings.mention(kind, *sentence.span(value.first, value.last))
        findings.relate(source, relation, target, Meaning("holds"), None, sentence, 0.85, self.frame.cue)
        self.parsed.taken.add(self.at)
        return True


Frames = dict[str, tuple[Frame, ...]]


@cache
def frames_of(rows: Rows) -> Frames:
    """Return frames by the forms of their verbs. A cue says after "!" that it has begun, after "=" that it goes on."""
    found: dict[str, list[Frame]] = {}
    for key, takes, cues in rows:
        for text in cues.split(", "):
            cue = parse_cue(text.lstrip("!="))
            following = cue.steps[0].words if cue.steps and not cue.steps[0].optional else frozenset[str]()
            for word, tags in forms(cue.verb or "").items():
                if text[0] != "=" or "ing" in tags:
                    frame = Frame(key, takes, text[0] == "!", tags, cue.steps, following, text.lstrip("!="))
                    found.setdefault(word, []).append(frame)
    return {word: tuple(of) for word, of in found.items()}


def tells(low: tuple[str, ...], at: int, tags: frozenset[Form]) -> Literal["now", "begun", ""]:
    """Return what the verb at a word says of the speaker: what is so now, what has begun; or nothing."""
    begin, helped = at, False
    while begin and low[begin - 1] in _WALKED:
        begin -= 1
        helped = helped or low[begin] in BE or low[begin] == "been"
    before = low[begin - 1] if begin else "."
    spoken, omitted = before in FIRST_PERSON, before in _OMITTED
    if low[at] in BE:
        return "now" if spoken else ""
    if "ing" in tags:
        return "now" if (spoken and helped) or omitted else ""
    if "base" in tags:
        spoken = spoken or (
            before in {"and", "but"} and not FIRST_PERSON.isdisjoint(low[max(0, begin - _SAME) : begin])
        )
        return "now" if spoken and not helped else ""
    return "begun" if spoken or omitted or before == "but" else ""


def closes(low: tuple[str, ...], at: int) -> bool:
    """Whether what ends before a word ends its phrase."""
    return at >= len(low) or not (low[at][0].isalnum() or low[at] == "'s") or low[at] in CLOSING


def quantity(match: FrameMatch) -> Value | None:
    """Return an amount, a sum of money or an hour, as the frame takes it; None: there is none."""
    takes = match.frame.takes
    value = value_at(match.context, match.parsed, match.after)
    if value is None or value.kind != ("time" if takes == "time" else "number"):
        return None
    words = match.low[value.first : value.last]
    cash = not _MONEY.isdisjoint(words) or words[0].endswith("k")
    return value if cash or takes not in {"money", "spending"} else None


def address(match: FrameMatch) -> Value | None:
    """Return an address; None: there is none."""
    return address_at(match.parsed, match.after)


def name_value(match: FrameMatch) -> Value | None:
    """Return a name that ends its phrase, with its title, after adjectives; None: there is none."""
    low, parsed, at = match.low, match.parsed, match.after
    match.context.timed(parsed, ahead=False)
    while at < len(low) and low[at] in _ASIDE and at not in parsed.names:
        at += 1
    first = at
    if at + 1 < len(low) and low[at] in TITLES:
        at += 1 + (low[at + 1] == ".")
    name = parsed.names.get(at) or parsed.names.get(first)
    if name is None or name.spoken_to or not closes(low, name.last):
        return None
    return Value("code", min(first, name.first), name.last)
