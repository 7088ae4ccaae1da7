"""Relations expressed by a noun: "my sister Ana", "a dog named Max", "Ben and Tom are my sons", "two of his works".

The noun names the relation (an ontology's `nouns`), its owner is the source, and the name is the target. A question
presupposes the relation to a name, so questions are read as well, but "who is my dentist?" tells of none.
"""

from collections.abc import Iterator
from itertools import compress

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BARE,
    CLAUSE_STARTS,
    CONJUNCTIONS,
    HE,
    PREPOSITIONS,
    PRONOUNS,
    SHE,
    UNSURE_MODALS,
    UNSURE_SENTENCE,
)
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.verbs import PASTS
from asof_agents.extraction.english.work import CLAUSE
from asof_agents.extraction.ports import Mention
from asof_ontologies.model import RelationType

_ADJECTIVES = frozenset(
    "absolute all-time amazing beloved best big biggest black brown close dear early elder eldest famous favorite "
    "first german golden good great greatest known last late latest little lovely main most new old older oldest "
    "other personal popular real rescue second small sweet tabby true twin well-known white wonderful younger "
    "youngest".split()
)
_KIN_ADJECTIVES = frozenset(
    "amazing big dear elder eldest little lovely older oldest sweet three two wonderful younger youngest".split()
)
_SOME = frozenset("a an another two three four five".split())
_PHRASE_WORDS_MAX = 32  # with its adjectives and adverbs
_LIST_WORDS_MAX = 16  # from the verb of a list to its last "and"
_HAVE = frozenset({"got", "had", "has", "have"})
_UNREAL = (
    UNSURE_SENTENCE | UNSURE_MODALS | frozenset("hope hoped hoping longer n't n’t never not want wanted wants".split())
)
_OPENINGS = frozenset({",", ";", ":", "-", "–", "—", "because", "but", "since", "so", "that", "though"})
_NAMED = frozenset({"named", "called"})
_OF = frozenset({"one", "two", "three", "four", "some", "both", "among"})
_BE = frozenset({"is", "are", "was", "were", "'s"})
_POSSESSIVE = HE - {"he", "him"} | SHE - {"she"}
_OF_MINE = _ADJECTIVES | _OF | {"my", "of"}
_OF_NOUNS = _OF_MINE | _POSSESSIVE | {"our", "'s"}
_IS = _BE - {"was", "were"}
_HAS_ALWAYS = frozenset({"'s", "always", "has", "have"})
_HOLDS = Meaning("holds")
_AFTER_NOUN = PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | PRONOUNS | ADVERBS
WordRange = tuple[int, int]  # first, last (exclusive)


def extract_relational_nouns(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the relations that nouns of this sentence express, and note the types that they give to names."""
    nouns = context.patterns.nouns
    low = parsed.sentence.low
    heads = context.patterns.noun_heads
    for at in compress(range(len(low)), map(heads.__contains__, low)):
        size = 2 if at + 2 <= len(low) and " ".join(low[at : at + 2]) in nouns else 1
        noun = " ".join(low[at : at + size])
        relations = nouns.get(noun) or nouns.get(noun.removesuffix("s")) or ()
        if not relations or at in parsed.taken:
            continue
        owner = _owner_before(context, parsed, at)
        if owner is None:
            continue
        context.work.spend(CLAUSE)
        for relation in relations:
            words = _targets_of(context, parsed, relation, at, at + size, plural=noun not in nouns)
            if words:
                _state(context, parsed, relation, owner, words, noun)
                break


def _targets_of(
    context: TurnContext, parsed: ParsedSentence, relation: RelationType, at: int, end: int, *, plural: bool
) -> list[WordRange]:
    """Return the words to which the noun [at, end) applies."""
    had = (
        not relation.is_deed and set(relation.sources).isdisjoint(relation.targets) and not relation.named
    )  # a dog, a husband: without a name too
    owners = {"my"} if context.patterns.literal.issuperset(relation.targets) else {"my", "our"}  # "our kids": whose?
    had = had and not parsed.sentence.question
    unnamed = [(at, end)] if had and _stands_alone(context, parsed, at, end, owners) else []
    return (
        list(_names_after(parsed, end, plural=plural))
        or list(_names_before(parsed, at, end))
        or list(_phrase_before(parsed, at, relation))
        or unnamed
    )


def _stands_alone(context: TurnContext, parsed: ParsedSentence, at: int, end: int, owners: set[str]) -> bool:
    """Whether "my dog" is the whole phrase, so that the noun itself is the target."""
    low = parsed.sentence.low
    after = low[end] if end < len(low) else "."
    owner = at - 1
    while owner > 0 and low[owner] in _KIN_ADJECTIVES:
        owner -= 1
    owner = _shared_owner(context, low, owner)
    closed = not after[0].isalnum() or after in _AFTER_NOUN or after in PASTS or after.endswith("ed")
    verbs = context.patterns.forms.get(after, frozenset())
    return (
        low[owner] in owners
        and low[max(0, owner - 1)] not in {"not", "never"}
        and low[at] not in BARE
        and (closed or ("base" if low[end - 1].endswith("s") else "s") in verbs)
    )


def _owner_before(context: TurnContext, parsed: ParsedSentence, at: int) -> Mention | None:
    """Return the owner of a noun: "my", "Ana's", "his", or "I have a …"."""
    low = parsed.sentence.low
    at -= 1
    while at > 0 and (low[at] in _ADJECTIVES or (low[at] in _SOME and low[at - 1] in {"my", "our", "and"})):
        at -= 1
    at = _shared_owner(context, low, at)
    if at < 0:
        return None
    if low[at] in {"my", "our"}:
        return context.speaker()
    if low[at] == "and":
        return _owner_of_list(context, parsed, at) if _is_asserted(parsed, at) else None
    if low[at] in _POSSESSIVE:
        return context.people.resolve_pronoun(low[at], parsed.sentence.starts[at])
    if low[at] == "'s":
        name = parsed.names_by_end.get(at)
        if name and context.sure_name(name) and context.types.of(name.text) in {"Person", None}:
            return context.name_mention(parsed, name, "Person")
    if low[at] in _SOME and _is_asserted(parsed, at):
        before = low[max(0, at - 4) : at]
        if not {"i", "we"}.isdisjoint(before):
            return context.speaker()
        pronoun = next((word for word in before if word in {"he", "she"}), None)
        if pronoun:
            return context.people.resolve_pronoun(pronoun, parsed.sentence.starts[at])
        return _owner_at(context, parsed, at - 1) if at > 1 and low[at - 1] in _HAVE else None
    return None


def _is_asserted(parsed: ParsedSentence, at: int) -> bool:
    """Whether "a sister named Ana" at a word tells of her: no question, wish or denial does, as "my sister" would."""
    low = parsed.sentence.low
    if parsed.sentence.question:
        return False
    for before in range(at - 1, max(-1, at - _LIST_WORDS_MAX), -1):
        if low[before] in _UNREAL:
            return False
        if low[before] in _OPENINGS and not (low[before] == "that" and low[before - 1] in _UNREAL):
            return True
    return True


def _owner_of_list(context: TurnContext, parsed: ParsedSentence, at: int) -> Mention | None:
    """Return the owner in a list that goes on with the "and" at a word: "I have a cat called Miso and a brother"."""
    low = parsed.sentence.low
    verb = next((place for place in range(at - 1, max(0, at - _LIST_WORDS_MAX), -1) if low[place] in _HAVE), 0)
    listed = verb and low[verb + 1] in _SOME and PREPOSITIONS.isdisjoint(low[verb:at])  # not "I had a talk with Tom"
    return _owner_at(context, parsed, verb) if listed else None


def _owner_at(context: TurnContext, parsed: ParsedSentence, verb: int) -> Mention | None:
    """Return the subject of a "have": "I", "I've got", "she", "Ana"."""
    low = parsed.sentence.low
    if low[verb] == "got" and low[verb - 1] not in {"'s", "'ve", "has", "have"}:  # "I got a letter"
        return None
    at = verb - 2 if low[verb] == "got" else verb - 1
    if low[at] in {"i", "we"}:
        return context.speaker()
    if low[at] in {"he", "she"}:
        return context.people.resolve_pronoun(low[at], parsed.sentence.starts[at])
    name = parsed.names_by_end.get(at + 1)
    if name and context.sure_name(name) and context.types.of(name.text) in {"Person", None}:
        return context.name_mention(parsed, name, "Person")
    return None


def _shared_owner(context: TurnContext, low: tuple[str, ...], at: int) -> int:
    """Return the word of the first noun's owner, if "and" joins a second noun: the "my" of "my husband and kids"."""
    joined = at > 1 and low[at] == "and" and low[at - 1] in context.patterns.nouns
    return at - 2 if joined else at


def _names_after(parsed: ParsedSentence, at: int, *, plural: bool) -> Iterator[WordRange]:
    """Yield the names that follow their noun.

    "sister Ana", "sister, Ana,", "sister named Ana", "sister is Ana.", "sister's name is Ana", "sons Tom and Ben".
    """
    low, names = parsed.sentence.low, parsed.names
    comma = low[at : at + 1] == (",",) and at + 1 in names and (plural or _closes(low, names[at + 1].last))
    if comma or (at < len(low) and low[at] in _NAMED):
        at += 1
    elif low[at : at + 2] == ("'s", "name") and low[at + 2 : at + 3] and low[at + 2] in _BE:
        at += 3
    elif at + 1 < len(low) and low[at] in _BE and low[at + 1] in _NAMED:
        at += 2
    elif at + 1 < len(low) and low[at] in _BE and at + 1 in names and _closes(low, names[at + 1].last):
        at += 1
    name = names.get(at)
    while name is not None and not (name.spoken_to and low[at - 1] != ","):
        yield name.first, name.last
        after = name.last
        joined = after + 1 + (low[after : after + 2] == (",", "and"))
        if not plural or after >= len(low) or low[after] not in {",", "and", "&"}:
            return
        name = names.get(joined)


def _names_before(parsed: ParsedSentence, at: int, end: int) -> Iterator[WordRange]:
    """Yield the names that precede their noun.

    "Ana is my sister", "Oscar, my guinea pig,", "Animal Farm and 1984 are two of his most famous works".
    """
    low = parsed.sentence.low
    begin = max(0, at - _PHRASE_WORDS_MAX)
    while at > begin and low[at - 1] in _OF_NOUNS:
        at -= 1
    apposed = at > 1 and low[at - 1] == "," and _closes(low, end)  # "Oscar, my guinea pig"
    if at < 2 or not (low[at - 1] in _BE or apposed):
        return
    last = at - 1
    found = []
    while last > 0:
        name = parsed.names_by_end.get(last)
        name = None if name and name.spoken_to and not apposed else name
        first = name.first if name else last - 1
        if name is None and not low[first].isdigit():
            return
        found.append((first, last))
        if first == 0 or apposed or low[first - 1] not in {"and", ",", "&"}:
            break
        last = first - 1
        while last > 0 and low[last - 1] in {",", "and"}:
            last -= 1
    if found and (found[-1][0] == 0 or (found[-1][0] == 1 and low[0] == "the") or apposed):
        yield from reversed(found)


def _phrase_before(parsed: ParsedSentence, at: int, relation: RelationType) -> Iterator[WordRange]:
    """Yield a common noun, for a relation between kinds of things: "Painting is my passion"."""
    low = parsed.sentence.low
    begin = max(0, at - _PHRASE_WORDS_MAX)
    while at > begin and low[at - 1] in _OF_MINE:
        at -= 1
    been = at > 2 and low[at - 1] == "been"  # "has always been my passion"
    if not relation.generic or at < 2 or not (been or low[at - 1] in _IS):
        return
    end = at - 1
    while been and end > 1 and low[end - 1] in _HAS_ALWAYS:
        end -= 1
    first = end
    while first > 0 and low[first - 1] not in CLAUSE_STARTS:
        first -= 1
        if at - first > _PHRASE_WORDS_MAX:
            return
    phrase = parsed.phrase_at(first) if low[max(0, first - 1)] != "that" else None
    if phrase and phrase.after == end and not (phrase.definite or phrase.own or phrase.vague):
        yield phrase.first, phrase.last


def _closes(low: tuple[str, ...], at: int) -> bool:
    return at >= len(low) or not (low[at][0].isalnum() or low[at] == "'s")


def _state(
    context: TurnContext,
    parsed: ParsedSentence,
    relation: RelationType,
    owner: Mention,
    names: list[WordRange],
    noun: str,
) -> None:
    for first, last in names:
        start, end = parsed.sentence.span(first, last)
        text = context.turn.text[start:end]
        kind = context.types.of(text)
        if kind not in relation.targets:
            words = context.patterns.types_of_words(parsed.sentence.low[first:last])
            kind = next((kind for kind in words if kind in relation.targets), relation.targets[0])
        is_shared = kind in {"Person", "Animal"} and context.types.is_shared(text)
        listed = None if is_shared else context.types.certain(text)
        if owner.type not in relation.sources or listed not in {None, kind, "Person"}:
            continue
        context.types.learn(text, kind)
        target = context.findings.mention(kind, start, end)
        if kind == "Person":
            context.people.add(target)
        confidence = 0.95 if owner.speaker else 0.85
        name = relation.of_noun(noun) if relation.keyed else relation.name
        context.findings.relate(owner, name, target, _HOLDS, None, parsed.sentence, confidence, noun)
