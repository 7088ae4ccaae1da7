"""Chooses the facts that a template tells: those that answer a message, in the first person about the speaker."""

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from asof.service.read_sessions import ReadSession
from asof_agents.conversation.questions import answering_words, asks_about_speaker, is_own, names_speaker, owned
from asof_agents.conversation.small_talk import small_talk_of
from asof_projections.model.answers import Fact
from asof_projections.model.rows import FactRow, Moment
from asof_projections.retrieval.question import STOP_WORDS
from asof_streams.errors import InvalidInput
from asof_streams.ids import shown_id

_AROUND: Final = 200  # facts from the speaker, as many to the speaker, and as many of the speaker's relatives
_WORD: Final = re.compile(r"[^\W_]+")

AnyFact = Fact | FactRow


def facts_to_tell(
    source: ReadSession, group: str, speaker: str, text: str, found: Sequence[AnyFact], at: Moment
) -> list[AnyFact]:
    """Return the facts to tell in answer to a text, the best first; `found`: those that fit it.

    Small talk, or a text without a word of content, gets none. "What do you know about me?" gets all facts about the
    speaker. Any other text in the first person gets facts about the speaker, about the speaker's own ("my sister") and
    about people whom the text names. Where it asks where somebody lives, works or studies, such facts come first, and
    in the first person no others.
    """
    if small_talk_of(text) is not None:
        return []
    if asks_about_speaker(text):
        own = source.opened().beliefs.reach(group, speaker, at, _AROUND)
        return list({fact.uuid: fact for fact in (*own.outward, *own.inward)}.values())
    words = {word.casefold() for word in _WORD.findall(text)}
    wanted = answering_words(text)
    if not is_own(text):
        fitting = sorted(found, key=lambda fact: not _tells(fact, wanted)) if words - STOP_WORDS else []
        return list(fitting)
    circle = _circle(source, group, speaker, text, at)
    if not wanted:
        return [fact for fact in found if circle.has(fact) or _is_named(fact, words)]
    # "Where does my sister live?" asks about the sister, and not about the speaker.
    nouns = frozenset() if names_speaker(text) else frozenset(owned(text)) - STOP_WORDS
    facts = {fact.uuid: fact for fact in (*found, *circle.facts) if _tells(fact, wanted)}
    return [
        fact
        for fact in facts.values()
        if _is_named(fact, words)
        or (circle.has(fact) and not (nouns and circle.is_of_speaker_alone(fact) and nouns.isdisjoint(_words(fact))))
    ]


class _Circle(NamedTuple):
    """The speaker, the speaker's own, such as a sister, and the facts around them."""

    speaker_ids: frozenset[str]
    their_ids: frozenset[str]
    facts: tuple[FactRow, ...]

    def has(self, fact: AnyFact) -> bool:
        """Return whether a fact is of one of them."""
        return not (self.speaker_ids | self.their_ids).isdisjoint(_ends(fact))

    def is_of_speaker_alone(self, fact: AnyFact) -> bool:
        """Return whether a fact is about the speaker alone."""
        return self.their_ids.isdisjoint(_ends(fact))


def _circle(source: ReadSession, group: str, speaker: str, text: str, at: Moment) -> _Circle:
    reach = source.opened().beliefs.reach
    own = reach(group, speaker, at, _AROUND)
    forward, backward = _relations(source, owned(text))
    linked = {fact.object_uuid for fact in own.outward if fact.relation in forward and fact.object_uuid}
    linked |= {fact.subject_uuid for fact in own.inward if fact.relation in backward}
    theirs = reach(group, sorted(linked), at, _AROUND)
    facts = (*own.outward, *own.inward, *theirs.outward)
    return _Circle(frozenset(map(shown_id, own.entity_ids)), frozenset(map(shown_id, theirs.entity_ids)), facts)


def _relations(source: ReadSession, nouns: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the relations that nouns such as "sister" name: those from the person who has one, and their inverses."""
    try:
        types = source.ontology().relation_types if nouns else ()
    except InvalidInput:  # it is not kept in a copy of topics
        types = ()
    named = [type_ for type_ in types if not set(type_.nouns).isdisjoint(nouns)]
    backward = {type_.name if type_.symmetric else type_.inverse or "" for type_ in named}
    return {type_.name for type_ in named} | {f"has_{noun.replace(' ', '_')}" for noun in nouns}, backward


def _tells(fact: AnyFact, wanted: Collection[str]) -> bool:
    return not _words(fact).isdisjoint(wanted)


def _words(fact: AnyFact) -> set[str]:
    return set(fact.relation.split("_"))


def _is_named(fact: AnyFact, words: Collection[str]) -> bool:
    """Return whether some words have the first of the name that a fact is of."""
    name = _WORD.search(fact.subject.casefold())
    return name is not None and name[0] in words and name[0] not in STOP_WORDS


def _ends(fact: AnyFact) -> set[str]:
    return {shown_id(id_) for id_ in (fact.subject_uuid, fact.object_uuid) if id_}
