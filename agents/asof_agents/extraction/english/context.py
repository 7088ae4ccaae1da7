"""Everything the rules need to know while they read one turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from asof_agents.extraction.english.findings import Found
from asof_agents.extraction.english.lexicon import SPEAKER_WORDS
from asof_agents.extraction.english.name_spans import Name, Types, names_in
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.sentences import Sentence, read
from asof_agents.extraction.english.subjects import People
from asof_agents.extraction.ports import KnownNames, Mention, TimeHint, Turn


class FindTimes(Protocol):
    """dates.find_times: the time expressions of a text; tense decides a bare "on Friday"."""

    def __call__(
        self, text: str, reference: int, *, tense: Literal["past", "future"] = "past"
    ) -> Sequence[TimeHint]: ...


@dataclass(slots=True)
class Line:
    """One sentence with its names and, once asked for, its times."""

    sentence: Sentence
    names: dict[int, Name]
    past: Sequence[TimeHint] | None = None
    ahead: Sequence[TimeHint] | None = None
    timed: frozenset[int] = field(default_factory=frozenset)  # the words of the time expressions


class Context:
    """One turn while it is read."""

    def __init__(
        self, turn: Turn, before: Sequence[Turn], known: KnownNames, patterns: Patterns, find_times: FindTimes
    ) -> None:
        self.turn = turn
        self.before = before
        self.patterns = patterns
        self.found = Found(turn)
        self._find_times = find_times
        self.lines = [
            Line(sentence, {name.first: name for name in names_in(sentence, patterns, turn.text)})
            for sentence in read(turn.text)
        ]
        roles = frozenset(other.role for other in (turn, *before))
        asked = dict.fromkeys(name.text for line in self.lines for name in line.names.values())
        known_types = {
            mention.text: mention.type for earlier in before for mention in earlier.mentions if not mention.speaker
        }
        if asked:
            known_types.update(known(list(asked)))
        self.types = Types(patterns, known_types, [role for role in roles if role])
        self.people = People(before, roles)
        self.strong = {name.text for line in self.lines for name in line.names.values() if not name.weak}

    def timed(self, line: Line, *, ahead: bool) -> Sequence[TimeHint]:
        """The time expressions of a sentence, found once; `ahead` reads a bare "on Friday" as the next one."""
        sentence = line.sentence
        text = self.turn.text[sentence.start : sentence.end]
        if line.past is None:
            line.past = self._find_times(text, self.turn.said_at)
            spans = [(sentence.start + hint.span[0], sentence.start + hint.span[1]) for hint in line.past]
            line.timed = frozenset(
                at
                for at, (start, end) in enumerate(zip(sentence.starts, sentence.ends, strict=True))
                if any(first < end and start < last for first, last in spans)
            )
        if not ahead or not line.past:
            return line.past
        if line.ahead is None:
            line.ahead = self._find_times(text, self.turn.said_at, tense="future")
        return line.ahead

    def speaker(self) -> Mention | None:
        """The speaker, by the first word of the turn that means them; None where there is no such word."""
        if self.found.speaker is None:
            for line in self.lines:
                for at, word in enumerate(line.sentence.low):
                    if word in SPEAKER_WORDS:
                        return self.found.add_speaker(*line.sentence.span(at, at + 1))
        return self.found.speaker

    def meet(self, line: Line) -> None:
        """Remember whom a sentence names, so that a pronoun after it may mean them."""
        for name in line.names.values():
            if not name.spoken_to and not name.quoted and self.types.of(name.text) == "Person":
                self.people.named(Mention(self.turn.episode_id, "Person", name.text, line.sentence.starts[name.first]))

    def sure_name(self, name: Name) -> bool:
        """Whether a name is one even at the start of a sentence."""
        return not name.weak or name.text in self.strong or self.types.of(name.text) is not None

    def name_mention(self, line: Line, name: Name, kind: str) -> Mention:
        mention = self.found.mention(kind, *line.sentence.span(name.first, name.last))
        if kind == "Person":
            self.people.named(mention)
        return mention
