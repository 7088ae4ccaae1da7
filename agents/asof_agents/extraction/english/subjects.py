"""Subjects of clauses: the speaker, a name, or a pronoun that can mean only one person."""

from bisect import insort
from collections.abc import Container, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from asof_agents.extraction.english.first_names import FEMALE, MALE
from asof_agents.extraction.english.lexicon import PEOPLE_NOUNS, SHE
from asof_agents.extraction.english.sentences import Sentence, parse_sentences
from asof_agents.extraction.english.work import LOOK_BACK
from asof_agents.extraction.ports import Mention, Turn

_EXCLUDED = {"he": FEMALE - MALE, "she": MALE - FEMALE}  # first names
UNTYPED = ""  # the type of a subject whose name tells no type


class Subject(NamedTuple):
    """The sources of a clause's relationships; `next` is the word at which its verb may begin."""

    mentions: tuple[Mention, ...]
    next: int
    third: bool  # its verb stands in the third person singular
    confidence: float


class People:
    """The people whom "he" or "she" may mean: those named in the turns before and in this turn so far."""

    def __init__(self, before: Sequence[Turn], roles: Container[str]) -> None:
        """Begin with nobody named in this turn; roles: casefolded names of those who speak."""
        self._before = before
        self._roles = roles
        self._here = _Named(self._roles)
        self._earlier: _Named | None = None
        self._unnamed_before: bool | None = None
        self._unnamed_here = False

    def add(self, mention: Mention) -> None:
        """Note a person whom this turn names."""
        self._here.add(mention, mention.start)

    def end_sentence(self, sentence: Sentence) -> None:
        """Note the end of a sentence: a pronoun after it may also mean a person whom it does not name."""
        self._unnamed_here = self._unnamed_here or self._here.leaves_unnamed(sentence)

    def resolve_pronoun(self, pronoun: str, at: int) -> Mention | None:
        """Return the only person, named before offset `at`, whom a pronoun can mean; None: none, or several."""
        if self._unnamed_here:
            return None
        earlier = self._of_turns_before()
        candidates: dict[str, Mention] = {}
        for mention in chain(earlier.candidates(pronoun, None), self._here.candidates(pronoun, at)):
            candidates.setdefault(mention.text.casefold(), mention)
            if len(candidates) > 1:
                return None
        if not candidates or (not self._here.any_before(at) and self._unnamed(earlier)):
            return None
        return next(iter(candidates.values()))

    def _of_turns_before(self) -> "_Named":
        if self._earlier is None:
            self._earlier = _Named(self._roles)
            for turn in self._before:
                for mention in turn.mentions:
                    if mention.type == "Person" and not mention.speaker:
                        self._earlier.add(mention, len(self._earlier))
        return self._earlier

    def _unnamed(self, earlier: "_Named") -> bool:
        if self._unnamed_before is None:
            self._unnamed_before = any(
                earlier.leaves_unnamed(sentence)
                for turn in self._before
                for sentence in parse_sentences(turn.text[-LOOK_BACK:])
            )
        return self._unnamed_before


class _Named:
    """People in the order of a text. A question takes no longer when there are many, or one of them many times."""

    def __init__(self, roles: Container[str]) -> None:
        self._roles = roles
        self._first: dict[str, int] = {}  # the first place of each text
        self._begin: int | None = None
        self._first_words: set[str] = set()
        self._by_pronoun: dict[str, list[tuple[int, Mention]]] = {"he": [], "she": []}  # whom it can mean, by place

    def __len__(self) -> int:
        return len(self._first)

    def add(self, mention: Mention, place: int) -> None:
        """Add a person named at a place; one whose text was there before it says nothing more."""
        if place >= self._first.get(mention.text, place + 1):
            return
        self._first[mention.text] = place
        self._begin = place if self._begin is None else min(self._begin, place)
        folded = mention.text.casefold()
        first_word = folded.split()[0]
        self._first_words.add(first_word)
        for pronoun, excluded in _EXCLUDED.items():
            if folded not in self._roles and first_word not in excluded:
                insort(self._by_pronoun[pronoun], (place, mention), key=itemgetter(0))

    def any_before(self, place: int) -> bool:
        """Whether anybody is named before a place."""
        return self._begin is not None and self._begin < place

    def candidates(self, pronoun: str, before: int | None) -> Iterator[Mention]:
        """Yield those whom a pronoun can mean, by their places; `before`: only those named before that place."""
        for place, mention in self._by_pronoun["she" if pronoun in SHE else "he"]:
            if before is not None and place >= before:
                return
            yield mention

    def leaves_unnamed(self, sentence: Sentence) -> bool:
        """Whether a sentence has a noun for a person and names none of them."""
        return not PEOPLE_NOUNS.isdisjoint(sentence.low) and self._first_words.isdisjoint(sentence.low)
