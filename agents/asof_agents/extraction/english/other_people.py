"""Sentences that tell of somebody else than their speaker: "my wife quit Acme", "Anna changed her gym to Flex".

Such a sentence changes nothing of the speaker, unless what it changes is of that person: "my boss left". A sentence is
taken for one only if its subject is a person and no word behind it is the speaker: "Tom took over as my manager".
"""

from typing import Final, NamedTuple

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.extraction.english.lexicon import ADVERBS, FIRST_PERSON, GREETINGS, PEOPLE_NOUNS, SPEAKER_WORDS
from asof_agents.extraction.english.word_roots import roots, roots_of
from asof_agents.extraction.ports import Relationship
from asof_ontologies.model import RelationType

_PASSED: Final = GREETINGS | ADVERBS | {",", "!", "and", "but", "so", "the", "our", "my", "a", "an"}
PERSONS: Final = frozenset({"he", "she", "him", "her"})
_PRONOUNS: Final = frozenset({"he", "she", "his", "her"})
_PLURAL: Final = frozenset({"they", "their"})  # of whom they are many, unless both stand there: "they moved me to 4B"
_ANIMALS: Final = frozenset({"cat", "dog", "kitten", "pet", "puppy"})
_PEOPLE: Final = PEOPLE_NOUNS - _ANIMALS | frozenset(
    "mommy daddy parent grandparent landlord ex folks in-laws family wives".split()
)
_PHRASE_MAX: Final = 3  # words of "older twin brother"
_BREAKS: Final = frozenset({",", ";", ":", "-", "–", "—", "so", "but"})  # after one the subject may be another
_JOINED: Final = (("and", "i"), ("and", "me"))


class _Other(NamedTuple):
    """Another person as the subject of a sentence; no words: a pronoun. thing: it is something of theirs."""

    words: tuple[str, ...]
    thing: bool


def tells_of_another(context: TurnContext, parsed: ParsedSentence, old: Relationship, relation: RelationType) -> bool:
    """Whether a sentence tells of another person than an old value is of."""
    key = key_of(old, relation)
    return _tells_of_speaker(parsed.sentence.low, old, key) or _tells_of_other(context, parsed, old, key)


def key_of(old: Relationship, relation: RelationType) -> str:
    """Return the words by which a keyed relation names what it is of: "brother home"; "" of another relation."""
    return old.relation.removeprefix(f"{relation.name}_").replace("_", " ") if relation.keyed else ""


def is_of_other_than(context: TurnContext, parsed: ParsedSentence, before: ParsedSentence) -> bool:
    """Whether the subject of a sentence is a person, or a thing of one, of whom an earlier sentence says nothing."""
    other = _other(context, parsed)
    if other is None:
        return False
    low = before.sentence.low
    if not other.words:
        return not any(word.removesuffix("s") in _PEOPLE or word in FIRST_NAMES for word in low)
    held = {root for word in low for root in roots(word)}
    return not any(root in held for word in other.words for root in roots(word))


def _tells_of_speaker(low: tuple[str, ...], old: Relationship, key: str) -> bool:
    """Whether a sentence tells of its speaker what was said of another: "I moved", after "my brother lives in Oslo"."""
    persons = {root for word in key.split() if word in PEOPLE_NOUNS for root in roots(word)}
    if not old.source.speaker and old.source.type == "Person":
        persons |= roots_of(old.source.text)
    if not persons or FIRST_PERSON.isdisjoint(low[:_PHRASE_MAX]):
        return False
    named = any(root in persons for word in low for root in roots(word))
    return not named and PERSONS.isdisjoint(low)


def _tells_of_other(context: TurnContext, parsed: ParsedSentence, old: Relationship, key: str) -> bool:
    """Whether a sentence tells of another what was said of its speaker."""
    other = _other(context, parsed)
    if other is not None and not old.source.speaker:  # "Tom's wedding was moved", after "our wedding is on 12 June"
        of = roots_of(old.source.text) | roots_of(old.target.text)
        theirs = other.thing and old.source.type != "Person"
        return theirs and not any(root in of for word in other.words for root in roots(word))
    if other is None or (old.target.type in {"Person", "Animal"} and not other.thing):
        return False
    of = {root for word in key.split() for root in roots(word)}
    if not other.words:
        names = {root for each in context.sentences for name in each.names.values() for root in roots_of(name.text)}
        return names.isdisjoint(of) and PEOPLE_NOUNS.isdisjoint(key.split())  # "she", of "daughter school"
    meant = of if other.thing else of | roots_of(old.target.text)
    return not any(root in meant for word in other.words for root in roots(word))


def _other(context: TurnContext, parsed: ParsedSentence) -> _Other | None:
    low = parsed.sentence.low
    at = next((at for at, word in enumerate(low) if word not in _PASSED or at in parsed.names), len(low))
    first = frozenset(low[at : at + 1])
    if first & (_PRONOUNS | _PLURAL):
        sure = first <= _PRONOUNS or _PLURAL.issubset(low)
        return _Other((), thing=False) if sure and _is_whole(low, at + 1) else None
    end = _person_end(context, parsed, at)
    if not end or low[end : end + 2] in _JOINED or not _is_whole(low, end):
        return None
    return _Other(low[at:end], thing=low[end : end + 1] == ("'s",))


def _person_end(context: TurnContext, parsed: ParsedSentence, at: int) -> int:
    """Return the word after a person who is named, or is called by what they are, at a word; 0: there is none."""
    low = parsed.sentence.low
    name = parsed.names.get(at)
    if name is not None:
        known = context.types.certain(name.text)
        person = known == "Person" or (known is None and low[at] in FIRST_NAMES)
        return name.last if person and not name.spoken_to else 0
    for end in range(at + 1, min(at + 1 + _PHRASE_MAX, len(low))):
        if low[end - 1] in _PEOPLE or low[end - 1].removesuffix("s") in _PEOPLE:
            return end
    return 0


def _is_whole(low: tuple[str, ...], at: int) -> bool:
    """Whether the speaker is no part of what follows a subject, and no other subject."""
    return SPEAKER_WORDS.isdisjoint(low[at:]) and _BREAKS.isdisjoint(low[at:])
