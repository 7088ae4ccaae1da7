"""The context of one turn: its parsed sentences, names, people and findings, which all rules share."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol

from asof_agents.extraction import documents
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.findings import Findings
from asof_agents.extraction.english.lexicon import SPEAKER_WORDS, SUBJECT_PRONOUNS
from asof_agents.extraction.english.lower_names import lower_names
from asof_agents.extraction.english.name_spans import NameSpan, NameTypes, names_in
from asof_agents.extraction.english.noun_phrases import Phrase, phrase_at
from asof_agents.extraction.english.patterns import CueEntry, Patterns
from asof_agents.extraction.english.sentences import Sentence, parse_sentences
from asof_agents.extraction.english.subjects import People
from asof_agents.extraction.english.times.lexer import may_tell_time
from asof_agents.extraction.english.work import NAMES, SENTENCE, TIMES, WORD, Work
from asof_agents.extraction.ports import KnownNames, Mention, TimeHint, Turn
from asof_streams.timezones import zone_of

_KEPT_MAX = 2_000  # characters of a text whose sentences are kept
_TEXT = attrgetter("text")
_STRETCH = 600  # characters, that are searched for times at once
_ENDS_CLAUSE = frozenset({"because", "but", "so", "when", "while", "where", "which", "who", ";", "-", "–", "—"})


class FindTimes(Protocol):
    """The signature of dates.find_times: the time expressions of a text; tense decides a bare "on Friday"."""

    def __call__(
        self, text: str, reference: int, *, tense: Literal["past", "future"] = "past", zone: tzinfo = UTC
    ) -> Sequence[TimeHint]: ...


class Miss(NamedTuple):
    """Words that nearly stated something, and why they did not."""

    sentence: int  # where it begins in the turn's text
    words: str
    reason: str
    relation: str | None  # of the cue that nearly matched, if one did
    cue: str | None


@dataclass
class ParsedSentence:
    """One sentence with its names; its times are found when a rule first needs them.

    A sentence may be as long as its message: what a rule looks for far ahead or back is looked up here.
    """

    sentence: Sentence
    names: dict[int, NameSpan]  # by their first word
    names_by_end: dict[int, NameSpan]  # by the word after them
    past: Sequence[TimeHint] | None = field(default=None, init=False)
    ahead: Sequence[TimeHint] | None = field(default=None, init=False)
    timed: frozenset[int] = field(default=frozenset(), init=False)  # the words of the time expressions
    taken: set[int] = field(default_factory=set, init=False)  # words that stated a value, and so no more
    _phrases: dict[int, Phrase | None] = field(default_factory=dict, init=False)  # by the word where they may begin
    _firsts: dict[frozenset[str], int] = field(default_factory=dict, init=False)  # by the words that were looked for

    def phrase_at(self, at: int) -> Phrase | None:
        """Return the noun phrase from a word on; None: there is none. Several rules ask for it."""
        if at not in self._phrases:
            self._phrases[at] = phrase_at(self.sentence, at, self.names, self.timed)
        return self._phrases[at]

    def note_times(self, past: Sequence[TimeHint]) -> None:
        """Note the time expressions, of which no phrase has a word."""
        self.past = past
        if not past:
            return  # mostly so: what was looked up stands
        offsets = (tuple(self.sentence.start + each for each in hint.span) for hint in past)
        self.timed = frozenset(at for start, end in offsets for at in self.sentence.words_in(start, end))
        self._phrases.clear()

    def first_of(self, words: frozenset[str]) -> int:
        """Return the first word that is one of some; without one, how many words there are."""
        if words not in self._firsts:
            low = self.sentence.low
            self._firsts[words] = next((at for at, word in enumerate(low) if word in words), len(low))
        return self._firsts[words]

    @cached_property
    def clause_ends(self) -> list[int]:
        """The words at which a clause ends, and the end of the sentence."""
        low = self.sentence.low
        following = (*low[1:], "")
        return [
            *(
                at
                for at, (word, after) in enumerate(zip(low, following, strict=True))
                if word in _ENDS_CLAUSE or word in SUBJECT_PRONOUNS or (word == "and" and past_deed(after))
            ),
            len(low),
        ]

    @cached_property
    def nows(self) -> list[int]:
        """The words that are "now" or "again": it was otherwise before."""
        return [at for at, word in enumerate(self.sentence.low) if word in {"now", "again"}]

    @cached_property
    def last_word(self) -> int:
        """The end of the last word that is no punctuation."""
        low = self.sentence.low
        return next((at for at in range(len(low), 0, -1) if low[at - 1][0].isalnum()), 0)


def parse(text: str, patterns: Patterns, work: Work) -> list[ParsedSentence]:
    """Return the sentences of a text with their names.

    Those of a short text are kept for a while: the messages that follow it look back at it, some of them twice.
    """
    if len(text) <= _KEPT_MAX:
        kept, units = _kept(text, patterns)
        work.spend(units)
        return [_parsed(sentence, names) for sentence, names in kept]
    found = []
    for sentence, names in _named(text, patterns):  # which stops where it is too much work
        work.spend(_units(sentence))
        found.append(_parsed(sentence, names))
    return found


def _parsed(sentence: Sentence, names: Sequence[NameSpan]) -> ParsedSentence:
    if not names:
        return ParsedSentence(sentence, {}, {})
    return ParsedSentence(sentence, {name.first: name for name in names}, {name.last: name for name in names})


def _units(sentence: Sentence) -> int:
    return SENTENCE + WORD * len(sentence.low)


@lru_cache(maxsize=64)
def _kept(text: str, patterns: Patterns) -> tuple[Sequence[tuple[Sentence, Sequence[NameSpan]]], int]:
    """Return the sentences of a text with their names, and the units of work that it is to parse them."""
    found = tuple(_named(text, patterns))
    return found, sum([_units(sentence) for sentence, _ in found])


def _named(text: str, patterns: Patterns) -> Iterator[tuple[Sentence, Sequence[NameSpan]]]:
    for sentence in parse_sentences(text):
        names = names_in(sentence, patterns, text)
        yield sentence, tuple(names or lower_names(sentence, patterns, text))


class TurnContext:
    """One turn during its extraction."""

    def __init__(
        self,
        turn: Turn,
        before: Sequence[Turn],
        known: KnownNames,
        patterns: Patterns,
        find_times: FindTimes,
        misses: list[Miss] | None = None,
    ) -> None:
        self.document = turn.text if turn.is_json else ""
        self.fields: Sequence[tuple[int, int]] = ()  # of the document, which are read as structure
        worded = replace(turn, text=documents.unescaped(turn.text)) if turn.is_json else turn
        self.turn = turn = replace(turn, text=documents.words(turn.text)) if turn.is_json else turn
        self.before = before
        self.patterns = patterns
        self.work = Work()
        self.findings = Findings(worded, self.work)  # a mention may be a key of a document, or a number
        self._find_times = find_times
        self.misses = misses  # collected for an explanation; None: nobody asks for them
        self.sentences = parse(turn.text, patterns, self.work)
        roles, names = {turn.role.casefold()}, list[NameSpan]()
        known_types: dict[str, str] = {}
        for earlier in before:
            roles.add(earlier.role.casefold())
            for mention in earlier.mentions:
                if not mention.speaker:
                    known_types[mention.text] = mention.type
        roles.discard("")
        for parsed in self.sentences:
            names += parsed.names.values()
        if names:
            known_types.update(known(list(dict.fromkeys(map(_TEXT, names)))))
        self._known = known
        self.types = NameTypes(patterns, known_types, roles)
        self.people = People(before, roles)
        self._may_speak = True  # until no word that means the speaker was found
        self.strong = {name.text for name in names if not name.weak} if names else set[str]()

    def miss(self, parsed: ParsedSentence, words: tuple[int, int], reason: str, entry: CueEntry | None = None) -> None:
        """Note why the words [first, after) of a sentence state nothing, where an explanation is asked for."""
        if self.misses is not None:
            start, end = parsed.sentence.span(words[0], max(words[0] + 1, min(words[1], len(parsed.sentence.low))))
            cue = (entry.relation.name, entry.text) if entry else (None, None)
            self.misses.append(Miss(parsed.sentence.start, self.turn.text[start:end], reason, *cue))

    def timed(self, parsed: ParsedSentence, *, ahead: bool) -> Sequence[TimeHint]:
        """Return the time expressions of a sentence, in order; with `ahead`, a bare "on Friday" is the next Friday."""
        sentence = parsed.sentence
        if parsed.past is None:
            parsed.note_times(self._times(sentence, "past"))
        if not ahead or not parsed.past:
            return parsed.past or ()
        if parsed.ahead is None:
            parsed.ahead = self._times(sentence, "future")
        return parsed.ahead

    def times_of(self, words: str) -> Sequence[TimeHint]:
        """Return the time expressions of a few words that are no sentence of the turn."""
        self.work.spend(TIMES)
        return self._find_times(words, self.turn.said_at, zone=zone_of(self.turn.timezone))

    def note_fields(self, fields: Sequence[tuple[int, int]], values: Sequence[tuple[int, int]]) -> None:
        """Note the fields of a document that are read, and leave the sentences of those values out; both sorted."""
        starts = [start for start, _ in values]

        def is_read(start: int) -> bool:
            at = bisect_right(starts, start) - 1
            return at >= 0 and start < values[at][1]

        self.fields = fields
        self.sentences = [parsed for parsed in self.sentences if not is_read(parsed.sentence.start)]

    def _times(self, sentence: Sentence, tense: Literal["past", "future"]) -> Sequence[TimeHint]:
        text = self.turn.text[sentence.start : sentence.end]
        if not may_tell_time(text):
            return ()
        self.work.spend(TIMES * (1 + len(text) // _STRETCH))
        return self._find_times(text, self.turn.said_at, tense=tense, zone=zone_of(self.turn.timezone))

    def speaker(self) -> Mention | None:
        """Return the speaker's mention, by the first word that means them, such as "my"; None: there is none."""
        if self.findings.speaker is None and self._may_speak:
            for parsed in self.sentences:
                if not SPEAKER_WORDS.isdisjoint(low := parsed.sentence.low):
                    at = next(at for at, word in enumerate(low) if word in SPEAKER_WORDS)
                    return self.findings.add_speaker(*parsed.sentence.span(at, at + 1))
            self._may_speak = False
        return self.findings.speaker

    def meet(self, parsed: ParsedSentence) -> None:
        """Note the people whom a sentence names, so that a later pronoun may mean them."""
        for name in parsed.names.values():
            if not name.spoken_to and not name.quoted and self.types.of(name.text) == "Person":
                self.people.add(Mention(self.turn.episode_id, "Person", name.text, parsed.sentence.starts[name.first]))

    def known_in_full(self, text: str, kinds: Sequence[str]) -> tuple[str, str] | None:
        """Return the one known name that completes a short one, with its type: "billing service" of "billing"."""
        self.work.spend(NAMES)
        words = {f"{text} {word}": kind for word, of in self.patterns.words.items() for kind in of if kind in kinds}
        found = [(name, kind) for name, kind in self._known(list(words)).items() if kind in kinds]
        return found[0] if len(found) == 1 else None

    def sure_name(self, name: NameSpan) -> bool:
        """Whether a word is a name for sure, though it may only be capitalised as the first of its sentence."""
        return not name.weak or name.text in self.strong or self.types.of(name.text) is not None

    def was_mentioned(self, text: str) -> bool:
        """Whether the group has mentioned a name before this turn."""
        self.work.spend(NAMES)
        low = text.casefold()
        before = any(each.text.casefold() == low for turn in self.before for each in turn.mentions)
        return before or bool(self._known([text]))

    def registered(self, mention: Mention, kind: str) -> Mention:
        """Return the mention of a subject as an entity type; it joins the findings, if it is of this turn."""
        if mention.speaker or mention.episode_id != self.turn.episode_id:
            return mention
        found = self.findings.mention(kind, mention.start, mention.start + len(mention.text))
        if kind == "Person":
            self.people.add(found)
        return found

    def name_mention(self, parsed: ParsedSentence, name: NameSpan, kind: str) -> Mention:
        mention = self.findings.mention(kind, *parsed.sentence.span(name.first, name.last))
        if kind == "Person":
            self.people.add(mention)
        return mention
