"""Clauses: subject, verb and object of each part of a sentence, read from left to right."""

from asof_agents.extraction.context import Context, Line
from asof_agents.extraction.lexicon import (
    ADVERBS,
    BARE,
    BOUNDARIES,
    CLAUSE_STARTS,
    FIRST_PERSON,
    GREETINGS,
    HE,
    PREPOSITIONS,
    SHE,
    SUBJECT_PRONOUNS,
    UNSURE_FROM,
    UNSURE_SENTENCE,
)
from asof_agents.extraction.meaning import Meaning, meaning
from asof_agents.extraction.objects import Target, targets_at
from asof_agents.extraction.patterns import Entry, match
from asof_agents.extraction.ports import Mention, TimeHint
from asof_agents.extraction.predicates import Predicate, coordinated, predicates
from asof_agents.extraction.subjects import Subject

_QUOTES = frozenset({'"', "“", "”"})
_JOINS = frozenset({"and", ",", "then", "but", "&"})
_ENDS_CLAUSE = frozenset({"because", "but", "so", "when", "while", "where", "which", "who", ";", "-", "–", "—"})
_NOT_NOW = frozenset((word,) for word in "old former ex previous last first next future dream ideal late".split())
_THE = frozenset({"the", "our", "this"})


def read_clauses(context: Context, line: Line) -> None:
    """Add every statement of the sentence that is sure."""
    sentence = line.sentence
    if sentence.question or not UNSURE_SENTENCE.isdisjoint(sentence.low):
        return
    if context.patterns.heads.keys().isdisjoint(sentence.low):
        return
    _Clauses(context, line).read()


class _Clauses:
    def __init__(self, context: Context, line: Line) -> None:
        self.context = context
        self.line = line
        self.low = line.sentence.low
        self.subject: Subject | None = None
        self.last: Predicate | None = None
        self.said = False  # whether the clause before has stated something

    def read(self) -> None:
        at, unsure, count = 0, False, len(self.low)
        while at < count:
            word = self.low[at]
            if word in _QUOTES:
                at = next((end + 1 for end in range(at + 1, count) if self.low[end] in _QUOTES), at + 1)
                continue
            if word in BOUNDARIES:
                unsure = False
                if word != "but":
                    self.last = None
            elif word in UNSURE_FROM:
                unsure = True
            if not unsure:
                following = self._clause(at)
                if following is not None:
                    at = max(following, at + 1)
                    continue
            at += 1

    def _clause(self, at: int) -> int | None:
        """Read the clause that begins at a word; return where to go on."""
        subject = self._subject_at(at)
        if subject is None and self.low[at] in {"my", "our"} and "my" in self.context.patterns.heads:
            return self._possession(at)
        if subject is not None:
            self.subject, self.last, self.said = subject, None, False
            for said in predicates(self.line.sentence, subject.next, self.context.patterns, third=subject.third):
                self.last = said
                end = self._statement(subject, said, at)
                if end is not None:
                    return end
            return subject.next
        if self.low[at] in SUBJECT_PRONOUNS:
            self.subject = self.last = None
        elif self.subject and self.last and self.low[at] in _JOINS:
            shared = coordinated(self.line.sentence, at + 1, self.last, self.context.patterns)
            if shared and (self.said or shared.tense == "past"):
                self.last = shared
                return self._statement(self.subject, shared, shared.head) or shared.after
        return None

    def _possession(self, at: int) -> int | None:
        """ "My favorite city is …", "my store": a cue that holds its own subject."""
        speaker = self.context.speaker()
        if speaker is None or self.low[at + 1 : at + 2] in _NOT_NOW:
            return None
        said = Predicate(at, at + 1, "present", None)
        return self._statement(Subject((speaker,), at, third=False, confidence=0.95), said, at)

    # --- subjects

    def _subject_at(self, at: int) -> Subject | None:
        low, context = self.low, self.context
        word = low[at]
        before = low[at - 1] if at else ""
        if word in FIRST_PERSON:
            follows = low[at + 1] if at + 1 < len(low) else ""
            if before == "like" or (word == "we" and follows == "all" and low[at + 2 : at + 3] == ("have",)):
                return None
            speaker = context.speaker()
            return Subject((speaker,), at + 1, third=False, confidence=0.95) if speaker else None
        if word in {"he", "she"}:
            person = context.people.meant_by(word)
            return Subject((person,), at + 1, third=True, confidence=0.75) if person else None
        if at in self.line.names:
            return self._named(at, before)
        if word in _THE and (at == 0 or before in CLAUSE_STARTS or before in ADVERBS):
            return self._common_noun(at)
        if at == self._opening():
            return self._left_out(at)
        return None

    def _named(self, at: int, before: str) -> Subject | None:
        name = self.line.names[at]
        nouns = self.context.patterns.nouns
        if name.spoken_to or not (at == 0 or before in CLAUSE_STARTS or before in ADVERBS or before in nouns):
            return None
        names = [name]
        low = self.low
        if name.last + 1 in self.line.names and low[name.last : name.last + 1] == ("and",):
            names.append(self.line.names[name.last + 1])
        mentions = tuple(mention for each in names if (mention := self._source(each)))
        if len(mentions) != len(names):
            return None
        following = names[-1].last
        if before == "," and low[following : following + 1] == (",",):  # "My sister, Ana, works …"
            following += 1
        confidence = 0.9 if all(self.context.sure_name(each) for each in names) else 0.6
        return Subject(mentions, following, third=len(names) == 1, confidence=confidence)

    def _source(self, name: "object") -> Mention | None:
        from asof_agents.extraction.spans import Name

        assert isinstance(name, Name)
        kind = self.context.types.of(name.text) or "Person"
        if kind not in self.context.patterns.ontology.entities:
            return None
        return Mention(self.context.turn.episode_id, kind, name.text, self.line.sentence.starts[name.first])

    def _common_noun(self, at: int) -> Subject | None:
        """ "the billing service" as a subject: only where its last word is a word of some type."""
        sentence, patterns = self.line.sentence, self.context.patterns
        for last in range(at + 2, min(at + 5, len(self.low))):
            if self.low[last] in patterns.forms or self.low[last] in {"will", "no", "does", "has"}:
                kinds = patterns.types_of_words(self.low[at + 1 : last])
                if not kinds:
                    return None
                start, end = sentence.span(at + 1, last)
                mention = Mention(self.context.turn.episode_id, kinds[0], self.context.turn.text[start:end], start)
                return Subject((mention,), last, third=True, confidence=0.8)
        return None

    def _opening(self) -> int:
        """The first word that is not a greeting, a name called out or an adverb."""
        at = 0
        while at < len(self.low):
            name = self.line.names.get(at)
            if name and name.spoken_to:
                at = name.last
            elif self.low[at] in GREETINGS or self.low[at] in ADVERBS or self.low[at] in {",", "!", "been"}:
                if self.low[at] == "been":
                    break
                at += 1
            else:
                break
        return at

    def _left_out(self, at: int) -> Subject | None:
        """ "Just moved to Berlin": chat leaves the speaker out before a past verb."""
        tags = self.context.patterns.forms.get(self.low[at], frozenset())
        past = "past" in tags and "base" not in tags and self.low[at] not in {"was", "were", "had"}
        if not (past or self.low[at] in {"been", "gonna"}):
            return None
        speaker = self.context.speaker()
        return Subject((speaker,), at, third=False, confidence=0.8) if speaker else None

    # --- statements

    def _statement(self, subject: Subject, said: Predicate, start: int) -> int | None:
        """Add what the verb says of the subject; return where its object ends, or None."""
        context, line = self.context, self.line
        tags_wanted = said.form
        best: tuple[int, int, Entry, list[Target]] | None = None
        ahead = said.tense in {"future", "progressive", "present"}
        hints = context.timed(line, ahead=ahead) if self.low[said.head] in context.patterns.heads else ()
        head = "my" if self.low[said.head] == "our" else self.low[said.head]
        for entry in context.patterns.heads.get(head, ()):
            if tags_wanted and tags_wanted not in entry.forms:
                continue
            if not any(mention.type in entry.relation.sources for mention in subject.mentions) and not entry.reversed:
                continue
            if best and entry.weight < best[1] and best[0] > 0:
                break
            at = match(entry.steps, line.sentence, said.after, line.timed)
            if at is None:
                continue
            found = targets_at(context, line, at, entry) or self._fronted(start, at, entry)
            if found and (best is None or (found[0].fit, entry.weight) > best[:2]):
                best = (found[0].fit, entry.weight, entry, found)
        if best is None:
            return None
        end = max(best[3][-1].phrase.after, said.after)
        said = self._with_tail(said, end)
        hint = self._hint(hints, start, end)
        self._add(subject, said, best[2], best[3], hint)
        self.said = True
        return end

    def _fronted(self, start: int, at: int, entry: Entry) -> list[Target]:
        """The object before its subject: "the parade I went to last week"."""
        low = self.low
        if entry.relation.lasting or (
            at < len(low) and low[at][0].isalnum() and at not in self.line.timed and low[at] not in ADVERBS
        ):
            return []
        for first in range(max(0, start - 4), start):
            found = targets_at(self.context, self.line, first, entry)
            if found and found[0].fit == 2 and found[-1].phrase.after == start and not found[0].phrase.name:
                return found[:1]
        return []

    def _with_tail(self, said: Predicate, end: int) -> Predicate:
        """ "not … anymore" is "no longer"."""
        from dataclasses import replace

        tail = self.low[end : end + 2]
        if said.negation == "not" and (tail[:1] == ("anymore",) or tail in {("any", "more"), ("any", "longer")}):
            return replace(said, negation="no longer")
        return said

    def _hint(self, hints: "object", start: int, end: int) -> TimeHint | None:
        """The time of this clause: the first one after its subject, else the last one before it."""
        sentence = self.line.sentence
        assert isinstance(hints, tuple | list)
        if not hints:
            return None
        limit = end
        while limit < len(self.low) and self.low[limit] not in _ENDS_CLAUSE and self.low[limit] not in SUBJECT_PRONOUNS:
            limit += 1
        placed = [(sentence.start + hint.span[0], hint) for hint in hints]
        for place, hint in placed:
            if sentence.starts[start] <= place < sentence.ends[limit - 1]:
                return hint
        for place, hint in reversed(placed):
            if place < sentence.starts[start] and self._leads_in(sentence.start + hint.span[1], start):
                return hint
        return None

    def _leads_in(self, ends: int, start: int) -> bool:
        """Whether only commas, adverbs and joining words stand between a time and the subject: "Last week, I"."""
        between = [at for at in range(start) if self.line.sentence.starts[at] >= ends]
        return all(self.low[at] in {",", "and"} or self.low[at] in ADVERBS for at in between)

    def _add(
        self, subject: Subject, said: Predicate, entry: Entry, targets: list[Target], hint: TimeHint | None
    ) -> None:
        context, line = self.context, self.line
        for target in targets:
            named = target.phrase.name
            stated = meaning(entry, said, hint, context.turn.said_at, named=named)
            if stated is None:
                continue
            relation = entry.relation.opposite if stated.opposite and entry.relation.opposite else entry.relation.name
            if (
                hint is None
                and not named
                and self.low[target.phrase.first : target.phrase.last][0] in BARE
                and (target.phrase.last - target.phrase.first == 1)
            ):
                continue
            start, end = line.sentence.span(target.phrase.first, target.phrase.last)
            confidence = round(subject.confidence * (1.0 if target.fit else 0.9), 2)
            for mention in subject.mentions:
                if not entry.reversed and mention.type not in entry.relation.sources:
                    continue
                source = self._registered(mention)
                object_ = context.found.mention(target.kind, start, end)
                if entry.reversed:
                    source, object_ = object_, source
                context.found.relate(source, relation, object_, stated, hint, line.sentence, confidence)

    def _registered(self, mention: Mention) -> Mention:
        """Put a subject of this turn among its mentions; a pronoun's or the speaker's stays what it is."""
        if mention.speaker or mention.episode_id != self.context.turn.episode_id:
            return mention
        found = self.context.found.mention(mention.type, mention.start, mention.start + len(mention.text))
        if found.type == "Person":
            self.context.people.named(found)
        return found
