"""The thing that has a value: "the budget", "my phone number", "the price of the ticket", "Acme's CEO"."""

from dataclasses import dataclass
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_STARTS,
    CONJUNCTIONS,
    DETERMINERS,
    GREETINGS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    PRONOUNS,
)
from asof_agents.extraction.ports import Mention

_WORDS_MAX: Final = 3
NO_VALUES: Final = ADVERBS | AUXILIARIES | CONJUNCTIONS | PREPOSITIONS | PRONOUNS | {"not", "and", "a", "an", "the"}
_STOPS: Final = AUXILIARIES | CONJUNCTIONS | PREPOSITIONS | PRONOUNS | {"and", "or", "not", "no", "never"}
_ANY: Final = frozenset(
    "answer best case day fact first idea last least minimum one only other part point problem question reason rest "
    "result same second thing time truth way week worst".split()
)
_NEW: Final = frozenset("actual current latest new present".split())
_PAST: Final = frozenset("old former ex previous last first original next future dream ideal".split())
_FILLERS: Final = GREETINGS | frozenset("and btw but fyi heads lol omg phew sooo tbh ugh update well".split())
_BREAKS: Final = frozenset({",", "!", ":", ";", "(", "-", "–", "—", "…"})
_SINCE: Final = frozenset("again days month now today week year yesterday".split())
_ABOUT: Final = frozenset({"to", "with", "for", "from", "in", "at"})
_NO_THINGS: Final = frozenset(
    "age correction everything life love music nobody people someone something stuff things".split()
)
_SOURCES: Final = ("my", "our", "the")


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing by its words [first, last) and text; of an owner, if the owner is the speaker or named."""

    first: int
    last: int
    start: int
    text: str
    head: str  # its last word
    key: str  # its words, without "new" and "current"
    kind: str
    owner: Mention | None

    def mention(self, context: TurnContext) -> Mention:
        """Return the mention of the thing itself."""
        return context.findings.mention(self.kind, self.start, self.start + len(self.text))

    def is_role(self, context: TurnContext) -> bool:
        """Whether it is someone whom one has one of at a time: a boss, a CEO."""
        return _is_role(context, self.key) or _is_role(context, self.head)


def phrase_before(context: TurnContext, parsed: ParsedSentence, end: int) -> Thing | None:
    """Return the thing whose words end before a verb at `end`, if they begin their clause."""
    low = parsed.sentence.low
    while end and low[end - 1] in ADVERBS:
        end -= 1
    first = _content(parsed, end)
    if first > 1 and low[first - 1] in _ABOUT and _is_content(parsed, first - 2):  # "my flight to Oslo leaves at 7"
        end = first - 1
        first = _content(parsed, end)
    if first == end:
        name = parsed.names_by_end.get(end)
        return _named(context, parsed, name.first, end) if name and _opens(low, name.first) else None
    begin = first - 1
    if begin < 0:
        return None
    if low[begin] in _SOURCES and begin and low[begin - 1] == "of":
        return _part_of(context, parsed, begin - 1, (first, end))
    clause = _clause(parsed, begin)
    opens = _opens(low, clause) or _follows_period(context, parsed, clause)
    return _owned(context, parsed, begin, first, end) if opens else None


def bare_before(context: TurnContext, parsed: ParsedSentence, end: int) -> Thing | None:
    """Return the thing without an article that begins a clause and ends before a verb: "standup's at 9:30"."""
    low = parsed.sentence.low
    while end and low[end - 1] in ADVERBS:
        end -= 1
    first = _content(parsed, end)
    while first < end and low[first] in _FILLERS:
        first += 1
    opens = first == 0 or low[first - 1] in _FILLERS or low[first - 1] in _BREAKS
    if first == end or not opens or low[end - 1] in _NO_THINGS or low[end - 1].endswith(("ing", "ly")):
        return None
    name = parsed.names_by_end.get(end)
    if name and (name.spoken_to or context.types.of(name.text) in {"Person", "Location"}):
        return None
    return _phrase(context, parsed, first, end, None)


def phrase_from(context: TurnContext, parsed: ParsedSentence, at: int) -> tuple[Thing, int] | None:
    """Return the thing that begins at a word, as the object of a verb, and the word after it."""
    low = parsed.sentence.low
    if at + 1 >= len(low) or low[at] not in _SOURCES:
        return None
    last = at + 1
    while last < len(low) and last - at <= _WORDS_MAX and _is_content(parsed, last):
        last += 1
    if last == at + 1:
        return None
    if low[last : last + 1] == ("of",) and low[last + 1 : last + 2] and low[last + 1] in _SOURCES:
        inner = phrase_from(context, parsed, last + 1)
        whole = _part_of(context, parsed, last, (last + 2, inner[1])) if inner else None
        return (whole, inner[1]) if whole and inner else None
    phrase = _owned(context, parsed, at, at + 1, last)
    return (phrase, last) if phrase else None


def _part_of(context: TurnContext, parsed: ParsedSentence, of: int, whole: tuple[int, int]) -> Thing | None:
    """Return "the price" of "the price of the ticket": an attribute of the ticket."""
    first = _content(parsed, of)
    if first in {of, 0} or parsed.sentence.low[first - 1] not in _SOURCES:
        return None
    owner = _phrase(context, parsed, *whole, None)
    return _phrase(context, parsed, first, of, owner.mention(context)) if owner else None


def _owned(context: TurnContext, parsed: ParsedSentence, begin: int, first: int, end: int) -> Thing | None:
    """Return the thing of the words [first, end) after "the", "our", "my" or "Acme's"."""
    low = parsed.sentence.low
    if low[begin] in {"the", "our"}:
        return _phrase(context, parsed, first, end, None)
    if low[begin] == "my":
        return _phrase(context, parsed, first, end, context.speaker())
    name = parsed.names_by_end.get(begin) if low[begin] == "'s" else None
    if (
        name is None and low[begin] == "'s" and begin > 1 and low[begin - 2] in _SOURCES and low[end - 1] != "name"
    ):  # "the baby's due date"
        return _phrase(context, parsed, begin - 1, end, context.speaker() if low[begin - 2] == "my" else None)
    if name is None or name.spoken_to:
        return None
    kind = context.types.of(name.text) or "Matter"
    return _phrase(
        context, parsed, first, end, context.findings.mention(kind, *parsed.sentence.span(name.first, begin))
    )


def _named(context: TurnContext, parsed: ParsedSentence, first: int, end: int) -> Thing | None:
    start, stop = parsed.sentence.span(first, end)
    text = context.turn.text[start:stop]
    kind = context.types.of(text) or "Matter"
    name = parsed.names[first]
    if kind == "Person" or name.spoken_to:
        return None
    return Thing(first, end, start, text, parsed.sentence.low[end - 1], text.lower(), kind, None)


def _phrase(context: TurnContext, parsed: ParsedSentence, first: int, end: int, owner: Mention | None) -> Thing | None:
    low = parsed.sentence.low
    if low[first] in _PAST or first in parsed.taken or first - 1 in parsed.taken:
        return None
    while first < end - 1 and low[first] in _NEW:
        first += 1
    head = low[end - 1]
    if (end - first == 1 and head in _ANY) or first == end or (head in PEOPLE_NOUNS and not _is_role(context, head)):
        return None
    start, stop = parsed.sentence.span(first, end)
    relation = context.patterns.values.get("value")
    kinds = context.patterns.types_of_words(low[first:end])
    kind = kinds[0] if kinds and relation and kinds[0] in relation.sources else "Matter"
    return Thing(first, end, start, context.turn.text[start:stop], head, " ".join(low[first:end]), kind, owner)


def _is_role(context: TurnContext, noun: str) -> bool:
    relation = context.patterns.values.get("quality")
    return relation is not None and noun in relation.nouns


def _content(parsed: ParsedSentence, end: int) -> int:
    first = end
    while first and end - first < _WORDS_MAX and _is_content(parsed, first - 1):
        first -= 1
    return first


def _is_content(parsed: ParsedSentence, at: int) -> bool:
    word = parsed.sentence.low[at]
    return (
        (word[0].isalpha() or (word[0].isdigit() and word[-1].isalpha()))
        and word not in _STOPS
        and word != "back"
        and word not in ADVERBS
        and word not in DETERMINERS
        and at not in parsed.timed
    )


def _clause(parsed: ParsedSentence, begin: int) -> int:
    name = parsed.names_by_end.get(begin) if parsed.sentence.low[begin] == "'s" else None
    if name is None and parsed.sentence.low[begin] == "'s" and begin > 1:
        return begin - 2
    return name.first if name else begin


def _follows_period(context: TurnContext, parsed: ParsedSentence, at: int) -> bool:
    """Whether a period and nothing else is before a word: "since May my rent is 900", "from 2019 to 2021 my ..."."""
    hints = context.timed(parsed, ahead=False)
    first = 1 if parsed.sentence.low[0] == "from" else 0  # no word of the period itself
    return bool(hints) and hints[0].kind != "point" and all(before in parsed.timed for before in range(first, at))


def _opens(low: tuple[str, ...], at: int) -> bool:
    """Whether a word begins a clause."""
    before = low[at - 1] if at else ","
    return (
        before in CLAUSE_STARTS
        or before in _SINCE
        or before in ADVERBS
        or before in GREETINGS
        or not before[0].isalnum()
    )
