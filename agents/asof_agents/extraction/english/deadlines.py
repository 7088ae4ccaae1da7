"""Deadlines of things: "the deadline for the beta is 5 May", "we moved the deadline of the beta to 12 May"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_FROM
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.negations import after_negation
from asof_agents.extraction.english.work import WORD

DEADLINES: Final = frozenset({"deadline", "date"})
_DATES: Final = frozenset({"due", "release", "launch", "target", "ship", "delivery"})  # "the due date for the beta"
_SAYS: Final = frozenset(
    "is 's are has moved slipped shifted changed moves slips was pushed postponed extended set to back until".split()
)
_LONGEST: Final = 4  # words of the thing
_FAR: Final = 8  # words to its date


def extract_deadlines(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the date by which a thing is due, as a sentence, which is no question, has it."""
    relation = context.patterns.values.get("time")
    low = parsed.sentence.low
    if relation is None or DEADLINES.isdisjoint(low) or parsed.sentence.unsure:
        return
    at = next(at for at, word in enumerate(low) if word in DEADLINES)
    if (low[at] == "date" and low[at - 1] not in _DATES) or low[at + 1 : at + 2] not in {("for",), ("of",)}:
        return
    if not UNSURE_FROM.isdisjoint(low[:at]):
        return
    context.work.spend(WORD * len(low))
    hints = context.timed(parsed, ahead=True)
    first = at + 2 + (low[at + 2 : at + 3] in {("the",), ("our",), ("my",), ("this",)})
    last = first
    while last < len(low) and last - first < _LONGEST and _names(parsed, last):
        last += 1
    after = after_negation(low, last + 1) if low[last : last + 1] in {("is",), ("'s",)} else 0
    denied = after > last + 1
    days = [span for hint in hints if (span := _words(parsed, hint.span)) and span[0] >= last]
    behind = [day for day in days if day[0] - last <= _FAR and _leads(low, after if denied else last, day[0])]
    if denied and "but" in low[after:]:
        return
    if first == last or not behind:
        return
    day = next((day for day in behind if low[day[0] - 1] in {"to", "until"}), behind[0])
    kinds = context.patterns.types_of_words(low[first:last])
    kind = next((kind for kind in kinds if kind in relation.sources), "Matter")
    if kind not in relation.sources:
        return
    source = context.findings.mention(kind, *parsed.sentence.span(first, last))
    target = context.findings.mention(relation.targets[0], *parsed.sentence.span(*day))
    if denied and not (context.was_mentioned(source.text) or context.was_mentioned(target.text)):
        return
    parsed.taken.update(range(at, day[1]))
    meaning = Meaning("ended" if denied else "holds")
    context.findings.relate(source, relation.name, target, meaning, None, parsed.sentence, 0.85, relation.name)


def _names(parsed: ParsedSentence, at: int) -> bool:
    word = parsed.sentence.low[at]
    return word[0].isalnum() and word not in _SAYS and at not in parsed.timed


def _leads(low: tuple[str, ...], last: int, day: int) -> bool:
    """Whether the words between a thing and a day say that it is the thing's."""
    between = low[last:day]
    said = all(word in _SAYS or word in ADVERBS or word in {"been", "on", "by"} for word in between)
    return said or ("from" in between and low[day - 1] == "to")


def _words(parsed: ParsedSentence, span: tuple[int, int]) -> tuple[int, int] | None:
    words = parsed.sentence.words_in(*(parsed.sentence.start + each for each in span))
    if not words:
        return None
    to = next((at for at in words[:-1] if parsed.sentence.low[at] in {"to", "until"}), None)
    return (words.start if to is None else to + 1, words.stop)  # "from 5 May to 12 May" moves it
