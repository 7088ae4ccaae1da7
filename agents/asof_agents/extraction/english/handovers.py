"""A change of owner: "Ben took over billing from Dana on 3 March", "Dana handed billing over to Ben"."""

from collections.abc import Sequence
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention, TimeHint
from asof_ontologies.model import RelationType

_TAKES: Final = frozenset({"takes", "took", "taken"})
_HANDS: Final = frozenset({"hands", "handed", "passes", "passed", "gave", "gives", "transferred", "transfers"})
_SKIPPED: Final = frozenset({"has", "have", "now", "just", "officially", "finally"})
_LONGEST: Final = 5  # words of what changes its owner


def ownership(context: TurnContext) -> RelationType | None:
    """Return the relation of who is responsible for work; None: under this ontology people own other things."""
    relation = context.patterns.ontology.relations.get("owns")
    return relation if "rule" in context.patterns.values else None


def extract_handovers(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add who owns something from then on, and who does no longer."""
    relation, low = ownership(context), parsed.sentence.low
    if relation is None or "over" not in low or parsed.sentence.unsure or (_TAKES | _HANDS).isdisjoint(low):
        return
    context.work.spend(WORD * len(low))
    context.timed(parsed, ahead=False)
    verb = next(at for at, word in enumerate(low) if word in _TAKES | _HANDS)
    giver_first, link = low[verb] in _HANDS, "to" if low[verb] in _HANDS else "from"
    before = verb
    while before and low[before - 1] in _SKIPPED:
        before -= 1
    one = _name_ending(context, parsed, before, relation)
    at = next((at for at in range(verb + 2, len(low)) if low[at] == link and at not in parsed.timed), None)
    other = None if at is None else _name_at(context, parsed, at + 1, relation)
    words = [word for word in range(verb + 1, at or 0) if low[word] != "over"]
    thing = _thing(context, parsed, words, relation)
    if one is None or other is None or thing is None or "over" not in low[verb:at]:
        return
    hint = _hint(context.timed(parsed, ahead=False))
    moment = None if hint is None else hint.start
    giver, taker = (one, other) if giver_first else (other, one)
    relate = context.findings.relate
    relate(taker, relation.name, thing, Meaning("holds", valid_from=moment), hint, parsed.sentence, 0.9, relation.name)
    relate(giver, relation.name, thing, Meaning("ended", valid_to=moment), hint, parsed.sentence, 0.9, relation.name)


def _hint(hints: Sequence[TimeHint]) -> TimeHint | None:
    return next((hint for hint in hints if hint.kind in {"point", "since"}), None)


def _name_ending(context: TurnContext, parsed: ParsedSentence, end: int, relation: RelationType) -> Mention | None:
    name = parsed.names_by_end.get(end)
    return None if name is None or name.spoken_to else _name_at(context, parsed, name.first, relation)


def _name_at(context: TurnContext, parsed: ParsedSentence, at: int, relation: RelationType) -> Mention | None:
    name = parsed.names.get(at)
    if name is None or name.spoken_to:
        return None
    kind = context.types.of(name.text)
    if kind not in relation.sources:
        words = parsed.sentence.low[name.first : name.last]
        kind = next((kind for kind in context.patterns.types_of_words(words) if kind in relation.sources), None)
    return context.name_mention(parsed, name, kind or relation.sources[0])


def _thing(
    context: TurnContext, parsed: ParsedSentence, words: Sequence[int], relation: RelationType
) -> Mention | None:
    """Return what changes its owner, by the name under which the group knows it: "billing" is the billing service."""
    low = parsed.sentence.low
    words = [at for at in words if low[at] not in {"the", "our", "my", "of", "ownership"}]
    if not words or len(words) > _LONGEST or words[-1] - words[0] >= len(words):
        return None
    start, end = parsed.sentence.span(words[0], words[-1] + 1)
    text = context.turn.text[start:end]
    kind = next(
        (k for k in context.patterns.types_of_words(tuple(low[at] for at in words)) if k in relation.targets), None
    )
    if kind is not None:
        return context.findings.mention(kind, start, end)
    full = context.known_in_full(text, relation.targets)
    if full is None:
        return context.findings.mention(relation.targets[0], start, end)
    return context.findings.mention(full[1], start, end, full[0])
