"""Where the clauses of a sentence have their subjects: the speaker, a name, a noun, or nobody said and yet meant."""

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.lexicon import ADVERBS, AUXILIARIES, CLAUSE_STARTS, FIRST_PERSON, GREETINGS
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.english.verbs import ONLY_PASTS, PASTS
from asof_agents.extraction.ports import Mention

_THE = frozenset({"the", "our", "this"})
_BEGINNINGS = FIRST_PERSON | _THE | {"he", "she", "me"}
_LATELY = frozenset({"currently", "finally", "just", "recently", "still"})
_FINITE = AUXILIARIES | {"me", "us", "you"}  # what a sentence has that does not leave its verb out
_ENDS = frozenset({".", "!", ";", "-", "–", "—"})
_REST_MAX = 14
_PASSED_OVER = GREETINGS | ADVERBS | {",", "!"}
_BEFORE_REQUEST = GREETINGS - {"please", "you"} | {",", "!"}


class ClauseSubjects:
    """The subjects of one sentence.

    asked: its first word that is no greeting and no name that is addressed, by which a request begins.
    opening: the first one that is no adverb either.
    """

    def __init__(self, context: TurnContext, parsed: ParsedSentence) -> None:
        self.context = context
        self.parsed = parsed
        self.low = parsed.sentence.low
        self.asked = self._after(0, _BEFORE_REQUEST)
        self.opening = self._after(self.asked, _PASSED_OVER)

    def at(self, at: int) -> Subject | None:
        """Return the subject of a clause that begins at a word; None: there is none, or it is not clear who it is."""
        low, context = self.low, self.context
        word = low[at]
        if word not in _BEGINNINGS and at != self.opening and at not in self.parsed.names and "-" not in word:
            return None  # mostly so: a comma, an "and"
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
        if begins and low[at : at + 3] == ("me", "and", "my"):
            speaker = context.speaker()
            joined = at + 4  # "me and my wife are"
            return Subject((speaker,), joined, third=False, confidence=0.9) if speaker and joined < len(low) else None
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

    def _after(self, at: int, passed_over: frozenset[str]) -> int:
        """Return the index of the first word from `at` on that is none of these, and no name that is addressed."""
        low, names = self.low, self.parsed.names
        while at < len(low):
            if at in names and names[at].spoken_to:
                at = names[at].last
            elif low[at] in passed_over:
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
        if not (past or self.low[at] in {"been", "gonna"} or self.goes_on(at)):
            return None
        speaker = self.context.speaker()
        sure = self.low[at] in ONLY_PASTS or self.low[at] == "been" or self.parsed.first_of(_LATELY) < at
        if speaker is None and sure and self.context.turn.role_type == "user":
            speaker = self.context.findings.add_speaker(*self.parsed.sentence.span(at, at + 1))
        return Subject((speaker,), at, third=False, confidence=0.8) if speaker else None

    def goes_on(self, at: int) -> bool:
        """Whether "I am" is left out: "Still learning the cello", but not "Learning the cello is fun"."""
        forms, low = self.context.patterns.forms, self.low
        if set(forms.get(low[at], ())) != {"ing"}:
            return False
        end = next((end for end in range(at + 1, min(at + _REST_MAX, len(low))) if low[end] in _ENDS), at)
        rest = low[at + 1 : end]
        return (
            end > at + 1
            and _FINITE.isdisjoint(rest)
            and not any("s" in forms.get(word, ()) or word in PASTS for word in rest)
        )
