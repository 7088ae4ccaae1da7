"""Endings that no verb of a relation tells: "the wedding is off", "Miso died", "Julia and I broke up"."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_FROM
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.things import phrase_before
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention

_OFF: Final = frozenset({"off", "cancelled", "canceled"})
_BE: Final = frozenset({"is", "'s", "was", "got", "are"})
_DIED: Final = frozenset({"died", "passed"})
_PARTED: Final = frozenset({"divorced", "separated", "broke", "split", "parted"})
_ASIDE: Final = frozenset({"got", "have", "had", "are", "were", "been", "both"})
_SIGNS: Final = _OFF | _DIED | _PARTED


def extract_endings(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the endings of a sentence, which is no question."""
    low = parsed.sentence.low
    if _SIGNS.isdisjoint(low):
        return
    for at, word in enumerate(low):
        if word not in _SIGNS or not UNSURE_FROM.isdisjoint(low[max(0, at - 6) : at]):
            continue
        context.work.spend(WORD)
        if word in _OFF:
            _called_off(context, parsed, at)
        elif word in _DIED and (word == "died" or low[at + 1 : at + 2] == ("away",)):
            _died(context, parsed, at)
        elif word in _PARTED:
            _parted(context, parsed, at)


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
        _end(context, parsed, thing.mention(context), relation.name, target)


def _died(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Miso died", of an animal that is known by its name: its owner has it no longer."""
    begin = at
    while begin and (parsed.sentence.low[begin - 1] in ADVERBS or parsed.sentence.low[begin - 1] in {"has", "had"}):
        begin -= 1
    name = parsed.names_by_end.get(begin)
    kept = next((r for r in context.patterns.ontology.relation_types if r.targets == ("Animal",)), None)
    if name is None or kept is None or context.types.of(name.text) != "Animal":
        return
    speaker = context.speaker() or context.findings.add_speaker(*parsed.sentence.span(at, at + 1))
    target = context.findings.mention("Animal", *parsed.sentence.span(name.first, name.last))
    _end(context, parsed, speaker, kept.name, target)


def _parted(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Julia and I broke up": neither is the other's husband, wife or partner any more."""
    low, begin = parsed.sentence.low, at
    while begin and (low[begin - 1] in ADVERBS or low[begin - 1] in _ASIDE):
        begin -= 1
    closed = low[at] in {"divorced", "separated"} or low[at + 1 : at + 2] in {("up",), ("ways",)}
    name = parsed.names_by_end.get(begin - 2) if low[max(0, begin - 2) : begin] == ("and", "i") else None
    speaker = context.speaker()
    if name is None or speaker is None or not closed or name.spoken_to:
        return
    target = context.findings.mention("Person", *parsed.sentence.span(name.first, name.last))
    entries = context.patterns.heads.get(low[at], ())
    ended = next((entry.relation for entry in entries if entry.kind == "end" and entry.relation.symmetric), None)
    if ended is not None:
        _end(context, parsed, speaker, ended.name, target)


def _end(context: TurnContext, parsed: ParsedSentence, source: Mention, relation: str, target: Mention) -> None:
    context.findings.relate(source, relation, target, Meaning("ended"), None, parsed.sentence, 0.85, relation)
