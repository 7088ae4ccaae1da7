"""Clauses: the subject and verb of each part of a sentence, from left to right."""

from dataclasses import replace
from itertools import pairwise

from asof_agents.extraction.english.attributes import extract_attributes
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.deeds import extract_deed, extract_habit
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    BOUNDARIES,
    CLAUSE_STARTS,
    FIRST_PERSON,
    GREETINGS,
    SUBJECT_PRONOUNS,
    UNSURE_FROM,
    UNSURE_SENTENCE,
)
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.predicates import Predicate, coordinated_predicate, predicates
from asof_agents.extraction.english.statements import extract_statements
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.english.work import CLAUSE
from asof_agents.extraction.ports import Mention

_QUOTES = frozenset({'"', "“", "”"})
_TOLD = frozenset({("tell", "you"), ("tell", "ya"), ("say", "that")})
_JOINS = frozenset({"and", ",", "then", "but", "&"})
_THE = frozenset({"the", "our", "this"})
_NOT_YET = frozenset("launch launching open opening start startin startin' starting".split())  # "to open my store"
_NOT_NOW = frozenset("old former ex previous last first next future dream ideal late".split())  # "my last job"


def extract_clauses(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the statements of a sentence that are sure."""
    low = parsed.sentence.low
    if reason := _not_sure(parsed):
        context.miss(parsed, (0, len(low)), reason)
        return
    _ClauseReader(context, parsed).read()


def _not_sure(parsed: ParsedSentence) -> str | None:
    """Return why nothing of a sentence is sure; None: it may be."""
    low = parsed.sentence.low
    if parsed.sentence.question:
        return "a question states nothing"
    if word := next((word for word in low if word in UNSURE_SENTENCE), None):
        return f'"{word}" makes it unsure'
    return "it is only a guess" if _thinks(low) else None


def _thinks(low: tuple[str, ...]) -> bool:
    """Whether the sentence is only a guess: "I guess …", "…, I think"."""
    return low[-3:-1] == ("i", "think") or any(pair == ("i", "guess") for pair in pairwise(low))


class _ClauseReader:
    def __init__(self, context: TurnContext, parsed: ParsedSentence) -> None:
        self.context = context
        self.parsed = parsed
        self.low = parsed.sentence.low
        self.subject: Subject | None = None
        self.last: Predicate | None = None
        self.opening = self._opening()
        self.not_yet = next((at for at, word in enumerate(self.low) if word in _NOT_YET), len(self.low))
        self.stated = False  # whether the previous clause gave a relationship

    def read(self) -> None:
        context, parsed = self.context, self.parsed
        at, unsure, count = 0, False, len(self.low)
        while at < count:
            word = self.low[at]
            if word in _QUOTES:
                title = self.parsed.names.get(at + 1)
                following = self._clause(at + 1) if at == 0 and title and title.quoted else None  # '"X" means …'
                at = following or next((end + 1 for end in range(at + 1, count) if self.low[end] in _QUOTES), at + 1)
                continue
            if word in BOUNDARIES:
                unsure = False
                if word != "but":
                    self.last = None
            elif self.low[at : at + 2] in _TOLD or (word == "know" and self.low[at - 1 : at] == ("you",)):
                unsure = False  # "I wanted to let you know …"
                at += 1
                continue
            elif self.low[at - 1 : at + 1] == (",", "so") and not FIRST_PERSON.isdisjoint(self.low[at + 1 : at + 3]):
                unsure = False  # "I needed a change, so I moved to Berlin"
            elif word in UNSURE_FROM:
                unsure = True
                context.miss(parsed, (at, count), "it may be only a thought, a wish or a report")
            following = None if unsure else self._clause(at)
            at = max(following or 0, at + 1)

    def _clause(self, at: int) -> int | None:
        """Extract the clause that begins at a word; return the word after it, None if there is no clause."""
        context, parsed = self.context, self.parsed
        subject = self._subject_at(at)
        if subject is not None:
            context.work.spend(CLAUSE)
            self.subject, self.last, self.stated = subject, None, False
            # the main verb says more than the "am" or "have" before it
            found = predicates(parsed.sentence, subject.next, context.patterns, third=subject.third)
            if not found:
                context.miss(parsed, (at, subject.next + 2), "no verb of a cue follows, or not for sure")
            for predicate in reversed(found):
                self.last = self.last or predicate
                end = extract_statements(context, parsed, subject, predicate, at)
                end = extract_attributes(context, parsed, subject, predicate) or end
                if end is not None:
                    self.stated, self.last = True, predicate
                    return end
            return self._deed(subject, at) or extract_habit(context, parsed, subject) or subject.next
        if self.low[at] in {"my", "our"}:
            context.work.spend(CLAUSE)
            return self._possession(at)
        if self.low[at] in SUBJECT_PRONOUNS:
            self.subject = self.last = None
        elif self.subject and self.last and self.low[at] in _JOINS:
            return self._joined(self.subject, self.last, at)
        return None

    def _joined(self, subject: Subject, last: Predicate, at: int) -> int | None:
        """Extract a second verb of the same subject: "moved to Berlin and joined SAP"."""
        predicate = coordinated_predicate(self.parsed.sentence, at + 1, last, self.context.patterns)
        if predicate is None and last.tense in {"past", "perfect"}:
            return self._deed(replace(subject, next=at + 1), at + 1)
        if predicate is None or not (self.stated or predicate.tense == "past"):
            return None
        self.last = predicate
        end = extract_statements(self.context, self.parsed, subject, predicate, predicate.head)
        end = extract_attributes(self.context, self.parsed, subject, predicate) or end
        self.stated = self.stated or end is not None
        return end or predicate.after

    def _deed(self, subject: Subject, start: int) -> int | None:
        """Extract what the subject did in the words of the text; further deeds may be joined to it."""
        end = extract_deed(self.context, self.parsed, subject, start)
        if end is not None and self.last is None:
            self.last = Predicate(subject.next, subject.next + 1, "past", None, third=subject.third)
        return end

    def _possession(self, at: int) -> int | None:
        """Extract a cue that contains its subject: "My favorite city is …", "my store"."""
        speaker = self.context.speaker()
        if speaker is None or "my" not in self.context.patterns.heads or self.low[at + 1 : at + 2] == ():
            return None
        if self.low[at + 1] in _NOT_NOW or self.not_yet < at:
            return None
        subject = Subject((speaker,), at, third=False, confidence=0.95)
        return extract_statements(self.context, self.parsed, subject, Predicate(at, at + 1, "present", None), at)

    def _subject_at(self, at: int) -> Subject | None:
        low, context = self.low, self.context
        word = low[at]
        before = low[at - 1] if at else ""
        if word in FIRST_PERSON:
            if before == "like" or low[at : at + 3] == ("we", "all", "have"):
                return None
            speaker = context.speaker()
            return Subject((speaker,), at + 1, third=False, confidence=0.95) if speaker else None
        if word in {"he", "she"}:
            person = context.people.resolve_pronoun(word, self.parsed.sentence.starts[at])
            if person is None:
                context.miss(self.parsed, (at, at + 1), "it is not clear whom it means")
                return None
            return Subject((person,), at + 1, third=True, confidence=0.75)
        begins = at == 0 or before in CLAUSE_STARTS or before in ADVERBS
        if at in self.parsed.names:
            return (
                self._named(at) if begins or self.parsed.names[at].quoted or before in context.patterns.nouns else None
            )
        if word in _THE and begins:
            return self._common_noun(at)
        if begins and "-" in word:
            return self._identifier(at)
        return self._left_out(at) if at == self.opening else None

    def _named(self, at: int) -> Subject | None:
        low, names = self.low, [self.parsed.names[at]]
        if names[0].spoken_to:
            return None
        if names[0].last + 1 in self.parsed.names and low[names[0].last] == "and":
            names.append(self.parsed.names[names[0].last + 1])
        mentions = tuple(self._source(name) for name in names)
        following = names[-1].last + names[-1].quoted
        if at and low[at - 1] == "," and low[following : following + 1] == (",",):  # "My sister, Ana, works …"
            following += 1
        confidence = 0.9 if all(self.context.sure_name(name) for name in names) else 0.6
        return Subject(mentions, following, third=len(names) == 1, confidence=confidence)

    def _source(self, name: NameSpan) -> Mention:
        """Return a subject's mention; it joins the findings only with a relationship."""
        kind = self.context.types.of(name.text) or UNTYPED
        return Mention(self.context.turn.episode_id, kind, name.text, self.parsed.sentence.starts[name.first])

    def _common_noun(self, at: int) -> Subject | None:
        """Return a subject such as "the billing service", if its last word is a word of some entity type."""
        sentence, patterns = self.parsed.sentence, self.context.patterns
        for last in range(at + 2, min(at + 5, len(self.low))):
            if self.low[last] in patterns.forms or self.low[last] in {"will", "no", "does", "has"}:
                kinds = patterns.types_of_words(self.low[at + 1 : last])
                if not kinds:
                    return None
                start, end = sentence.span(at + 1, last)
                mention = Mention(self.context.turn.episode_id, kinds[0], self.context.turn.text[start:end], start)
                plural = self.low[last - 1].endswith("s") and self.low[last - 1] not in patterns.words
                return Subject((mention,), last, third=not plural, confidence=0.8)
        return None

    def _identifier(self, at: int) -> Subject | None:
        """Return a subject such as "auth-service", if its last part is a word of some entity type."""
        kinds = self.context.patterns.types_of_words((self.low[at],))
        if not kinds:
            return None
        mention = Mention(
            self.context.turn.episode_id, kinds[0], self.parsed.sentence.raw[at], self.parsed.sentence.starts[at]
        )
        return Subject((mention,), at + 1, third=True, confidence=0.8)

    def _opening(self) -> int:
        """Return the index of the first word that is no greeting, no name that is addressed and no adverb."""
        at = 0
        while at < len(self.low):
            name = self.parsed.names.get(at)
            if name and name.spoken_to:
                at = name.last
            elif self.low[at] in GREETINGS or self.low[at] in ADVERBS or self.low[at] in {",", "!"}:
                at += 1
            else:
                break
        return at

    def _left_out(self, at: int) -> Subject | None:
        """Return the speaker as the subject, which chat omits before a past verb: "Just moved to Berlin"."""
        tags = self.context.patterns.forms.get(self.low[at], frozenset())
        past = (("past" in tags and "base" not in tags) or past_deed(self.low[at])) and self.low[at] not in {
            "was",
            "were",
        }
        if not (past or self.low[at] in {"been", "gonna"}):
            return None
        speaker = self.context.speaker()
        return Subject((speaker,), at, third=False, confidence=0.8) if speaker else None
