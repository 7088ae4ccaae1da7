"""Whom or what a pronoun at the beginning of a clause means ("she", "it", "her ..."), by the words of its message.

A person is meant where the message speaks of one alone whom the pronoun fits; a thing, where the clause just before
has it as its subject or its object. Otherwise it is not clear.
"""

from typing import Final, NamedTuple

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.first_names import FEMALE, MALE
from asof_agents.extraction.english.lexicon import DETERMINERS, PEOPLE_NOUNS, PREPOSITIONS
from asof_agents.extraction.reader.candidates import ClauseCandidate
from asof_agents.extraction.reader.third_person import ThirdPerson, phrase

_HE: Final = frozenset(
    "boy boyfriend brother dad father fiancé grandfather grandpa grandson guy husband man".split()
) | {
    "nephew",
    "son",
    "uncle",
}
_SHE: Final = frozenset(
    "aunt daughter fiancée girl girlfriend grandma granddaughter grandmother lady mom mother mum niece sister wife "
    "woman".split()
)
_MORE: Final = frozenset("grandson granddaughter hamster horse kitten parrot rabbit toddler".split())
_MANY: Final = frozenset("children family friends grandparents kids parents people siblings team twins".split())
_PERSONS: Final = PEOPLE_NOUNS | _MORE
_ANY: Final = DETERMINERS | {"her", "his", "their", "this", "that", "two", "three", "four", "five", "these", "those"}
_NO_PLURAL: Final = ("ss", "us", "is")
_NOUNS_MAX: Final = 4  # words from "my" to the noun


class _Meant(NamedTuple):
    words: str
    plural: bool


class Antecedents:
    """What the clauses of a turn have named so far."""

    def __init__(self, context: TurnContext, speaker: ThirdPerson | None) -> None:
        self._context = context
        self._speaker = speaker
        self._people: dict[str, str] = {}  # the pronoun that fits ("": any), by the words
        self._thing: _Meant | None = None  # of the clause before

    def meant(self, parsed: ParsedSentence, found: ClauseCandidate) -> str | None:
        """Return the words for the pronoun with which a clause begins; None: it is not clear who or what is meant."""
        word = parsed.sentence.low[found.begins]
        if word in {"he", "she", "his", "her"}:
            self._note_people(parsed, found.begins)
            return self._person("he" if word in {"he", "his"} else "she", parsed.sentence.starts[found.begins])
        thing = self._thing
        plural = word in {"they", "their"}
        return thing.words if thing is not None and thing.plural == plural else None

    def _person(self, pronoun: str, at: int) -> str | None:
        fitting = [words for words, fits in self._people.items() if fits in {pronoun, ""}]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
        named = self._context.people.resolve_pronoun(pronoun, at)
        return named.text if named else None

    def end_sentence(self, parsed: ParsedSentence, found: list[ClauseCandidate]) -> None:
        """Note the people of a sentence, and what its last clause is about."""
        self._note_people(parsed, len(parsed.sentence.low))
        self._thing = None
        if found:
            self.note(parsed, found[-1])

    def note(self, parsed: ParsedSentence, found: ClauseCandidate) -> None:
        """Note what a clause is about: its subject, if that is a thing, otherwise its object."""
        low = parsed.sentence.low
        if found.before is None and found.subject in {"own", "thing"} and low[found.first] != "there":
            self._thing = self._noun(parsed, found.first, found.subject_last)
        elif found.subject != "it":
            self._thing = self._object(parsed, found)

    def _object(self, parsed: ParsedSentence, found: ClauseCandidate) -> _Meant | None:
        low = parsed.sentence.low
        for at in range(found.verb + 1, found.last):
            if low[at] in _ANY:
                return self._noun(parsed, at, found.last)
            if low[at] in PREPOSITIONS:
                return None
        return None

    def _noun(self, parsed: ParsedSentence, first: int, last: int) -> _Meant | None:
        low = parsed.sentence.low
        begins = first + (low[first] in _ANY)
        found = parsed.phrase_at(begins) if begins < len(low) else None
        if found is None or found.vague:
            return None
        last = min(found.last, last)
        words = phrase(parsed, found.first, last, self._speaker)
        head = low[last - 1]
        plural = head in _MANY or (head.endswith("s") and not head.endswith(_NO_PLURAL))
        return _Meant(f"{self._led(low[first])} {words}", plural) if not found.name else _Meant(words, plural=False)

    def _led(self, word: str) -> str:
        """Return the words that lead in to a thing that was named before."""
        if word in {"my", "our"}:
            return self._speaker.of if self._speaker else word
        return "the"

    def _note_people(self, parsed: ParsedSentence, before: int) -> None:
        """Note the people that the words before one speak of."""
        low = parsed.sentence.low[:before]
        for name in parsed.names.values():
            if (
                name.first < before
                and not name.spoken_to
                and not name.quoted
                and self._context.types.of(name.text) == "Person"
            ):
                first = name.text.casefold().split()[0]
                fits = "he" if first in MALE - FEMALE else "she" if first in FEMALE - MALE else ""
                self._people.setdefault(name.text, fits)
        for at, word in enumerate(low):
            if word not in {"my", "our", "a"}:
                continue
            for end in range(at + 1, min(at + 1 + _NOUNS_MAX, len(low))):
                if low[end] in _PERSONS and low[end + 1 : end + 2] != ("'s",):
                    if end + 1 not in parsed.names:  # "my sister Ana" is Ana
                        words = phrase(parsed, at + 1, end + 1, self._speaker)
                        fits = "he" if low[end] in _HE else "she" if low[end] in _SHE else ""
                        self._people.setdefault(f"{self._led(word)} {words}", fits)
                    break
                if not low[end][0].isalpha() or low[end] in PREPOSITIONS:
                    break
