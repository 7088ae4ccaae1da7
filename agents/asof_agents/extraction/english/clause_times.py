"""Assigns the time expressions of a sentence to its clauses."""

from bisect import bisect_left
from collections.abc import Sequence

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.lexicon import ADVERBS, SUBJECT_PRONOUNS
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.ports import TimeHint

_ENDS_CLAUSE = frozenset({"because", "but", "so", "when", "while", "where", "which", "who", ";", "-", "–", "—"})


def time_of(parsed: ParsedSentence, hints: Sequence[TimeHint], start: int, end: int) -> TimeHint | None:
    """Return the time of a clause: the first after its subject's first word, else the last that leads in to it."""
    if not hints:
        return None
    sentence = parsed.sentence
    limit = end
    while (
        limit < len(sentence.low)
        and sentence.low[limit] not in _ENDS_CLAUSE
        and sentence.low[limit] not in SUBJECT_PRONOUNS
        and not (sentence.low[limit] == "and" and past_deed(sentence.low[min(limit + 1, len(sentence.low) - 1)]))
    ):
        limit += 1
    begins, ends = sentence.starts[start], sentence.ends[limit - 1]
    for hint in hints:
        if begins <= sentence.start + hint.span[0] < ends and not _leads_in(sentence, hint, limit):
            return hint
    for hint in reversed(hints):
        after = sentence.start + hint.span[1]
        between = sentence.low[bisect_left(sentence.starts, after, 0, start) : start]
        if after <= begins and all(word in {",", "and"} or word in ADVERBS for word in between):
            return hint
    return None


def _leads_in(sentence: Sentence, hint: TimeHint, limit: int) -> bool:
    """Whether a time belongs to the clause that begins at word `limit`: "I sold it, and on Monday I move"."""
    first = bisect_left(sentence.starts, sentence.start + hint.span[0])
    after = bisect_left(sentence.starts, sentence.start + hint.span[1])
    return (
        after == limit < len(sentence.low)
        and sentence.low[limit] in SUBJECT_PRONOUNS
        and sentence.low[first - 1] in {"and", ","}
    )
