"""Events that the speaker looks forward to: "I can't wait for our trip to Peru"."""

from typing import Final

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.subjects import Subject
from asof_agents.extraction.english.targets import targets_at

_BE: Final = frozenset({"am", "'m", "are", "'re", "been", "have", "'ve"})
_AWAITING: Final = (
    ("looking", "forward", "to"),
    ("can", "not", "wait", "for"),
    *(
        (feeling, link)
        for feeling in ("excited", "psyched", "pumped", "stoked", "thrilled")
        for link in ("about", "for")
    ),
)
_OPENING: Final = frozenset(words[0] for words in _AWAITING)
_EVENT: Final = "Event"
_CONFIDENCE: Final = 0.8


def extract_anticipation(context: TurnContext, parsed: ParsedSentence, subject: Subject) -> int | None:
    """Add the plan of the event that the speaker awaits, if it is one's own or has a name; return what follows."""
    low, at = parsed.sentence.low, subject.next
    while at < len(low) and (low[at] in _BE or low[at] in ADVERBS):
        at += 1
    if at == len(low) or low[at] not in _OPENING:
        return None
    after = next((at + len(words) for words in _AWAITING if low[at : at + len(words)] == words), None)
    entries = context.patterns.heads.get("plan", ())
    plan = next((entry for entry in entries if not entry.steps and _EVENT in entry.relation.targets), None)
    if after is None or plan is None or not subject.mentions[0].speaker:
        return None
    found = targets_at(context, parsed, after, plan)
    if not found or found[0].kind != _EVENT:
        return None
    phrase = found[0].phrase
    hint = time_of(parsed, context.timed(parsed, ahead=True), at, phrase.last)
    ahead = hint.start if hint and hint.start > context.turn.said_at else None
    named = any(word in parsed.names for word in range(phrase.first, phrase.last))
    if not (phrase.own or named):  # the launch may be somebody else's
        return None
    event = context.findings.mention(_EVENT, *parsed.sentence.span(phrase.first, phrase.last))
    for speaker in subject.mentions:
        stated = Meaning("holds", ahead)
        context.findings.relate(
            speaker, plan.relation.name, event, stated, hint, parsed.sentence, _CONFIDENCE, plan.text
        )
    return phrase.after
