"""A change of owner: "Ben took over billing from Dana on 3 March", "Dana handed billing over to Ben"."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import FUNCTION_WORDS, UNSURE_FROM
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention, TimeHint
from asof_ontologies.model import RelationType

_TAKES: Final = frozenset({"takes", "took", "taken"})
_HANDS: Final = frozenset({"hands", "handed", "passes", "passed", "gave", "gives", "transferred", "transfers"})
_SKIPPED: Final = frozenset({"has", "have", "now", "just", "officially", "finally"})
_SHARING: Final = frozenset(  # others have it too, or one of its kind: "a Toyota"
    "a also an both jointly one partly share shares some together too".split()
)
_MOVES: Final = frozenset({"moved", "passed", "went", "transferred", "goes", "moves", "passes"})
_OWNS: Final = frozenset({"owns", "own", "maintains", "maintain"})
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


def extract_shares(context: TurnContext, parsed: ParsedSentence) -> None:
    """Note that what a sentence says somebody owns may have other owners: "Bob also owns the parser"."""
    relation, low = ownership(context), parsed.sentence.low
    if relation is not None and (not _SHARING.isdisjoint(low) or ("as", "well") in pairwise(low)):
        context.findings.share(relation.name, parsed.sentence)


def extract_owners(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add an owner who is named beside what is owned: "the owner of the parser is Bob", "Maria owns billing"."""
    relation, low = ownership(context), parsed.sentence.low
    if relation is None or parsed.sentence.unsure or not UNSURE_FROM.isdisjoint(low):
        return
    if "owner" in low:
        _named_owner(context, parsed, relation, low.index("owner"))
    elif "ownership" in low:
        _moved(context, parsed, relation, low.index("ownership"))
    elif "belongs" in low or "belong" in low:
        _belongs(context, parsed, relation)
    elif not _OWNS.isdisjoint(low):
        _bare(context, parsed, next(at for at, word in enumerate(low) if word in _OWNS))


def _named_owner(context: TurnContext, parsed: ParsedSentence, relation: RelationType, at: int) -> None:
    """Read "the (new) owner of the parser is Bob", "the parser's owner is Bob"."""
    low = parsed.sentence.low
    be = next((be for be in range(at + 1, len(low)) if low[be] in {"is", "'s"}), None)
    if be is None or low[max(0, at - 1) : at] in {("former",), ("old",), ("previous",)}:
        return
    if low[at + 1 : at + 2] == ("of",):
        words, begin = range(at + 2, be), at
    elif be == at + 1 and "'s" in low[max(0, at - 2) : at]:
        words, begin = range(low.index("'s")), 0
    else:
        return
    after = be + 1 + (low[be + 1 : be + 2] in {("now",), ("currently",)})
    opens = all(word in {"the", "new", "current", "now", "our"} for word in low[:begin])
    owner = _name_at(context, parsed, after, relation) if opens else None
    thing = None if owner is None else _thing(context, parsed, list(words), relation)
    if owner is not None and thing is not None:
        parsed.taken.update(range(after))
        _own(context, parsed, owner, thing, relation)


def _moved(context: TurnContext, parsed: ParsedSentence, relation: RelationType, at: int) -> None:
    """Read "ownership of the parser moved (from Ann) to Bob"."""
    low = parsed.sentence.low
    verb = next((verb for verb in range(at + 1, len(low)) if low[verb] in _MOVES), None)
    to = None if verb is None else next((to for to in range(verb + 1, len(low)) if low[to] == "to"), None)
    if verb is None or to is None or low[at + 1 : at + 2] != ("of",):
        return
    end = verb
    while low[end - 1] in _SKIPPED | {"was", "been"}:
        end -= 1
    owner = _name_at(context, parsed, to + 1, relation)
    thing = None if owner is None else _thing(context, parsed, list(range(at + 2, end)), relation)
    if owner is None or thing is None:
        return
    _own(context, parsed, owner, thing, relation)
    giver = _name_at(context, parsed, verb + 2, relation) if low[verb + 1] == "from" else None
    if giver is not None:
        context.findings.relate(
            giver, relation.name, thing, Meaning("ended"), None, parsed.sentence, 0.9, relation.name
        )


def _belongs(context: TurnContext, parsed: ParsedSentence, relation: RelationType) -> None:
    """Read "the billing service belongs to Ann's team": a team that is called by whose or which it is."""
    low, last = parsed.sentence.low, parsed.last_word
    at = next(at for at, word in enumerate(low) if word in {"belongs", "belong"})
    first = at + 2 + (low[at + 2 : at + 3] in {("the",), ("our",), ("my",)})
    words = low[first:last]
    end = at
    while end and low[end - 1] in _SKIPPED:
        end -= 1
    if low[at + 1 : at + 2] != ("to",) or not 1 < len(words) <= _LONGEST or "not" in low:
        return
    kind = next((kind for kind in context.patterns.types_of_words(words) if kind in relation.sources), None)
    thing = None if kind is None else _thing(context, parsed, list(range(end)), relation)
    if kind is not None and thing is not None:
        owner = context.findings.mention(kind, *parsed.sentence.span(first, last))
        _own(context, parsed, owner, thing, relation)


def _bare(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Maria owns billing", of a thing that is called by a word or two, and by nothing that says what it is."""
    low, last = parsed.sentence.low, parsed.last_word
    relation = context.patterns.ontology.relations.get("owns" if low[at].startswith("own") else "maintains")
    words = low[at + 1 : last]
    before = at
    while before and low[before - 1] in _SKIPPED | {"also"}:
        before -= 1
    while last > at + 1 and low[last - 1] in {"now", "too"}:
        last -= 1
    words = low[at + 1 : last]
    plain = 0 < len(words) <= 2 and all(word.isalpha() and word not in FUNCTION_WORDS for word in words)
    if relation is None or not plain or words[-1].endswith("s") or at + 1 in parsed.names:
        return
    name = parsed.names_by_end.get(before)
    if name is None or name.first > 0 or context.patterns.types_of_words(words):
        return
    owner = _name_ending(context, parsed, before, relation)
    thing = _thing(context, parsed, list(range(at + 1, last)), relation)
    if owner is not None and thing is not None:
        _own(context, parsed, owner, thing, relation)


def _own(context: TurnContext, parsed: ParsedSentence, owner: Mention, thing: Mention, relation: RelationType) -> None:
    hint = _hint(context.timed(parsed, ahead=False))
    began = Meaning("holds", valid_from=None if hint is None else hint.start)
    context.findings.relate(owner, relation.name, thing, began, hint, parsed.sentence, 0.9, relation.name)


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
