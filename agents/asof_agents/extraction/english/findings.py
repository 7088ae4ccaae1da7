"""The findings of one turn so far: its mentions and relationships, each of them once."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.work import MENTION, RELATIONSHIP, REPEATED, Work
from asof_agents.extraction.ports import Extraction, Mention, Relationship, StatedAttribute, TimeHint, Turn

_Triple = tuple[str, str, str, str, str]  # the source's type and text, the relation, the target's type and text
_Granule = tuple[int, int] | None


class Findings:
    """Collects the extraction of one turn, in the order of the text."""

    def __init__(self, turn: Turn, work: Work) -> None:
        self.turn = turn
        self._work = work
        self._mentions: dict[tuple[str, str], Mention] = {}
        self._texts: set[str] = set()
        self._relationships: dict[tuple[_Triple, _Granule], Relationship] = {}
        self._granules: defaultdict[_Triple, list[_Granule]] = defaultdict(list)
        self._attributes: dict[tuple[Mention, str], StatedAttribute] = {}
        self.speaker: Mention | None = None

    def mention(self, kind: str, start: int, end: int, words: str | None = None) -> Mention:
        """Return the mention of the turn's text [start, end) as an entity type; the same words have one mention.

        words: these instead of those of the text, such as "her sister" for "my sister".
        """
        text = self.turn.text[start:end] if words is None else words
        held = self._mentions.get((kind, text))
        if held is None:
            self._work.spend(MENTION)
            self._texts.add(text)
        if held is None or start < held.start:
            held = Mention(self.turn.episode_id, kind, text, start)
            self._mentions[kind, text] = held
        return held

    def has(self, text: str) -> bool:
        """Whether these words have a mention already, of any type."""
        return text in self._texts

    def add_speaker(self, start: int, end: int) -> Mention:
        """Return the speaker's mention; the words [start, end) are used if there is none yet."""
        if self.speaker is None:
            self.speaker = Mention(self.turn.episode_id, "Person", self.turn.text[start:end], start, speaker=True)
        return self.speaker

    def relate(
        self,
        source: Mention,
        relation: str,
        target: Mention,
        meaning: Meaning,
        hint: TimeHint | None,
        sentence: Sentence,
        confidence: float,
        cue: str,
    ) -> None:
        """Add a relationship, as `add` does."""
        timed = hint is not None and (meaning.valid_from is not None or meaning.valid_to is not None)
        found = Relationship(
            source,
            relation,
            target,
            meaning.stance,
            meaning.valid_from,
            meaning.valid_to,
            hint.grain if timed and hint else None,
            hint.words if timed and hint else None,
            confidence,
            (sentence.start, sentence.end),
            cue,
            meaning.granule,
            meaning.planned,
            meaning.former,
        )
        self.add(found)

    def add(self, found: Relationship) -> None:
        """Add a relationship; of two that differ in stance or time alone, the first stays, unless it is denied.

        A deed that happened at two times is two.
        """
        source, target = found.source, found.target
        if source.text.casefold() == target.text.casefold():
            return
        key = (source.type, source.text, found.relation, target.type, target.text.casefold())
        if found.stance == "denied":
            for granule in self._granules.pop(key, ()):
                del self._relationships[key, granule]
        is_known = (key, found.granule) in self._relationships
        self._work.spend(REPEATED if is_known else RELATIONSHIP)
        if not is_known:
            self._relationships[key, found.granule] = found
            self._granules[key].append(found.granule)

    def share(self, relation: str, sentence: Sentence) -> None:
        """Note of what a sentence states by a relation that others may have it as well."""
        span = (sentence.start, sentence.end)
        for key, found in self._relationships.items():
            if found.relation == relation and found.span == span:
                self._relationships[key] = replace(found, shared=True)

    def describe(self, stated: StatedAttribute) -> None:
        """Add an attribute; of two values of one, the later stays."""
        self._work.spend(RELATIONSHIP)
        self._attributes[stated.mention, stated.name] = stated

    @property
    def relationships(self) -> tuple[Relationship, ...]:
        """All relationships so far."""
        return tuple(self._relationships.values())

    def relationships_reversed(self) -> Iterator[Relationship]:
        """Yield the relationships so far, the latest first."""
        return reversed(self._relationships.values())

    def extraction(self) -> Extraction:
        """Return all findings, in the order of the text. The speaker is among them only if a relationship needs it."""
        if not (self._mentions or self._relationships or self._attributes):
            return Extraction()
        speaker = self.speaker
        used = speaker is not None and (
            any(speaker in (found.source, found.target) for found in self.relationships)
            or any(mention == speaker for mention, _ in self._attributes)
        )
        mentions = [*self._mentions.values(), *([speaker] if used and speaker else [])]
        mentions.sort(key=lambda mention: (mention.start, mention.type))
        current = {(mention.type, mention.text, mention.speaker): mention for mention in mentions}
        return Extraction(
            tuple(mentions),
            tuple(_with_latest(found, current) for found in self.relationships),
            attributes=tuple(
                replace(stated, mention=_latest(stated.mention, current)) for stated in self._attributes.values()
            ),
        )


def _with_latest(found: Relationship, current: dict[tuple[str, str, bool], Mention]) -> Relationship:
    source, target = _latest(found.source, current), _latest(found.target, current)
    same = source is found.source and target is found.target
    return found if same else replace(found, source=source, target=target)


def _latest(mention: Mention, current: dict[tuple[str, str, bool], Mention]) -> Mention:
    held = current.get((mention.type, mention.text, mention.speaker))
    return held if held is not None and held.episode_id == mention.episode_id else mention
