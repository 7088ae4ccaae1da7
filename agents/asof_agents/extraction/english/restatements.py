"""Restatements: what a message states that puts words in the place of others of an earlier message.

Where a relationship has the old words, the new ones take their place in it. Elsewhere the thing that both messages
speak of has the new value, or the speaker has it under the name of that thing: "we bank with Barclays", "it's all at
Monzo now".
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from asof_agents.extraction.english.announcements import Announcement
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.frame_values import closes
from asof_agents.extraction.english.gist import THOUGHTS, about
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    DETERMINERS,
    SPEAKER_WORDS,
    UNSURE_FROM,
    UNSURE_MODALS,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.numerals import Slot
from asof_agents.extraction.english.other_people import is_of_other_than, key_of, tells_of_another
from asof_agents.extraction.english.replacements import Held, Replacement, replacement
from asof_agents.extraction.english.slots import WAYS, slots
from asof_agents.extraction.english.word_roots import roots_of, roots_of_relation
from asof_agents.extraction.ports import Mention, Relationship, Turn
from asof_ontologies.model import RelationType

_CONFIDENCE: Final = 0.75
_UNSURE: Final = UNSURE_FROM | UNSURE_MODALS
_GROUNDS: Final = frozenset({"reason", "alternative"})  # of one choice alone
_KEY_WORDS_MAX: Final = 3
_KEY_MAX: Final = 40  # characters
_BEFORE: Final = 6  # words
_COMMANDING: Final = ADVERBS | {"please"}
_TIMED: Final = frozenset({"clock", "day", "date"})
_NO_KEY: Final = (
    ADVERBS | DETERMINERS | {"am", "are", "is", "'s", "have", "has", "got", "will", "be", "been", "'ll", "'ve"}
)

_JOINING: Final = frozenset({"of", "with", "and", "&"})
_ARTICLES: Final = frozenset({("the",), ("a",), ("an",), ("my",), ("our",)})
_PERSONS: Final = frozenset("he she him his her hers they them their".split())
_WHERE: Final = frozenset("above behind below beside beneath inside next opposite outside under underneath".split())
_BARE_LEADS: Final = frozenset({"in", "on", "by", "at", "under"})


def restate(
    context: TurnContext,
    announcement: Announcement,
    earlier: Sequence[ParsedSentence],
    relationships: Iterable[Relationship],
    turn: Turn,
    *,
    latest: bool,
) -> bool:
    """Add what a message says in the place of words of an earlier turn; return whether it does."""
    relationships = list(relationships)
    found = replacement(earlier, announcement, _held(context, relationships, turn), latest=latest)
    if found is None or _is_told_alone(context, found):
        return False
    old_span, span = found.before.sentence.span(found.old.first, found.old.last), _span(found)
    put = chosen = False
    for old in relationships:
        relation = context.patterns.ontology.relation(old.relation)
        if relation is None or old.stance != "holds" or relation.value in _GROUNDS:
            continue
        chosen = chosen or _is_chosen(old, relation, turn, old_span)
        if relation.exclusive:  # who is responsible is told by words of its own
            continue
        if relation.is_deed and not (relation.chooses and _is_taken_back(context, found, old)):
            continue
        if _is_of_others(context, found, old, relation):
            return False
        source = _speaker(context, span) if old.source.speaker else old.source
        if source is None:
            continue
        if _overlaps(old.target, turn, *old_span):
            done = _put_target(context, found, source, old, relation)
            if done is None:
                return False
            put = put or done
        elif (
            found.signs.over
            and _overlaps(old.source, turn, *old_span)
            and not (old.source.speaker or old.target.speaker)
        ):
            _put_source(context, found, old)
            put = True
    return put or (not chosen and _state(context, found, span))


def _held(context: TurnContext, relationships: Iterable[Relationship], turn: Turn) -> list[Held]:
    """Return where an earlier turn says the values that its relationships hold."""
    return [
        Held(
            each.target.start,
            each.target.start + len(each.target.text),
            roots_of_relation(each.relation, each.cue),
            several=(relation := context.patterns.ontology.relation(each.relation)) is None
            or relation.cardinality != "one",
        )
        for each in relationships
        if each.target.episode_id == turn.episode_id and each.stance == "holds"
    ]


def _is_chosen(old: Relationship, relation: RelationType, turn: Turn, old_span: tuple[int, int]) -> bool:
    """Whether the old words are those of a choice, or of who is responsible: no value stands in their place."""
    if relation.exclusive and any(_overlaps(each, turn, *old_span) for each in (old.source, old.target)):
        return True
    return relation.chooses and relation.is_deed and _overlaps(old.target, turn, *old_span)


def _is_of_others(context: TurnContext, found: Replacement, old: Relationship, relation: RelationType) -> bool:
    """Whether the new words are said of somebody else than the old ones, or under another key."""
    if tells_of_another(context, found.after, old, relation) or _is_of_another(context, old):
        return True
    return relation.keyed and _is_of_another_key(context, old, key_of(old, relation), _span(found))


def _put_target(
    context: TurnContext, found: Replacement, source: Mention, old: Relationship, relation: RelationType
) -> bool | None:
    """Relate the new words in the place of an old target; return whether anything is said so.

    None: the message says nothing in the place of other words, whatever relationships are left.
    """
    single, span = relation.cardinality == "one", _span(found)
    if _is_told(context, old):
        if single:
            return None
        _relate(context, found, source, old.relation, old.target, "ended")
        return True
    start, end = found.before.sentence.span(found.old.first, found.old.last)
    fits = len(old.target.text) <= 2 * (end - start) + 8 and (
        relation.keyed or _type_fits(context, found, span, old.target.type)
    )
    if fits:
        _relate(context, found, source, old.relation, context.findings.mention(old.target.type, *span), "holds")
    sure = found.signs.over or found.signs.typed or found.signs.framed
    if not fits and (single or not sure):
        return None
    if not single:
        _relate(context, found, source, old.relation, old.target, "ended")
    return fits


def _put_source(context: TurnContext, found: Replacement, old: Relationship) -> None:
    """Relate the new words in the place of an old source."""
    _relate(context, found, old.source, old.relation, old.target, "ended")
    _relate(context, found, context.findings.mention(old.source.type, *_span(found)), old.relation, old.target, "holds")


def restates_nothing(context: TurnContext, announcement: Announcement, found: Iterable[Replacement]) -> bool:
    """Whether nothing can come of what may replace words of an earlier turn, before its relationships are known.

    found: all replacements, of whatever relationships. Known, these add groups to what stands beside an old value, so
    it may share more with a message that has groups; otherwise fewer replacements are found, and each is as it is here.
    """
    if any(root.startswith("#") for root in announcement.about):
        return next(iter(found), None) is None
    return all(_is_told_alone(context, each) for each in found)


def _is_told_alone(context: TurnContext, found: Replacement) -> bool:
    """Whether new words are read already, and nothing ties them to the old: "I moved" after "Maria owns it"."""
    return not (found.signs.shared or found.signs.over) and _is_read(context, _span(found))


def _span(found: Replacement) -> tuple[int, int]:
    return found.after.sentence.span(_begin(found), _whole(found))


def _is_read(context: TurnContext, span: tuple[int, int]) -> bool:
    """Whether a rule has read the new words as the object of a relationship already."""
    targets = (each.target for each in context.findings.relationships if each.stance == "holds")
    return any(_overlaps(target, context.turn, *span) for target in targets)


def _is_told(context: TurnContext, old: Relationship) -> bool:
    """Whether the message states the relation of the old value by itself."""
    return any(
        each.relation == old.relation and each.stance == "holds" and _same(each.source, old.source)
        for each in context.findings.relationships
    )


def _is_of_another(context: TurnContext, old: Relationship) -> bool:
    """Whether the message states the relation of the old value of other people alone: "Tom's boss is Peter now"."""
    stated = [each.source for each in context.findings.relationships if each.relation == old.relation]
    people = bool(stated) and all(source.type == "Person" for source in [*stated, old.source])
    return people and not any(_same(source, old.source) for source in stated)


def _is_taken_back(context: TurnContext, found: Replacement, old: Relationship) -> bool:
    """Whether a choice is surely taken back: the message says so of what was chosen, or tells another choice."""
    sure = _UNSURE.isdisjoint(found.after.sentence.low)
    return sure and (found.signs.over or _is_told(context, old))


def _is_of_another_key(context: TurnContext, old: Relationship, key: str, span: tuple[int, int]) -> bool:
    """Whether a rule has read the new words under another key of the same source: a weight, after "my goal is 75"."""
    of = roots_of(key)
    for each in context.findings.relationships:
        relation = context.patterns.ontology.relation(each.relation)
        if relation is None or not relation.keyed or each.stance != "holds" or not _same(each.source, old.source):
            continue
        if _overlaps(each.target, context.turn, *span) and of.isdisjoint(roots_of(key_of(each, relation))):
            return True
    return False


def _same(one: Mention, other: Mention) -> bool:
    return (one.speaker and other.speaker) or one.text.casefold() == other.text.casefold()


def _begin(found: Replacement) -> int:
    """Return where the new words begin with the word that says where or how: "behind the calendar", "in person"."""
    low, lead = found.after.sentence.low, found.new.first - 1
    if low[max(0, lead) : found.new.last] in WAYS:
        return lead
    while lead > 0 and low[lead] in DETERMINERS:
        lead -= 1
    lead -= low[max(0, lead - 1) : lead + 1] == ("next", "to")
    return lead if lead >= 0 and low[lead] in _WHERE else found.new.first


def _whole(found: Replacement) -> int:
    """Return the end of the new words with what belongs to them: "a curry with rice", "Mondays and Fridays"."""
    low, last = found.after.sentence.low, found.new.last
    following = {each.first: each for each in slots(found.after)}
    at = last + 1 + (low[last + 1 : last + 2] in _ARTICLES)
    more = following.get(at)
    if last < len(low) and low[last] in _JOINING and more is not None and more.kind == found.new.kind:
        return more.last if closes(low, more.last) else last
    return last


def _overlaps(mention: Mention, turn: Turn, start: int, end: int) -> bool:
    here = mention.episode_id == turn.episode_id and not mention.speaker
    return here and mention.start < end and start < mention.start + len(mention.text)


def _type_fits(context: TurnContext, found: Replacement, span: tuple[int, int], kind: str) -> bool:
    """Whether the new words may be of a type; of one that is no literal, only if they are known to be."""
    if kind == "Value":
        return True
    if kind == "Date":
        return found.new.kind in _TIMED
    known = context.types.of(context.turn.text[slice(*span)])
    return known == kind or (known is None and (found.signs.over or found.signs.framed or found.signs.typed))


def _speaker(context: TurnContext, span: tuple[int, int]) -> Mention | None:
    speaker = context.speaker()
    if speaker is None and context.turn.role_type == "user":
        return context.findings.add_speaker(span[0], span[0] + 1)
    return speaker


def _state(context: TurnContext, found: Replacement, span: tuple[int, int]) -> bool:
    """State the new words as the value of the thing that both messages speak of."""
    values = context.patterns.values
    quality = values.get("quality")
    value = values.get("time" if found.new.kind in _TIMED else "value")
    if quality is None or value is None:
        return False
    things = _things(found)
    thing = next(iter(things), None)
    kind = "Date" if found.new.kind in _TIMED else "Value"
    own = _is_own(found.before)
    place = None if own or thing is None else _place(found, thing)
    if place is not None:
        text = context.turn.text[slice(*place)]
        known = context.types.of(text)
        if known is None or known in value.sources:
            source = context.findings.mention(known or "Matter", *place)
            target = context.findings.mention(kind, *span)
            _relate(context, found, source, value.name, target, "holds")
            return True
    low, first = found.after.sentence.low, found.new.first
    if found.new.kind == "noun" and found.new.last == first + 1 and first and low[first - 1] in _BARE_LEADS:
        span = found.after.sentence.span(first - 1, found.new.last)  # "in person", "by post"
    if is_of_other_than(context, found.after, found.before) if own else _is_of_person(context, found):
        return False  # what is said of somebody else is none of the speaker's attributes
    key = _key(found, next((each for each in things if each.kind == "noun"), None)) or _unit(found)
    speaker = _speaker(context, span)
    name = quality.of_noun(key)
    if not key or len(key) > _KEY_MAX or speaker is None or name in context.patterns.ontology.relations:
        return False
    _relate(context, found, speaker, name, context.findings.mention(kind, *span), "holds")
    return True


def _is_own(parsed: ParsedSentence) -> bool:
    """Whether a sentence is about its speaker, and does not only say that it is a thought of theirs."""
    low = parsed.sentence.low
    own = sum(word in SPEAKER_WORDS for word in low)
    return own > sum(each in THOUGHTS for each in pairwise(low))


def _is_of_person(context: TurnContext, found: Replacement) -> bool:
    """Whether the earlier sentence is about a person, or about a name of whom nobody knows what it is."""
    if not _PERSONS.isdisjoint(found.before.sentence.low):
        return True
    names = (name for name in found.before.names.values() if not found.old.first <= name.first < found.old.last)
    return any(name.first == 0 or context.types.of(name.text) == "Person" for name in names)


def _things(found: Replacement) -> list[Slot]:
    """Return the words beside the old value for what may have it: first those that the message repeats."""
    verb = _command(found.before)
    beside = (each for each in slots(found.before) if each.first not in (found.old.first, verb))
    others = [each for each in beside if each.kind in {"noun", "name"}]
    after = about(found.after.sentence.low)
    shared = [each for each in others if not about(each.words(found.before)).isdisjoint(after)]
    return shared or others


def _command(parsed: ParsedSentence) -> int:
    """Return where the verb of a command stands, which is no thing that has a value; -1: nowhere."""
    low = parsed.sentence.low
    verb = next((place for place, word in enumerate(low) if word not in _COMMANDING), 0)
    is_bare = low[verb] not in DETERMINERS and not low[verb].endswith("ing")  # "playing a Yamaha" is what I do
    return verb if is_bare and not DETERMINERS.isdisjoint(low[verb + 1 : verb + 2]) else -1


def _place(found: Replacement, thing: Slot) -> tuple[int, int] | None:
    """Return where the message names a thing of the earlier one."""
    wanted = thing.roots(found.before)
    for each in slots(found.after):
        if each.first != found.new.first and each.kind in {"noun", "name"} and wanted & each.roots(found.after):
            return found.after.sentence.span(each.first, each.last)
    return None


def _unit(found: Replacement) -> str:
    """Return what a figure counts: "kilos"."""
    low = found.after.sentence.low
    return low[found.new.last - 1] if found.new.unit and low[found.new.last - 1].isalpha() else ""


def _key(found: Replacement, thing: Slot | None) -> str:
    low = found.before.sentence.low
    if thing is None and any(name.first < found.old.first for name in found.before.names.values()):
        return ""  # a name is no attribute
    if thing is not None:
        return " ".join(word for word in thing.words(found.before) if word[0].isalpha())
    if shared := [word for word in found.old.words(found.before) if word in found.new.words(found.after)]:
        return " ".join(shared)  # "cat person", then "dog person"
    begin, least = found.old.first, _command(found.before) + 1
    while begin > least and low[begin - 1] not in SPEAKER_WORDS and low[begin - 1][0].isalnum():
        begin -= 1
        if found.old.first - begin == _BEFORE:
            break
    words = [word for word in low[begin : found.old.first] if word not in _NO_KEY]
    return " ".join(words[-_KEY_WORDS_MAX:])


def _relate(
    context: TurnContext, found: Replacement, source: Mention, relation: str, target: Mention, stance: str
) -> None:
    meaning = Meaning("holds" if stance == "holds" else "ended")
    context.findings.relate(source, relation, target, meaning, None, found.after.sentence, _CONFIDENCE, relation)
