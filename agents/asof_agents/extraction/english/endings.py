"""Endings that no verb of a relation tells: "the wedding is off", and the partings of `partings`."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_FROM
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.partings import SIGNS, extract_parting
from asof_agents.extraction.english.things import phrase_before
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import CALLED_OFF

_BE: Final = frozenset({"is", "'s", "was", "got", "are"})
ENDINGS: Final = SIGNS | CALLED_OFF


def extract_endings(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the endings of a sentence, which is no question."""
    low = parsed.sentence.low
    for at, word in enumerate(low):
        if word not in ENDINGS or not UNSURE_FROM.isdisjoint(low[max(0, at - 6) : at]):
            continue
        context.work.spend(WORD)
        if word in CALLED_OFF:
            _called_off(context, parsed, at)
        else:
            extract_parting(context, parsed, at)


def _called_off(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "the wedding is off": its date holds no longer."""
    low, be = parsed.sentence.low, at - 1
    while be > 0 and (low[be] in ADVERBS or low[be] in {"been", "has"}):
        be -= 1
    closed = at + 1 >= len(low) or not low[at + 1][0].isalnum() or at + 1 in parsed.timed or low[at + 1] in ADVERBS
    relation = context.patterns.values.get("time")
    if relation is None or be < 0 or not (low[be] in _BE or low[be + 1] == "has") or not closed:
        return
    thing = phrase_before(context, parsed, be + (low[be] not in _BE))
    if thing is not None and thing.owner is None and thing.kind in relation.sources:
        target = context.findings.mention(relation.targets[0], *parsed.sentence.span(at, at + 1))
        about = thing.mention(context), relation.name, target
        context.findings.relate(*about, Meaning("ended"), None, parsed.sentence, 0.85, relation.name)
