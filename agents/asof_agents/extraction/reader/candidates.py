"""Candidates: the clauses of a statement whose subject is the speaker, someone or something of theirs, or a name.

Rules find them and ask for no weight; the head says which of them are worth keeping. Left out are questions,
conditions, quotations, what is only hoped or could be, what is told of whoever listens ("you"), and what speaks of
something that it does not name ("I took it there").
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    GREETINGS,
    ORNAMENTS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
)
from asof_agents.extraction.english.verbs import LEMMAS, PASTS, forms

SubjectKind = Literal["speaker", "own", "name", "person", "thing", "it", "left out"]

_DASHES: Final = frozenset({";", "-", "–", "—"})
_ASKING: Final = AUXILIARIES | frozenset("what who where when why how which whose any got want ready".split())
_QUOTES: Final = frozenset({'"', "“", "”"})
_ENDS: Final = _DASHES | _QUOTES | {".", "!", "?", ":", "(", ")", "...", "…"}
_PRONOUNS: Final[dict[str, SubjectKind]] = {
    "i": "speaker",
    "we": "speaker",
    "he": "person",
    "she": "person",
    "it": "it",
    "they": "it",
}
_THEIRS: Final[dict[str, SubjectKind]] = {"his": "person", "her": "person", "its": "it", "their": "it"}
_SOME: Final = frozenset("all both half many most none one several some two three".split())
_NO_NOUNS: Final = frozenset({"i", "we", "you", "that"})  # "the place that we found" is cut nowhere
_IF: Final = frozenset({"if", "unless", "whether"})
_TURNS: Final = _IF | frozenset(
    "because 'cause cause cuz but so since although though while when whenever where which who whose until before "
    "after as than what how why".split()
)
_STOPS: Final = frozenset("because 'cause cuz but although though which who unless if while".split())
_STOPS_BEFORE_SUBJECT: Final = frozenset({"when", "since", "where", "until", "before", "after", "as"})
_SUBJECTS: Final = frozenset("i we he she they it you that this there".split())
_OPENINGS: Final = GREETINGS - {"you"} | ADVERBS | {",", "!", "and", "but", "so", "then", "because", "plus", "anyway"}
_THINKING: Final = frozenset(  # and the like: what goes on with "that" and a statement
    "say says said tell told know knew learned heard mean decided realized realised noticed out is was me you him her "
    "us them glad happy proud sad sorry excited thankful grateful lucky so such now fact".split()
)
_INNER: Final = frozenset("as what how why where whatever than which who like".split())  # "what I believe in"
_YOU: Final = frozenset({"you", "your", "yours", "yourself", "ya", "u"})
_POINTS: Final = frozenset({"it", "them", "they", "one", "ones", "him", "there", "here", "its", "their", "itself"})
_OF_THEM: Final = frozenset({"its", "their"})  # of the subject, where that is a third person
_OF_SOMEONE: Final = frozenset({"his", "her", "he", "she"})
_THIS: Final = frozenset({"this", "that", "these", "those", "her"})
_OPEN_ENDS: Final = frozenset(
    "a about an and at called every few for from into more my named of or our the to with".split()
)  # "fun with"
_QUOTED_MAX: Final = 10  # words of a title
_UNSURE: Final = frozenset("could should may might must would".split())
_LOVE: Final = frozenset({"love", "like"})  # "would love to" is a wish
_MAYBE: Final = frozenset("hopefully maybe perhaps probably wish imagine".split())
_MAYBE_BEFORE: Final = 3  # words before a clause
_EMPTY: Final = FUNCTION_WORDS | ORNAMENTS | VAGUE
_COMPLETE: Final = frozenset("graduated retired divorced married engaged died eloped moved pregnant quit".split())
_OBJECTS: Final = DETERMINERS | PREPOSITIONS | {"it", "them", "him", "her", "his", "their", "this", "that", "one", "me"}
_OFTEN: Final = frozenset("every daily weekly mornings evenings weekends day now again usually".split())
_NO_PASTS: Final = frozenset({"need", "feed", "speed", "proceed", "succeed", "indeed", "bed", "red"})
_FINITE: Final = frozenset(  # after a gerund they make it a subject: "Painting helps me"
    "is was 's can has are will were would sounds looks seems motivates means helps feels brings keeps inspires "
    "reminds".split()
)
_BE_HAVE: Final = frozenset("am is was were have had will has 've".split())
_MOVED: Final = frozenset({"me", "us", "my", "our", "people"})
_NO_OPENINGS: Final = frozenset(  # of a clause without its subject: "Glad to hear it", "Let me know"
    "let thank thanks keep glad sounds looks hope hoping sorry congrats love loved wish good great take tell check "
    "remember imagine seems look see stay try have need said do did nothing something everything anything "
    "during".split()
)
_TAILS: Final = frozenset({",", "and", "so", "haha", "lol", "tho", "though", "btw", "'", "’"})  # that end no clause
_JOINED_MAX: Final = 8  # clauses of one subject
_OPENINGS_MAX: Final = 16  # words before a clause without its subject
_NOUN_PHRASE_MAX: Final = 7  # words between "my" and its verb
_RELATIVE_MAX: Final = 14
_BARE_MAX: Final = 4
_WORDS_MAX: Final = 24
_APOSTROPHES: Final = frozenset({"'", "’", "‘"})
_TOLD_MIN: Final = 4  # words from the verb on: "hurt my back at work"
_GERUND_MIN: Final = 5  # letters

_THIRD: Final = frozenset(
    {word for lemma in LEMMAS for word, kinds in forms(lemma).items() if "s" in kinds}
    | set("loves likes hates works does goes gets makes takes wants needs says seems means".split())
)
_GERUNDS: Final = frozenset(word for lemma in LEMMAS for word, kinds in forms(lemma).items() if "ing" in kinds)


class ClauseCandidate(NamedTuple):
    """A clause: the words [first, last) of a sentence.

    subject_last: the word after its subject; `first`, where that is left out or shared. verb: the first word of its
    verb group. before: the clause whose subject it shares.
    """

    first: int
    last: int
    subject: SubjectKind
    subject_last: int
    verb: int
    before: "ClauseCandidate | None" = None

    @property
    def begins(self) -> int:
        """The first word of the clause that has its subject."""
        return self.before.begins if self.before else self.first


def candidates(context: TurnContext, parsed: ParsedSentence) -> list[ClauseCandidate]:
    """Return the candidates of a sentence, in order."""
    asks = _asks(parsed)
    if not asks:
        return []
    context.timed(parsed, ahead=False)
    clauses = _Clauses(context, parsed)
    return [each for each in clauses.all() if each.last <= asks and clauses.stands_alone(each)]


def _asks(parsed: ParsedSentence) -> int:
    """Return the word from which on a sentence asks: in "I baked a cake - want a piece?" the one after the dash."""
    low = parsed.sentence.low
    if not parsed.sentence.question:
        return len(low)
    if low[0] in _ASKING:
        return 0
    return next((at for at in reversed(range(len(low))) if low[at] in _DASHES), 0)


def is_past(word: str) -> bool:
    """Whether a word looks like a verb in the past."""
    return word in PASTS or (word.endswith("ed") and word not in _NO_PASTS)


class _Clauses:
    def __init__(self, context: TurnContext, parsed: ParsedSentence) -> None:
        self.context = context
        self.bases = context.patterns.forms
        self.parsed = parsed
        self.low = parsed.sentence.low

    def all(self) -> Iterator[ClauseCandidate]:
        """Yield the clauses from left to right, each with those that share its subject."""
        low, at, quoted = self.low, 0, False
        while at < len(low):
            quoted ^= low[at] in _QUOTES
            if low[at] in _IF:
                at = next((n for n in range(at, len(low)) if low[n] in _DASHES), len(low))
                continue
            found = None if quoted else self._clause(at)
            at += 1
            for _ in range(_JOINED_MAX):
                if found is None:
                    break
                yield found
                at = max(found.last, at)
                found = self._joined(found)

    def stands_alone(self, found: ClauseCandidate) -> bool:
        """Whether a clause tells something by itself: not "I took it there", not "when we met up"."""
        low, verb = self.low, found.verb
        words = low[found.first : found.last]
        if words[-1] in _OPEN_ENDS:
            return False
        points = _POINTS - _OF_THEM if found.subject in {"own", "name", "person", "thing", "it"} else _POINTS
        if not _YOU.isdisjoint(words) or not points.isdisjoint(low[verb + 1 : found.last]):
            return False
        if found.subject not in {"own", "name", "person"} and self._unnamed(found):
            return False
        following = (*low[1 : found.last], "of")
        if any(
            low[at] in _THIS and following[at] in FUNCTION_WORDS and not self._leads_on(at, verb)
            for at in range(verb + 1, found.last)
        ):
            return False
        wishes = low[verb] == "would" and not _LOVE.isdisjoint(low[verb + 1 : verb + 3])
        maybe = not _MAYBE.isdisjoint(low[max(0, found.first - _MAYBE_BEFORE) : verb]) or "sorry" in words
        maybe = maybe or low[verb + 1 : verb + 3] == ("off", "to")
        if maybe or (low[verb] in _UNSURE and not wishes):
            return False
        of_speaker = found.subject in {"speaker", "left out"}
        told_of = range(verb if of_speaker or found.before else found.first, found.last)
        content = [at for at in told_of if at not in self.parsed.timed and low[at] not in _EMPTY]
        told = bool(content) and (len(content) > 1 or content[0] > verb or low[verb] in AUXILIARIES)
        untimed = sum(at not in self.parsed.timed for at in range(verb, found.last))
        return told or not _COMPLETE.isdisjoint(words) or (bool(content) and untimed >= _TOLD_MIN)

    def _leads_on(self, at: int, verb: int) -> bool:
        """Whether a word goes on with what is said of the noun before it: "a solo that is eight counts long"."""
        return self.low[at] == "that" and at > verb + 2 and self.low[at - 1] not in _EMPTY

    def _unnamed(self, found: ClauseCandidate) -> bool:
        """Whether a clause has "his" or "her" of nobody whom it names: "I'm his agent"."""
        low = self.low
        at = next((n for n in range(found.verb + 1, found.last) if low[n] in _OF_SOMEONE), found.first)
        return not any(n in self.parsed.names or low[n] in PEOPLE_NOUNS for n in range(found.first, at)) and (
            at > found.first
        )

    def _clause(self, at: int) -> ClauseCandidate | None:
        """Return the clause that begins at a word; None: there is none, or it is not clear whose it is."""
        low, names = self.low, self.parsed.names
        word = low[at]
        if not self._may_begin(at):
            return None
        if word in _PRONOUNS:
            return self._of(at, at + 1, _PRONOUNS[word], self._after_adverbs(at + 1))
        if word in {"my", "our"} or word in _THEIRS:
            return self._with_noun(at, at + 1, _THEIRS.get(word, "own"))
        if word in _SOME and low[at + 1 : at + 2] == ("of",) and low[at + 2 : at + 3] in {("my",), ("our",), ("the",)}:
            return self._with_noun(at, at + 3, "thing" if low[at + 2] == "the" else "own")
        if word == "there" and low[at + 1 : at + 2] in {("'s",), ("is",), ("are",)}:
            return self._of(at, at + 1, "thing", at + 1) if low[at + 2 : at + 3] != ("no",) else None
        if low[at : at + 3] == ("me", "and", "my"):
            return self._with_noun(at, at + 3, "speaker")
        if at in names:
            name = names[at]
            if name.weak and not self._is_known(name.text):
                return self._without_subject(at) or self._bare(at, past=True)
            return None if name.spoken_to else self._with_noun(at, name.last, "name")
        if word in {"the", "this", "a", "an"}:
            return self._with_noun(at, at + 1, "thing")
        return self._without_subject(at)

    def _may_begin(self, at: int) -> bool:
        """Whether a clause may begin at a word: not at the "we" of "the trip we took"."""
        if at == 0:
            return True
        before = self.low[at - 1]
        begins = before in _ENDS or before in _TURNS or before in CONJUNCTIONS or before in _OPENINGS
        if before == "you" and self.low[at] == "i" and at > 1 and self.low[at - 2] in {"tell", "told", "remember"}:
            return True
        relative = before == "that" and at > 1 and self.low[at - 2] not in _THINKING  # "things that we will do"
        return (begins or at - 1 in self.parsed.timed) and before not in _INNER and not relative

    def _is_known(self, name: str) -> bool:
        """Whether a word that has its capital from its place alone is a name all the same."""
        context = self.context
        return name in context.strong or name.casefold() in FIRST_NAMES or context.types.of(name) is not None

    def _with_noun(self, at: int, after: int, kind: SubjectKind) -> ClauseCandidate | None:
        verb = self._verb_after(after)
        return self._of(at, verb, kind, verb) if verb is not None else None

    def _of(self, first: int, subject_last: int, kind: SubjectKind, verb: int) -> ClauseCandidate | None:
        low = self.low
        if verb >= len(low) or not (low[verb][0].isalpha() or low[verb][0] == "'"):
            return None
        return ClauseCandidate(first, self._end(verb + 1), kind, subject_last, verb)

    def _without_subject(self, at: int) -> ClauseCandidate | None:
        """Return a clause without "I": "Got my own apartment", "Still learning the cello"; or without "the"."""
        low = self.low
        if at and low[at - 1] not in _ENDS and not (at < _OPENINGS_MAX and _OPENINGS.issuperset(low[:at])):
            return None
        verb = self._after_adverbs(at)
        if verb + 1 >= len(low) or low[verb] in _NO_OPENINGS or not low[verb + 1][0].isalnum():
            return self._bare(at)
        word, name = low[verb], self.parsed.names.get(verb)
        if name and not (name.weak and word in PASTS):
            return None
        rest = low[verb : next((n for n in range(verb, len(low)) if low[n] in _ENDS), len(low))]
        past = is_past(word) and word not in {"was", "were"}
        often = word in LEMMAS and not _OFTEN.isdisjoint(rest)
        if past or often or word in {"been", "gonna"} or (_is_gerund(word) and self._goes_on(verb, rest)):
            return self._of(at, at, "left out", verb)
        return self._bare(at)

    def _goes_on(self, verb: int, rest: tuple[str, ...]) -> bool:
        """Whether a gerund has "I am" left out: not "Painting helps me", not "Taking them in - you're so kind"."""
        finite = any(word in _FINITE or word in _THIRD or word in PASTS for word in rest[1:])
        moves = any(word.endswith("s") and after in _MOVED for word, after in pairwise(rest))  # "Music calms me"
        return not (finite or moves) and _YOU.isdisjoint(self.low[verb:])

    def _bare(self, at: int, *, past: bool = False) -> ClauseCandidate | None:
        """Return a clause whose subject has no determiner: "deadline is 15 November", "nephew's coming friday".

        past: its subject may be a name, and its verb may stand in the past: "Keisha sewed the curtains".
        """
        low = self.low
        if low[at] in FUNCTION_WORDS or not low[at][0].isalpha() or is_past(low[at]) or low[at].endswith("ing"):
            return None
        for verb in range(at + 1, min(at + _BARE_MAX, len(low))):
            word = low[verb]
            if word in _BE_HAVE or word == "are" or word in _THIRD or (word == "'s" and self._is_verb(verb)):
                return self._of(at, verb, "thing", verb)
            if past and is_past(word) and not low[verb - 1].endswith("s"):
                return self._of(at, verb, "thing", verb)
            if not word[0].isalpha() or word in PREPOSITIONS or word in CONJUNCTIONS or word in PRONOUNS:
                return None
        return None

    def _verb_after(self, at: int) -> int | None:
        """Return the first word of the verb group that follows a noun phrase whose rest begins at a word."""
        low, most, verb = self.low, at + _NOUN_PHRASE_MAX, at
        while verb < min(most, len(low)):
            word = low[verb]
            if word == "," and low[verb + 1 : verb + 2] in {("who",), ("which",)}:  # "My uncle, who raised me, died"
                closing = (n for n in range(verb + 2, min(verb + _RELATIVE_MAX, len(low))) if low[n] == ",")
                verb = next(closing, len(low)) + 1
                most = verb + 3
                continue
            named = verb in self.parsed.names_by_end or verb + 1 in self.parsed.names  # "My sister, Ana, works"
            if word in _ENDS or word in _TURNS or word in _NO_NOUNS or (word == "," and not named):
                return None
            if self._is_verb_of_noun(verb, at):
                return verb
            verb += 1
        return None

    def _is_verb_of_noun(self, at: int, first: int) -> bool:
        """Whether a word is the verb of the noun phrase before it, whose second word is `first`."""
        low, word = self.low, self.low[at]
        if word == "'s":
            return self._is_verb(at)
        if word in AUXILIARIES or word in {"'ve", "have", "has", "had"}:
            return True
        if (at == first and at not in self.parsed.names_by_end) or word in {"called", "named"}:
            return False
        third = word in _THIRD or (word.endswith("s") and low[at - 1] in PEOPLE_NOUNS)  # "my sister fixes clocks"
        if (is_past(word) or third) and low[at - 1] not in DETERMINERS:
            return at + 1 < len(low) or word in PASTS
        return low[at - 1].endswith("s") and self._is_base(word)

    def _is_verb(self, at: int) -> bool:
        """Whether "'s" is a verb: "my sister's a nurse", "Ana's moving"."""
        following = self.low[at + 1] if at + 1 < len(self.low) else ""
        return (
            following in DETERMINERS
            or following in ADVERBS
            or following in PREPOSITIONS
            or following in {"been", "not", "going", "gonna", "got"}
            or following.endswith("ing")
            or (is_past(following) and self.low[at + 2 : at + 3] != () and self.low[at + 2] in _OBJECTS)
        )

    def _is_base(self, word: str) -> bool:
        return word in LEMMAS or "base" in self.bases.get(word, ())

    def _after_adverbs(self, at: int) -> int:
        while at < len(self.low) and (self.low[at] in ADVERBS or self.low[at] in {"both", "all", "also", "too"}):
            at += 1
        return at

    def _joined(self, before: ClauseCandidate) -> ClauseCandidate | None:
        """Return the clause that shares the subject of the one before: "... and started pottery"."""
        low, at = self.low, before.last
        while at < len(low) and low[at] in {",", "and", "then", "but", "&", "also", "plus"}:
            at += 1
        verb = self._after_adverbs(at)
        if at == before.last or verb >= len(low) or verb in self.parsed.names or not self._goes_with(verb, before):
            return None
        return ClauseCandidate(at, self._end(verb + 1), before.subject, at, verb, before)

    def _goes_with(self, at: int, before: ClauseCandidate) -> bool:
        """Whether a verb may have the subject of the clause before."""
        word, following = self.low[at], self.low[at + 1 : at + 2]
        if word in _SUBJECTS:
            return False
        if word in _BE_HAVE or word == "been" or is_past(word):
            return True
        if word in _THIRD:
            return before.subject not in {"speaker", "left out"}
        if _is_gerund(word):
            return any(each.endswith("ing") for each in self.low[before.verb : before.verb + 4])
        alike = before.subject in {"speaker", "left out"} or self._is_base(
            self.low[before.verb]
        )  # "They bake and sell"
        return alike and self._is_base(word) and following != () and following[0] in _OBJECTS

    def _end(self, at: int) -> int:
        """Return the end of the clause whose verb group begins before a word."""
        low, first = self.low, at
        goes_on = any(word in _GERUNDS for word in low[max(0, at - 1) : at + 2])
        while at < len(low) and at - first < _WORDS_MAX:
            word, following = low[at], low[at + 1] if at + 1 < len(low) else ""
            if word in _QUOTES:  # a title: "a piece called ..."
                closing = (n + 1 for n in range(at + 1, min(at + _QUOTED_MAX, len(low))) if low[n] in _QUOTES)
                at = next(closing, at)
                if at >= len(low) or low[at] in _QUOTES:
                    break
                continue
            stops = word in _STOPS or (word == "cause" and low[at - 1] in _APOSTROPHES)
            stops = stops and not (word == "while" and low[at - 1] == "a")  # "for a while" goes on
            if word in _ENDS or stops or word == "i" or (word == "we" and at > first):
                break
            if word == "so" and (following in _SUBJECTS or following == "my" or low[at - 1] == ","):
                break
            if word in _STOPS_BEFORE_SUBJECT and (following in _SUBJECTS or following == "my"):
                break
            if word in {",", "and", "&", "then"} and self._begins_after(at, joined=word != ",", goes_on=goes_on):
                break
            at += 1
        while at > first and (low[at - 1] in _TAILS or low[at - 3 : at] == ("by", "the", "way")):
            at -= 3 if low[at - 1] == "way" else 1
        return max(at, first)

    def _begins_after(self, at: int, *, joined: bool, goes_on: bool) -> bool:
        """Whether another clause begins after a comma or "and" (then it is joined)."""
        low, begins, at = self.low, at, at + 1
        while at < len(low) and (low[at] in {"and", ",", "then", "also", "so"} or low[at] in ADVERBS):
            at += 1
        if at >= len(low):
            return True
        if joined and begins and low[begins - 1] in {"try", "come"}:  # "to try and bring in customers"
            return False
        word = low[at]
        if word in _SUBJECTS or word in _TURNS or word in _ENDS:
            return True
        if word in {"my", "our", "the", "this", "a", "an"} or word in _THEIRS or at in self.parsed.names:
            name = self.parsed.names.get(at)
            return self._verb_after(name.last if name else at + 1) is not None
        if is_past(word) or word in _BE_HAVE or (goes_on and word in _GERUNDS):
            return True
        if _is_gerund(word) and not joined:
            return True
        return joined and word in LEMMAS and low[at + 1 : at + 2] != () and low[at + 1] in _OBJECTS


def _is_gerund(word: str) -> bool:
    return word in _GERUNDS or (word.endswith("ing") and len(word) > _GERUND_MIN)
