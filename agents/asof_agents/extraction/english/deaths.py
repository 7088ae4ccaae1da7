"""Deaths of those whom the speaker is known to be married to or together with: "Ben is my husband", then "Ben died"."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, NOT_QUITE
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.ports import Relationship, Turn
from asof_streams.instants import NEG

SIGNS: Final = frozenset({"died", "passed"})
"""One of these is in every sentence that tells of a death."""
_HAS: Final = frozenset({"has", "had", "'s"})
_GOES_ON: Final = frozenset("after and at but from in last on this when yesterday".split())


def extract_deaths(
    context: TurnContext,
    told: Sequence[ParsedSentence],
    spoken: Sequence[Turn],
    earlier: Callable[[Turn], Iterable[Relationship]],
) -> None:
    """End what the turns before tell of the speaker and somebody who died: of them each has one at a time."""
    for parsed in told:
        hints = [hint for hint in context.timed(parsed, ahead=False) if NEG < hint.start <= context.turn.said_at]
        hint = hints[0] if len(hints) == 1 else None
        names = {name.text.casefold(): name for name in parsed.names.values() if _dies(parsed, name.last)}
        for old in (each for turn in spoken if names for each in earlier(turn)):
            relation = context.patterns.ontology.relation(old.relation)
            name = names.get(old.target.text.casefold()) if old.stance == "holds" and old.source.speaker else None
            if name is None or relation is None or not (relation.symmetric and relation.cardinality == "one"):
                continue
            here = parsed.sentence.span(name.last, name.last + 1)  # the words of his name are no words for the speaker
            speaker = context.speaker() or context.findings.add_speaker(*here)
            ended, cue = Meaning("ended", valid_to=None if hint is None else hint.start), old.cue or ""
            context.findings.relate(speaker, old.relation, old.target, ended, hint, parsed.sentence, 0.85, cue)


def _dies(parsed: ParsedSentence, at: int) -> bool:
    """Whether who is named before a word died, and not "of boredom"."""
    low = parsed.sentence.low
    while at < len(low) and (low[at] in ADVERBS or low[at] in _HAS) and low[at] not in NOT_QUITE:
        at += 1
    if low[at : at + 2] == ("passed", "away"):
        at += 1
    elif low[at : at + 1] != ("died",):
        return False
    after = low[at + 1 : at + 2]
    return after == () or not after[0][0].isalnum() or at + 1 in parsed.timed or after[0] in _GOES_ON
