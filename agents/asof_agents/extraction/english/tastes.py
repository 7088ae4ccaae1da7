"""Tastes that begin with what is liked: "Pottery brings me joy", "Family means a lot to me"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FOREIGN_DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
    VAGUE_GERUNDS,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.patterns import CueEntry, match_steps

_WORDS_MAX: Final = 4
_NO_PART: Final = AUXILIARIES | CONJUNCTIONS | DETERMINERS | FOREIGN_DETERMINERS | PREPOSITIONS | PRONOUNS
_CONFIDENCE: Final = 0.85


def extract_taste(context: TurnContext, parsed: ParsedSentence, at: int) -> int | None:
    """Add what the speaker likes, if the words from `at` on say so of it; return the word after the cue."""
    low = parsed.sentence.low
    for head in range(at + 1, min(at + _WORDS_MAX + 1, len(low))):
        for entry in context.patterns.tastes.get(low[head], ()):
            end = match_steps(entry.steps, parsed.sentence, head + 1, parsed.timed)
            if end is not None and _is_kind(low[at:head]):
                return _add(context, parsed, entry, (at, head), end)
        if low[head] in _NO_PART or not low[head][0].isalnum():
            return None
    return None


def _is_kind(words: tuple[str, ...]) -> bool:
    """Whether words are a kind of thing by themselves: "dance", "painting landscapes"."""
    light = words[-1] in VAGUE or (len(words) == 1 and words[0] in VAGUE_GERUNDS)
    return not (light or words[0][:1].isdigit()) and _NO_PART.isdisjoint(words) and len(words[-1]) > 2


def _add(context: TurnContext, parsed: ParsedSentence, entry: CueEntry, words: tuple[int, int], end: int) -> int | None:
    speaker, targets = context.speaker(), entry.relation.targets
    if speaker is None:
        return None
    start, stop = parsed.sentence.span(*words)
    known = context.types.of(context.turn.text[start:stop])
    kinds = [known, *context.patterns.types_of_words(parsed.sentence.low[slice(*words)])]
    kind = next((kind for kind in kinds if kind in targets), None) or targets[0]
    target = context.findings.mention(kind, start, stop)
    context.findings.relate(
        speaker, entry.relation.name, target, Meaning("holds"), None, parsed.sentence, _CONFIDENCE, entry.text
    )
    return end
