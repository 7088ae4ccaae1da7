"""The context of one turn: its parsed sentences, names, people and findings, which all rules share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from asof_agents.extraction.english.findings import Findings
from asof_agents.extraction.english.lexicon import SPEAKER_WORDS
from asof_agents.extraction.english.name_spans import NameSpan, NameTypes, names_in
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.sentences import Sentence, parse_sentences
from asof_agents.extraction.english.subjects import People
from asof_agents.extraction.ports import KnownNames, Mention, TimeHint, Turn


class FindTimes(Protocol):
    """The signature of dates.find_times: the time expressions of a text; tense decides a bare "on Friday"."""

    def __call__(
        self, text: str, reference: int, *, tense: Literal["past", "future"] = "past"
    ) -> Sequence[TimeHint]: ...


@dataclass(slots=True)
class ParsedSentence:
    """One sentence with its names; its times are found when a rule first needs them."""

    sentence: Sentence
    names: dict[int, NameSpan]
    past: Sequence[TimeHint] | None = None
    ahead: Sequence[TimeHint] | None = None
    timed: frozenset[int] = field(default_factory=frozenset)  # the words of the time expressions


class TurnContext:
    """One turn during its extraction."""

    def __init__(
        self, turn: Turn, before: Sequence[Turn], known: KnownNames, patterns: Patterns, find_times: FindTimes
    ) -> None:
        self.turn = turn
        self.before = before
        self.patterns = patterns
        self.findings = Findings(turn)
        self._find_times = find_times
        self.sentences = [
            ParsedSentence(sentence, {name.first: name for name in names_in(sentence, patterns, turn.text)})
            for sentence in parse_sentences(turn.text)
        ]
        roles = frozenset(other.role for other in (turn, *before))
        asked = dict.fromkeys(name.text for parsed in self.sentences for name in parsed.names.values())
        known_types = {
            mention.text: mention.type for earlier in before for mention in earlier.mentions if not mention.speaker
        }
        if asked:
            known_types.update(known(list(asked)))
        self.types = NameTypes(patterns, known_types, [role for role in roles if role])
        self.people = People(before, roles)
        self.strong = {name.text for parsed in self.sentences for name in parsed.names.values() if not name.weak}

    def timed(self, parsed: ParsedSentence, *, ahead: bool) -> Sequence[TimeHint]:
        """Return the time expressions of a sentence, in order; with `ahead`, a bare "on Friday" is the next Friday."""
        sentence = parsed.sentence
        text = self.turn.text[sentence.start : sentence.end]
        if parsed.past is None:
            parsed.past = self._find_times(text, self.turn.said_at)
            spans = [(sentence.start + hint.span[0], sentence.start + hint.span[1]) for hint in parsed.past]
            parsed.timed = frozenset(
                at
                for at, (start, end) in enumerate(zip(sentence.starts, sentence.ends, strict=True))
                if any(first < end and start < last for first, last in spans)
            )
        if not ahead or not parsed.past:
            return parsed.past
        if parsed.ahead is None:
            parsed.ahead = self._find_times(text, self.turn.said_at, tense="future")
        return parsed.ahead

    def speaker(self) -> Mention | None:
        """Return the speaker's mention, by the first word that means them, such as "my"; None: there is none."""
        if self.findings.speaker is None:
            for parsed in self.sentences:
                for at, word in enumerate(parsed.sentence.low):
                    if word in SPEAKER_WORDS:
                        return self.findings.add_speaker(*parsed.sentence.span(at, at + 1))
        return self.findings.speaker

    def meet(self, parsed: ParsedSentence) -> None:
        """Note the people whom a sentence names, so that a later pronoun may mean them."""
        for name in parsed.names.values():
            if not name.spoken_to and not name.quoted and self.types.of(name.text) == "Person":
                self.people.add(Mention(self.turn.episode_id, "Person", name.text, parsed.sentence.starts[name.first]))

    def sure_name(self, name: NameSpan) -> bool:
        """Whether a word is a name for sure, though it may only be capitalised as the first of its sentence."""
        return not name.weak or name.text in self.strong or self.types.of(name.text) is not None

    def name_mention(self, parsed: ParsedSentence, name: NameSpan, kind: str) -> Mention:
        mention = self.findings.mention(kind, *parsed.sentence.span(name.first, name.last))
        if kind == "Person":
            self.people.add(mention)
        return mention
