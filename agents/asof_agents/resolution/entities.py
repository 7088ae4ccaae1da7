"""Entity resolution: decides which entity a mention or a structured name means, and records the reason.

The rules come first, the surest one first: the speaker, a repeated mention, a part of the one full name of this message
that has it, the exact name, the normalised name or an alias, a common noun of this message in the other number, a first
name that only one known person has, a nearly equal longer name, and in a chat the same words but for their articles. A
name that they leave open goes to the judge, if there is one and a likely candidate. Otherwise it is a new entity. A
wrong merge costs more than a duplicate, which a later merge can mend, so every rule but the first two requires
compatible types and a single candidate. Values are never taken for each other, however similar they are, but for those
that are told in the same words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.ports import BeliefView
from asof_agents.resolution.candidates import Candidate, CandidateContext, Nearest, candidates
from asof_agents.resolution.exact import ExactNames, fits
from asof_agents.resolution.judge import Doubt, Judge, Verdict
from asof_agents.resolution.one_message import FullNames, is_common, is_possessive, singular
from asof_agents.resolution.structure import StructuralMatcher
from asof_agents.resolution.wordings import wording
from asof_projections.model.rows import EntityRow
from asof_projections.names import key, words
from asof_projections.spelling import jaro_winkler
from asof_streams.episodic import MentionObserved
from asof_streams.events import Event, event_of
from asof_streams.ids import derive
from asof_streams.semantic import EntityDescribed, EntityMerged, MentionResolved

PERSON: Final = "Person"
_SIMILAR: Final = 0.95  # Jaro-Winkler over keys
_SIMILAR_CHARACTERS: Final = 8  # shorter names that differ in one letter are often two names
_INTRODUCED: Final = 256  # the latest entities of this message among which a name's candidates are searched for
_SHORT_NAME_CHARACTERS: Final = 3  # "Mel" for Melanie; two letters say too little


Speakers = Callable[[], Iterable[str]]
"""Returns the names of the speakers of the turns before; called only if a short name needs them."""


@dataclass(slots=True)
class Resolver(ExactNames):
    """Resolves the names of one episode, however they are worded."""

    known: BeliefView
    speakers: Speakers = tuple
    is_value: Callable[[str], bool] = lambda _: False  # of an entity type: values that are nearly equal are two
    cause: int = -1  # the position of the message
    structure: StructuralMatcher | None = None  # None: names alone decide
    kinds: frozenset[str] = frozenset()  # mentions that may mean a kind: "dogs" of "I have a dog and I love dogs"
    asked: list[Event] = field(default_factory=list)  # what came of asking a judge: recorded before it is used
    _meant: dict[str, str] = field(default_factory=dict)  # mention id -> entity id
    _full: FullNames = field(default_factory=FullNames)  # of the people whom this message names
    _common: dict[tuple[str, str, bool], EntityRow] = field(default_factory=dict)  # nouns of this message, by `_number`
    _present: set[str] = field(default_factory=set)  # the entities that were meant
    _joined: set[tuple[str, str]] = field(default_factory=set)  # by this episode: duplicate, into
    _people: dict[str, tuple[list[EntityRow], list[EntityRow]]] = field(default_factory=dict)  # known, by first name
    _spoken: list[str] | None = None  # the speakers, once asked for

    def resolve(self, observed: Iterable[MentionObserved], judge: Judge | None = None) -> None:
        """Resolve mentions to entities, by the rules and then by the judge, with the reason of each in an event."""
        left: list[MentionObserved] = []
        self._full = FullNames(observed := list(observed))
        for mention in self._full.before_parts(observed):
            sure = self._sure(mention)
            may_ask = judge is not None or self.structure is not None
            if sure is None and may_ask and not self.is_value(mention.entity_type):
                left.append(mention)
            else:
                self._mean(mention, *(sure or self._new(mention)))
        if self.structure is not None:
            left = [mention for mention in left if not self._match(mention, self.structure, judge)]
        if judge is not None and left:
            self._judge(left, judge)

    def _match(self, mention: MentionObserved, structure: StructuralMatcher, judge: Judge | None) -> bool:
        """Resolve a mention by structure; return whether that decided it, as it does where there is no judge."""
        sure = self._sure(mention)  # one introduced since may be called so
        if sure is None and (found := structure.match(mention, self.meant)):
            self._describe(found[0], mention.text)
            sure = found[0], "structure", found[1]
        if sure is None and judge is not None:
            return False
        self._mean(mention, *(sure or self._new(mention)))
        return True

    def _judge(self, left: Sequence[MentionObserved], judge: Judge) -> None:
        doubts: list[Doubt] = []
        near = self._near(left, judge)
        for mention in left:
            sure = self._sure(mention)  # one introduced since may be called so
            found = [] if sure else self._candidates(mention, near.get(mention.text, ()))
            if found:
                doubts.append(Doubt(mention, found))
            else:
                self._mean(mention, *(sure or self._new(mention)))
        if not doubts:
            return
        verdict = self._decide(doubts, judge)
        for mention, _ in doubts:
            if mention.mention_id in verdict.meant:
                entity, confidence = verdict.meant[mention.mention_id]
                self._describe(entity, mention.text)
                self._mean(mention, entity, "model", confidence)
            else:
                self._mean(mention, *(self._sure(mention) or self._new(mention)))
        for one, other in verdict.same:
            self._merge(one, other, "model")

    def resolve_again(self, mentions: Sequence[MentionObserved], introduced_at: int, judge: Judge) -> None:
        """Ask the judge again about those mentions for which an entity was introduced at a time: who else it may be."""
        own: dict[str, EntityRow] = {}
        for mention in mentions:
            entity = self.known.entity(self.known.resolved(mention.mention_id) or "")
            if entity and entity.known_from == introduced_at and not self.is_value(mention.entity_type):
                own[mention.mention_id] = entity
        asked = [mention for mention in mentions if mention.mention_id in own and not mention.speaker]
        near = self._near(asked, judge) if asked else {}
        doubts = []
        for mention in asked:
            same = self.known.identity([own[mention.mention_id].uuid], None)
            found = [c for c in self._candidates(mention, near.get(mention.text, ())) if c.entity.uuid not in same]
            if found:
                doubts.append(Doubt(mention, found))
        if not doubts:
            return
        verdict = self._decide(doubts, judge)
        meant = [(entity, own[mention]) for mention, (entity, _) in verdict.meant.items()]
        for one, other in (*meant, *verdict.same):
            self._merge(one, other, "model")

    def _near(self, mentions: Sequence[MentionObserved], judge: Judge) -> Mapping[str, Nearest]:
        near, failed = judge.near(self.group, self.episode, [mention.text for mention in mentions], self.cause)
        self.asked += failed
        return near

    def _decide(self, doubts: Sequence[Doubt], judge: Judge) -> Verdict:
        verdict, answered = judge.decide(self.group, self.episode, doubts, self.cause)
        self.asked += answered
        return verdict

    def _candidates(self, mention: MentionObserved, near: Nearest) -> list[Candidate]:
        where = CandidateContext(
            self.group, self.recorded_at, self._present, islice(reversed(self.introduced.values()), _INTRODUCED), near
        )
        return candidates(self.known, mention.text, mention.entity_type, where)

    def _mean(self, mention: MentionObserved, entity: EntityRow, reason: str, score: float) -> None:
        self._meant[mention.mention_id] = entity.uuid
        self._present.add(entity.uuid)
        if self._is_noun(mention):
            self._common.setdefault(self._number(mention), entity)
        if mention.repeats:  # that one was never resolved, if its message was parked; relationships name it
            self._meant.setdefault(mention.repeats, entity.uuid)
        self.events.append(
            event_of(
                MentionResolved,
                {  # all of them, in their order
                    "mention_id": mention.mention_id,
                    "episode_id": mention.episode_id,
                    "entity_id": entity.uuid,
                    "reason": reason,
                    "score": float(score),  # a model may say 1
                },
            )
        )

    def meant(self, mention_id: str) -> str | None:
        """Return the entity that a mention was taken to mean, in this episode or before."""
        return self._meant.get(mention_id) or self.known.resolved(mention_id)

    def _sure(self, mention: MentionObserved) -> tuple[EntityRow, str, float] | None:
        """Return what a mention means by the rules, why, and how sure that is; None where they leave it open."""
        if mention.speaker:
            name = self.episode.role or self.episode.role_type
            return self.named(name, PERSON) or self.introduce(name, PERSON), "speaker", 1.0
        if mention.repeats and (uuid := self.meant(mention.repeats)):
            return self.entity(uuid), "repeated", 1.0
        type_, text = mention.entity_type, mention.text
        full = self._full.of(text) if type_ == PERSON else None
        if full is not None and (uuid := self._meant.get(full.mention_id)):
            if words(text)[0] != words(full.text)[0]:  # a later message may use the last name alone, too
                self._describe(self.entity(uuid), text)
            return self.entity(uuid), "first name", 0.9
        keyed = self._keyed(text, type_)
        if entity := self.named(text, type_):
            self._join(keyed)
            return entity, "name", 1.0
        if keyed:
            self._join(keyed)
            return keyed[0], "name" if key(keyed[0].name) == key(text) else "alias", 1.0
        if self._is_noun(mention) and (entity := self._common.get(self._number(mention))):
            self._describe(entity, text)
            return entity, "name", 1.0
        if type_ == PERSON and (entity := self._person(text)):
            return entity, "first name", 0.9
        if not self.is_value(type_) and (entity := self._similar(text, type_)):
            return entity, "similar name", round(_likeness(entity.name, text), 3)
        if entity := self._worded(text, type_):
            self._describe(entity, text)
            return entity, "same words", 1.0
        return None

    def _new(self, mention: MentionObserved) -> tuple[EntityRow, str, float]:
        name = mention.text
        if mention.entity_type == PERSON and name.isupper() and key(name).split()[0] in FIRST_NAMES:
            name = name.title()  # it was shouted
        return self.introduce(name, mention.entity_type), "new", 1.0

    def _is_noun(self, mention: MentionObserved) -> bool:
        type_ = mention.entity_type
        return type_ != PERSON and not self.is_value(type_) and is_common(mention.text)

    def _number(self, mention: MentionObserved) -> tuple[str, str, bool]:
        """Return what a noun has in common with itself in the other number; a kind is none of its members."""
        return mention.entity_type, singular(mention.text), mention.mention_id in self.kinds

    def _keyed(self, text: str, type_: str) -> list[EntityRow]:
        same = (*self.known.entities_keyed(self.group, key(text)), *self.introduced_as(text))
        return [e for e in same if fits(e.type, type_) and (type_ == PERSON or self._spelled(e, text))]

    def _spelled(self, entity: EntityRow, text: str) -> bool:
        """Whether a name with the key of `text` ends with "'s" as it does: Wendy's is not what Wendy is."""
        same = key(text)
        names = [entity.name] if key(entity.name) == same else self.known.aliases(entity.uuid, None)
        return any(is_possessive(name) == is_possessive(text) for name in names if key(name) == same)

    def _join(self, keyed: Sequence[EntityRow]) -> None:
        """Join things of one stated type whose own names differ in nothing but how they are spelled."""
        first, *others = keyed
        for other in others:
            if first.type is not None and other.type == first.type and key(other.name) == key(first.name):
                self._merge(first, other, "same name")

    def _merge(self, one: EntityRow, other: EntityRow, reason: str) -> None:
        """Note that two entities are one, unless that is known, or somebody took it back.

        That what had joined them was withdrawn does not count: it is as if it had never been said.
        """
        into, duplicate = sorted((one, other), key=lambda e: (e.known_from, e.name, e.uuid))
        pair = (duplicate.uuid, into.uuid)
        if (
            pair in self._joined
            or into.uuid in self.known.parted(duplicate.uuid)
            or into.uuid in self.known.identity([duplicate.uuid], None)
        ):
            return
        self._joined.add(pair)
        merge = derive("merge", self.build, self.episode.episode_id, *pair)
        self.events.append(EntityMerged(merge_id=merge, duplicate=pair[0], into=pair[1], reason=reason))

    def _person(self, text: str) -> EntityRow | None:
        """Return the one person whose first name, or whose short name among the speakers, this is."""
        said = words(text)
        if not said:
            return None
        full, short = self._people_called(said[0])
        fits = full if len(said) == 1 else short
        if len(fits) == 1:
            if len(said) > len(words(fits[0].name)):
                self._describe(fits[0], text)
            return fits[0]
        if not fits and len(said) == 1 and len(said[0]) >= _SHORT_NAME_CHARACTERS:
            if self._spoken is None:
                self._spoken = list(self.speakers())
            speakers = {s for s in self._spoken if key(s).startswith(said[0])}
            if len(speakers) == 1 and (entity := self.named(speakers.pop(), PERSON)):
                self._describe(entity, text)
                return entity
        return None

    def _people_called(self, first: str) -> tuple[list[EntityRow], list[EntityRow]]:
        """Return the known people with a first name, and those of them who have no other name."""
        if first not in self._people:
            people = [e for e in self.known.entities_with_word(self.group, first) if e.type == PERSON]
            full = [e for e in people if words(e.name)[0] == first]
            short = [e for e in full if len(words(e.name)) == 1 and not self._has_full_name(e, first)]
            self._people[first] = full, short if self._full.is_one(first) else []
        return self._people[first]

    def _has_full_name(self, person: EntityRow, first: str) -> bool:
        """Whether somebody with a short name is known by a full one: another full name is another person."""
        names = (words(name) for name in self.known.aliases(person.uuid, None))
        return any(len(name) > 1 and name[0] == first for name in names)

    def _similar(self, text: str, type_: str) -> EntityRow | None:
        if len(text) < _SIMILAR_CHARACTERS:
            return None
        known = {e.uuid: e for word in words(text) for e in self.known.entities_with_word(self.group, word)}
        near = [
            e
            for e in known.values()
            if e.type == type_ and len(e.name) >= _SIMILAR_CHARACTERS and _SIMILAR <= _likeness(e.name, text) < 1
        ]
        return near[0] if len(near) == 1 else None

    def _worded(self, text: str, type_: str) -> EntityRow | None:
        """Return the one thing of which a chat speaks in the same words: what it says again is not learned twice."""
        is_number = self.is_value(type_) and (" " not in text or any(letter.isdigit() for letter in text))
        if self.episode.external_id is None or type_ == PERSON or is_number:
            return None
        same, said = wording(text), words(text)
        deed = 2 if said[:1] == ["to"] else 1  # "to learn the piano" shares the last word with "learning piano"
        shared = max(said[deed:] or said, key=len)
        known = self.known.entities_with_word(self.group, shared)
        found = {e.uuid: e for e in (*known, *self.introduced.values()) if e.type == type_ and wording(e.name) == same}
        return next(iter(found.values())) if len(found) == 1 else None

    def _describe(self, entity: EntityRow, alias: str) -> None:
        self.events.append(EntityDescribed(entity_id=entity.uuid, alias=alias, episode_id=self.episode.episode_id))


def _likeness(one: str, other: str) -> float:
    return jaro_winkler(key(one), key(other))
