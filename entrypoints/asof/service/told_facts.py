"""What a template tells of what was found: what answers a message and, to the first person, is of who says it."""

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from asof.service.read_sessions import ReadSession
from asof_agents.conversation.questions import (
    answering_words,
    asks_about_speaker,
    is_own,
    is_pleasantry,
    names_speaker,
    owned,
)
from asof_projections.model.answers import Fact
from asof_projections.model.rows import FactRow, Moment
from asof_projections.retrieval.question import STOP_WORDS
from asof_streams.errors import InvalidInput
from asof_streams.ids import shown_id

_AROUND: Final = 200  # facts from who speaks, as many to him, and as many of those whom he calls his
_WORD: Final = re.compile(r"[^\W_]+")

AnyFact = Fact | FactRow


def facts_to_tell(
    source: ReadSession, group: str, speaker: str, text: str, found: Sequence[AnyFact], at: Moment
) -> list[AnyFact]:
    """Return the facts to tell whoever says a text, the best first; `found`: those that fit it.

    To a text without a word of content, or a greeting, none. To who asks what is known of him all facts of his. To the
    first person otherwise only facts of the speaker, of whom he calls his ("my sister"), and of those whom the text
    names. To who asks where somebody lives, works or studies, such facts come first; to the first person they alone.
    """
    if is_pleasantry(text):
        return []
    if asks_about_speaker(text):
        his = source.opened().beliefs.reach(group, speaker, at, _AROUND)
        return list({fact.uuid: fact for fact in (*his.outward, *his.inward)}.values())
    words = {word.casefold() for word in _WORD.findall(text)}
    wanted = answering_words(text)
    if not is_own(text):
        fitting = sorted(found, key=lambda fact: not _tells(fact, wanted)) if words - STOP_WORDS else []
        return list(fitting)
    circle = _circle(source, group, speaker, text, at)
    if not wanted:
        return [fact for fact in found if circle.has(fact) or _is_named(fact, words)]
    # One who speaks of what is his, and not of himself, asks about somebody of his.
    nouns = frozenset() if names_speaker(text) else frozenset(owned(text)) - STOP_WORDS
    facts = {fact.uuid: fact for fact in (*found, *circle.facts) if _tells(fact, wanted)}
    return [
        fact
        for fact in facts.values()
        if _is_named(fact, words)
        or (circle.has(fact) and not (nouns and circle.is_his_alone(fact) and nouns.isdisjoint(_words(fact))))
    ]


class _Circle(NamedTuple):
    """Who speaks, those whom he calls his, and the facts around them."""

    his_ids: frozenset[str]
    their_ids: frozenset[str]
    facts: tuple[FactRow, ...]

    def has(self, fact: AnyFact) -> bool:
        """Return whether a fact is of one of them."""
        return not (self.his_ids | self.their_ids).isdisjoint(_ends(fact))

    def is_his_alone(self, fact: AnyFact) -> bool:
        """Return whether a fact is of none but who speaks."""
        return self.their_ids.isdisjoint(_ends(fact))


def _circle(source: ReadSession, group: str, speaker: str, text: str, at: Moment) -> _Circle:
    reach = source.opened().beliefs.reach
    his = reach(group, speaker, at, _AROUND)
    forward, backward = _relations(source, owned(text))
    linked = {fact.object_uuid for fact in his.outward if fact.relation in forward and fact.object_uuid}
    linked |= {fact.subject_uuid for fact in his.inward if fact.relation in backward}
    theirs = reach(group, sorted(linked), at, _AROUND)
    facts = (*his.outward, *his.inward, *theirs.outward)
    return _Circle(frozenset(map(shown_id, his.entity_ids)), frozenset(map(shown_id, theirs.entity_ids)), facts)


def _relations(source: ReadSession, nouns: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the relations that nouns such as "sister" name, from who has one, and those that lead to him."""
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
