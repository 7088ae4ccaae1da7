"""Rules of work, whole and in the words used: "Always run make lint before committing", "Don't push to main".

A rule is what is to be done each time, not what is to be done now: words such as "always", "never" and "must" say so,
or a condition ("before", "when") behind an order.
"""

from typing import Final

from asof_agents.extraction.english.choices import is_practice
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import UNSURE_SENTENCE
from asof_agents.extraction.english.lifted_rules import lifted_span
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.stated_scopes import behind_scope, ends_in_scope
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention
from asof_ontologies.model import RelationType

_OPENINGS: Final = frozenset("actually also and correction note ok okay please remember reminder rule so then".split())
_FROM_NOW_ON: Final = (("from", "now", "on"), ("going", "forward"), ("in", "future"), ("in", "this", "repo"))
_SURE: Final = (
    ("make", "sure"), ("be", "sure"), ("remember", "to"), ("do", "not", "forget"), ("be", "careful"), ("take", "care")
)  # fmt: skip
_ORDERS: Final = frozenset(
    "add ask avoid bump call check close commit create delete deploy document edit fix follow format import include "
    "install keep leave lint log make merge move name open prefer push put read rebase refactor regenerate release "
    "remove rename restart return review run send set squash start stop store sync tag test touch treat update use "
    "validate wait wrap write".split()
)
_LASTING: Final = frozenset("avoid follow keep prefer use".split())  # orders of what is used each time
_CERTAIN: Final = frozenset("a an another it my that the their these this those your".split())  # thing, here and now
_EACH_TIME: Final = frozenset("after before each every once unless until when whenever while without".split())
_MODALS: Final = frozenset({"must", "should", "shall"})
_PERSONS: Final = frozenset("i he she they it this that".split())
_TALK: Final = frozenset("be bother forget get hesitate know let mind need panic say see sweat think worry".split())
_ONCE: Final = frozenset("it now that them this today tonight tomorrow yet".split())
_BASES: Final = frozenset("embed exceed feed need proceed seed shed speed succeed".split())  # end as past verbs do
_SHORTEST: Final = 3  # words


def extract_rules(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the rule that a sentence, which is no question, states."""
    relation = context.patterns.values.get("rule")
    low = parsed.sentence.low
    if relation is None or len(low) < _SHORTEST or not _may_state(low):
        return
    context.work.spend(WORD * len(low))
    if (lifted := lifted_span(parsed)) is not None:
        _lift(context, parsed, relation, *lifted)
        return
    first, last = _opening(low), parsed.last_word
    if last - first < _SHORTEST or not (
        is_practice(parsed, first) or _is_rule(low, first, last) or _is_scoped(context, parsed, first, last)
    ):
        return
    source = _speaker(context, parsed, first)
    if source is None:
        return
    start, end = parsed.sentence.span(first, last)
    if context.turn.text[end : end + 1] == "/":  # of a path at the end, by which it is known as one
        end += 1
    target = context.findings.mention(relation.targets[0], start, end)
    meaning = Meaning("holds")
    context.findings.relate(source, relation.name, target, meaning, None, parsed.sentence, 0.9, relation.name)


def _lift(
    context: TurnContext, parsed: ParsedSentence, relation: RelationType, kind: str, first: int, last: int
) -> None:
    """Add the ending of a rule: what it said, "never edit the lock file", or what it was about."""
    source = _speaker(context, parsed, first)
    if source is None:
        return
    start, end = parsed.sentence.span(first, last)
    target = context.findings.mention(relation.targets[0], start, end, f"{kind} {context.turn.text[start:end]}")
    meaning = Meaning("ended")
    context.findings.relate(source, relation.name, target, meaning, None, parsed.sentence, 0.85, relation.name)


def _may_state(low: tuple[str, ...]) -> bool:
    unsure = UNSURE_SENTENCE.intersection(low) - _MODALS
    return not unsure or unsure <= _EACH_TIME | {"if"}


def _opening(low: tuple[str, ...]) -> int:
    """Return the word with which the rule begins: behind "please", "from now on", "make sure to"."""
    at = 0
    while at < len(low):
        if low[at] in _OPENINGS or (at and low[at] in {",", ":"}):
            at += 1
        elif (words := next((words for words in _FROM_NOW_ON if low[at : at + len(words)] == words), None)) is not None:
            at += len(words)
        else:
            return at
    return 0


def _is_rule(low: tuple[str, ...], first: int, last: int) -> bool:
    words = low[first:last]
    if words[0] in {"always", "never"}:
        return not _is_choice(words[1:])
    if words[:2] == ("do", "not") and words[2] not in _TALK:
        return not _is_choice(words[2:]) and not (words[3:] and _is_once(words[3:]))
    orders = words[0] in _ORDERS or any(words[: len(sure)] == sure for sure in _SURE)
    each_time = orders and not _EACH_TIME.isdisjoint(words[2:]) and not _is_once(words[1:])
    return each_time or _obliges(words)


def _is_scoped(context: TurnContext, parsed: ParsedSentence, first: int, last: int) -> bool:
    """Whether a sentence says what is to be done in one place: "in src/api, always ...", "use ... for the tests"."""
    low, text = parsed.sentence.low, context.turn.text
    begin = behind_scope(parsed, text, first)
    words = low[begin:last]
    if len(words) < _SHORTEST - 1:
        return False
    if begin == first:
        return _is_lasting_order(words) and ends_in_scope(parsed, text, first + 1, last)
    if words[0] in {"always", "never"} or words[:2] == ("do", "not"):
        return words[-1] not in _ONCE and not (words[0] == "do" and words[2:3] and words[2] in _TALK)
    return _is_lasting_order(words) or (len(words) >= _SHORTEST and _is_rule(low, begin, last))


def _is_lasting_order(words: tuple[str, ...]) -> bool:
    """Whether an order to use something tells how work is done, and nothing that is to be done now."""
    return words[0] in _LASTING and words[1] not in _CERTAIN and not _is_once(words[1:])


def _obliges(words: tuple[str, ...]) -> bool:
    """Whether a sentence says what has to be: "commit messages must ...", "we always run the linter"."""
    if words[0] in {"we", "you"} and words[1] in {"always", "never", "must"}:
        return not _is_choice(words[2:]) and not _is_past(words[2])
    if words[0] in _PERSONS:
        return False
    for at, word in enumerate(words[1:-1], 1):
        if word == "must" or (word in _MODALS and words[at + 1] in {"always", "never"}):
            return True
        if word in {"is", "are"} and words[at + 1 : at + 3] == ("not", "allowed"):
            return True
    return False


def _is_choice(words: tuple[str, ...]) -> bool:
    """Whether "always" and "never" speak of what is used, and no more: that is a preference."""
    return words[:1] == ("use",) and len(words) <= _SHORTEST


def _is_past(word: str) -> bool:
    """Whether a verb tells what was done: "we never used Kafka"."""
    return word.endswith("ed") and word not in _BASES


def _is_once(words: tuple[str, ...]) -> bool:
    """Whether it is about one time: "don't merge that yet"."""
    return words[0] in _ONCE or words[-1] in _ONCE


def _speaker(context: TurnContext, parsed: ParsedSentence, at: int) -> Mention | None:
    speaker = context.speaker()
    if speaker is None and context.turn.role_type == "user":
        speaker = context.findings.add_speaker(*parsed.sentence.span(at, at + 1))
    return speaker
