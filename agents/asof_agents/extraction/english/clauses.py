"""Clauses: the subject and verb of each part of a sentence, from left to right."""

from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import compress, pairwise

from asof_agents.extraction.english.anticipation import extract_anticipation
from asof_agents.extraction.english.attributes import extract_attributes
from asof_agents.extraction.english.clause_subjects import ClauseSubjects
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.deeds import extract_deed, extract_habit
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.lexicon import (
    BOUNDARIES,
    FIRST_PERSON,
    SUBJECT_PRONOUNS,
    UNSURE_FROM,
    UNSURE_SENTENCE,
)
from asof_agents.extraction.english.news import extract_news
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.predicates import Predicate, Tense, coordinated_predicate, predicates
from asof_agents.extraction.english.statements import extract_statements
from asof_agents.extraction.english.subjects import Subject
from asof_agents.extraction.english.tastes import extract_fandom, extract_taste
from asof_agents.extraction.english.verbs import PASTS
from asof_agents.extraction.english.work import CLAUSE

_NEW_CLAUSE = frozenset({"so", "and"})  # after a comma
_NOT_ASKED = frozenset({("not",), ("never",), ("to",), ("will",), ("did",), ("would",)})
_QUOTES = frozenset({'"', "“", "”"})
_TOLD = frozenset({("tell", "you"), ("tell", "ya"), ("say", "that")})
_TELLS = frozenset(word for word, _ in _TOLD)
_JOINS = frozenset({"and", ",", "then", "but", "&"})
_NOT_YET = frozenset("launch launching open opening start startin startin' starting".split())  # "to open my store"
_UNSURE_REST = frozenset({"maybe", "perhaps", "hopefully"})  # after a comma only the rest is unsure
_TURNS = (  # words at which a clause may begin, or be less sure or surer than the one before
    _QUOTES | _JOINS | _UNSURE_REST | BOUNDARIES | FIRST_PERSON | SUBJECT_PRONOUNS | UNSURE_FROM
    | {"he", "i", "know", "me", "my", "our", "say", "she", "so", "tell", "the", "this"}
)  # fmt: skip
_SET_OFF = frozenset({",", "-", "–", "—", ";", "("})
_STATING = frozenset("i i've we my our oh btw also yeah yep well just so actually thanks".split())
_ASKING = frozenset("any are can could did do ever got have how huh is right wanna want what which who would".split())
_TAGS = frozenset({"eh", "huh", "right", "yeah", "know"})
_WHERE = {("at",), ("from",), ("in",), ("near",), ("to",), ("with",)}
_PUBLIC = frozenset("agency bar cafe charity club company deli farm gym hotel pub restaurant salon".split())
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
    if parsed.sentence.question and _asked_from(low) is None:
        return "a question states nothing"
    for at, word in enumerate(low if parsed.sentence.unsure else ()):
        if word in UNSURE_SENTENCE and not (at and word in _UNSURE_REST and low[at - 1] in _SET_OFF):
            return f'"{word}" makes it unsure'
    return "it is only a guess" if _thinks(low) else None


def _asked_from(low: tuple[str, ...]) -> int | None:
    """Return the word from which a statement goes on as a question: "I won - cool, huh?"; None: it is one."""
    if low[0] not in _STATING:
        return None
    for at in range(len(low) - 1, 0, -1):
        if low[at] in _SET_OFF:
            asks = low[at + 1] in _ASKING or low[-2] in _TAGS or low[-2:] == ("you", "?")
            return at if asks and at > 1 else None
    return None


def _thinks(low: tuple[str, ...]) -> bool:
    """Whether the sentence is only a guess: "I guess …", "…, I think"."""
    return low[-3:-1] == ("i", "think") or ("guess" in low and ("i", "guess") in pairwise(low))


@lru_cache(maxsize=32)  # as many ontologies as have their look-ups in memory
def _turn_words(patterns: Patterns) -> frozenset[str]:
    return _TURNS | patterns.requests


class _ClauseReader:
    def __init__(self, context: TurnContext, parsed: ParsedSentence) -> None:
        self.context = context
        self.parsed = parsed
        self.low = parsed.sentence.low
        self.subject: Subject | None = None
        self.last: Predicate | None = None
        self.began = 0  # where the clause of the subject begins
        self.subjects = ClauseSubjects(context, parsed)
        self.stated = False  # whether the previous clause gave a relationship

    def read(self) -> None:
        context, parsed, low = self.context, self.parsed, self.low
        asked = _asked_from(low) if parsed.sentence.question else None
        next_at, unsure, count = 0, False, asked or len(low)
        for at in self._turns():
            if at < next_at:
                continue
            if at >= count:
                return
            word = low[at]
            if word in _QUOTES:
                title = parsed.names.get(at + 1)
                following = self._clause(at + 1) if at == 0 and title and title.quoted else None  # '"X" means …'
                closing = (end + 1 for end in range(at + 1, count) if low[end] in _QUOTES)
                next_at = following or next(closing, at + 1)
                continue
            if word in BOUNDARIES:
                unsure = False
                if word != "but":
                    self.last = None
            elif word in _TELLS and low[at : at + 2] in _TOLD:
                unsure = False  # "I wanted to tell you …"
                continue
            elif word == "know" and low[at - 1 : at] == ("you",):
                unsure = False  # "I wanted to let you know …"
                continue
            elif (
                word in _NEW_CLAUSE and low[at - 1 : at] == (",",) and not FIRST_PERSON.isdisjoint(low[at + 1 : at + 3])
            ):
                unsure = False  # "I needed a change, so I moved to Berlin"
            elif (word in UNSURE_FROM and not self._has_tried(at)) or word in _UNSURE_REST:
                unsure = True
                context.miss(parsed, (at, count), "it may be only a thought, a wish or a report")
            if not unsure:
                next_at = self._clause(at) or 0

    def _turns(self) -> list[int]:
        """Return the words at which a clause may begin, or be less sure or surer than the one before, in order."""
        at_turns = _turn_words(self.context.patterns)
        turns = {self.subjects.opening, *self.parsed.names}
        turns.update(compress(range(len(self.low)), map(at_turns.__contains__, self.low)))
        if self.parsed.sentence.hyphened:
            turns |= {at for at, word in enumerate(self.low) if "-" in word}
        return sorted(turns)

    @cached_property
    def _not_yet(self) -> int:
        """The first word by which what follows is only about to be: "to open my store"."""
        return next((at for at, word in enumerate(self.low) if word in _NOT_YET), len(self.low))

    def _clause(self, at: int) -> int | None:
        """Extract the clause that begins at a word; return the word after it, None if there is no clause."""
        context, parsed, word = self.context, self.parsed, self.low[at]
        if at == self.subjects.opening and (end := extract_taste(context, parsed, at)):
            return end
        subject = self.subjects.at(at)
        if subject is not None:
            context.work.spend(CLAUSE)
            self.subject, self.last, self.stated, self.began = subject, None, False, at
            # the main verb says more than the "am" or "have" before it
            if subject.mentions[0].speaker and (end := extract_fandom(context, parsed, subject.next)):
                return end
            found = predicates(parsed.sentence, subject.next, context.patterns, third=subject.third)
            if at == self.subjects.opening == subject.next and self.subjects.goes_on(at):
                found = [Predicate(at, at + 1, "progressive", "ing")]
            if not found:
                context.miss(parsed, (at, subject.next + 2), "no verb of a cue follows, or not for sure")
            for predicate in reversed(found):
                self.last = self.last or predicate
                end = extract_statements(context, parsed, subject, predicate, at)
                end = extract_attributes(context, parsed, subject, predicate) or end
                if end is not None:
                    self.stated, self.last = True, predicate
                    return end
            return (
                self._deed(subject, at)
                or extract_anticipation(context, parsed, subject)
                or extract_habit(context, parsed, subject)
                or subject.next
            )
        if word in {"my", "our"}:
            context.work.spend(CLAUSE)
            return self._possession(at) or extract_news(context, parsed, at)
        if word in context.patterns.requests and self._may_request(at):
            context.work.spend(CLAUSE)
            return self._request(at)
        if word in SUBJECT_PRONOUNS:
            self.subject = self.last = None
        elif self.subject and self.last and word in _JOINS:
            return self._joined(self.subject, self.last, at)
        return None

    def _joined(self, subject: Subject, last: Predicate, at: int) -> int | None:
        """Extract a second verb of the same subject: "moved to Berlin and joined SAP"."""
        predicate = coordinated_predicate(self.parsed.sentence, at + 1, last, self.context.patterns)
        led = self.began if self._is_led(at) else None  # "Yesterday I fixed the fence and painted the shed"
        if predicate is None and last.tense in {"past", "perfect"}:
            return self._deed(subject._replace(next=at + 1), at + 1 if led is None else led)
        if predicate is None or not (self.stated or predicate.tense == "past"):
            return None
        self.last = predicate
        start = predicate.head if led is None else led
        end = extract_statements(self.context, self.parsed, subject, predicate, start)
        end = extract_attributes(self.context, self.parsed, subject, predicate) or end
        self.stated = self.stated or end is not None
        if end is None and predicate.tense == "past":
            end = self._deed(subject._replace(next=predicate.head), start)
        return end or predicate.after

    def _is_led(self, at: int) -> bool:
        """Whether a time before the subject is that of the verbs up to a word: no other stands between."""
        begins, ends = (self.parsed.sentence.starts[word] - self.parsed.sentence.start for word in (self.began, at))
        before = bisect_right(self._times_end, begins)
        return 0 < before == bisect_right(self._times_end, ends)

    @cached_property
    def _times_end(self) -> list[int]:
        """Where the times of the sentence end, in order."""
        return sorted(hint.span[1] for hint in self.context.timed(self.parsed, ahead=False))

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
        dreams = self.low[at + 1 : at + 3] in {("dream", "is"), ("dream", "'s")}  # but "my dream car"
        if (self.low[at + 1] in _NOT_NOW and not dreams) or self._not_yet < at or self._visits(at):
            return None
        subject = Subject((speaker,), at, third=False, confidence=0.95)
        return extract_statements(self.context, self.parsed, subject, Predicate(at, at + 1, "present", None), at)

    def _has_tried(self, at: int) -> bool:
        """Whether it was done: "tried making bread", but not "tried to make bread"."""
        following = self.low[at + 1 : at + 2]
        return self.low[at] in {"tried", "trying"} and following != () and following[0] not in {"to", "and", "my"}

    def _visits(self, at: int) -> bool:
        """Whether "my gym" is where the speaker goes, and not what the speaker runs: "at my gym"."""
        return self.low[at - 1 : at] in _WHERE and self.low[at + 1] in _PUBLIC

    def _may_request(self, at: int) -> bool:
        """Whether a request may begin at a word: it opens the sentence, or asks to be called by a name."""
        return at == self.subjects.asked or (
            self.low[at + 1 : at + 2] == ("me",) and self.low[at - 1 : at] not in _NOT_ASKED
        )

    def _request(self, at: int) -> int | None:
        """Extract a cue that asks for something: "Call me Jim", "Always use tabs"."""
        speaker = self.context.speaker()
        if speaker is None and self.context.turn.role_type == "user":
            speaker = self.context.findings.add_speaker(*self.parsed.sentence.span(at, at + 1))
        if speaker is None:
            return None
        subject = Subject((speaker,), at, third=False, confidence=0.85)
        tense: Tense = "past" if past_deed(self.low[at]) or self.low[at] in PASTS else "present"
        return extract_statements(self.context, self.parsed, subject, Predicate(at, at + 1, tense, None), at)
