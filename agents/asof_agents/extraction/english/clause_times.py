"""Assigns the time expressions of a sentence to its clauses."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.lexicon import ADVERBS, CLAUSE_STARTS, SUBJECT_PRONOUNS
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.ports import TimeHint

_WHILE = frozenset({"when", "while"})
_DASHES = frozenset({"-", "–", "—"})
_LEADING_WORDS_MAX = 32  # between a time and the clause that it leads in


def time_of(parsed: ParsedSentence, hints: Sequence[TimeHint], start: int, end: int) -> TimeHint | None:
    """Return the time of a clause: the first after its subject's first word, else the last that leads in to it."""
    if not hints:
        return None
    sentence = parsed.sentence
    limit = parsed.clause_ends[bisect_left(parsed.clause_ends, end)]
    begins, ends = sentence.starts[start], sentence.end_of(limit - 1)
    for at in range(bisect_left(hints, begins - sentence.start, key=_start), len(hints)):
        if sentence.start + hints[at].span[0] >= ends:
            break
        if not _leads_in(sentence, hints[at], limit):
            return hints[at]
    last = bisect_right(hints, begins - sentence.start, key=_end)
    if last and _told_before(sentence, hints[last - 1], start):
        return hints[last - 1]
    if last:
        after = sentence.start + hints[last - 1].span[1]
        between = range(bisect_left(sentence.starts, after, 0, start), start)
        if (
            len(between) <= _LEADING_WORDS_MAX
            and all(_leads(sentence.low[at]) for at in between)
            and _opens_clause(sentence, hints[last - 1])
        ):
            return hints[last - 1]
    return None


def _told_before(sentence: Sentence, hint: TimeHint, start: int) -> bool:
    """Whether the clause before tells when: "While volunteering yesterday, I …", "Last week was wild - I …"."""
    low = sentence.low
    after = bisect_left(sentence.starts, sentence.start + hint.span[1])
    first = bisect_left(sentence.starts, sentence.start + hint.span[0])
    short = after <= _LEADING_WORDS_MAX
    opened = short and after == start - 1 and low[0] in _WHILE and low[1].endswith("ing") and "," not in low[:after]
    dashes = [at for at in range(max(after, start - _LEADING_WORDS_MAX), start) if low[at] in _DASHES]
    only = len(dashes) == 1 and dashes[0] == start - 1
    wild = first == 0 and low[after : after + 1] in {("was",), ("been",)}
    return (opened and low[after] == ",") or (only and (dashes[0] == after or wild))


def _start(hint: TimeHint) -> int:
    return hint.span[0]


def _end(hint: TimeHint) -> int:
    return hint.span[1]


def _opens_clause(sentence: Sentence, hint: TimeHint) -> bool:
    """Whether a time begins its clause: "in March" of "I moved in March and I no longer work there" ends one."""
    first = bisect_left(sentence.starts, sentence.start + hint.span[0])
    first -= first > 0 and sentence.low[first - 1] == "from"  # "from 2019 to 2021": no word of the time itself
    while first and sentence.low[first - 1] in ADVERBS:
        first -= 1
    return first == 0 or sentence.low[first - 1] in CLAUSE_STARTS or not sentence.low[first - 1][0].isalnum()


def _leads(word: str) -> bool:
    return word in {",", "and"} or word in ADVERBS


def _leads_in(sentence: Sentence, hint: TimeHint, limit: int) -> bool:
    """Whether a time belongs to the clause that begins at word `limit`: "I sold it, and on Monday I move"."""
    first = bisect_left(sentence.starts, sentence.start + hint.span[0])
    after = bisect_left(sentence.starts, sentence.start + hint.span[1])
    return (
        after == limit < len(sentence.low)
        and sentence.low[limit] in SUBJECT_PRONOUNS
        and sentence.low[first - 1] in {"and", ","}
    )
