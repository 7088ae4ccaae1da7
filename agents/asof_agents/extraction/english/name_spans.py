"""The names in a sentence, found by their capitals or quotes, and their entity types."""

from collections.abc import Container, Mapping, Sequence
from itertools import compress
from operator import and_, not_
from typing import NamedTuple

from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.extraction.english.lexicon import DETERMINERS, GREETINGS, NOT_NAMES, PREPOSITIONS
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.sentences import Sentence

_INSIDE = frozenset("of the de van von der la le du del & for".split())  # "Lord of the Rings"
_PLACE_PREPOSITIONS = frozenset({"in", "near"})
_OPENING = frozenset({'"', "“"})
_CLOSING = frozenset({'"', "”"})
_TITLE_MAX = 9
_QUOTES = frozenset("\"“”'")
_HOUSES = frozenset(
    "academy bakery bar cafe cathedral church clinic college diner gym hospital hotel institute inn kitchen market "
    "museum pharmacy pub restaurant school theatre theater university".split()
)
_MARKS = frozenset({",", ".", "!", "?", "'", "’", "'s", "’s", "n't", "n’t", "'m", "’m", "'re", "’re", "-"})
_SAINTS = frozenset({"st", "mt"})  # "St. Louis", "Mt. Etna"
_AFTER_PLACE = frozenset({"at", "from", "in", "near", "to"})
_OF_PEOPLE = frozenset({"Kinship", "Position", "Profession"})  # their words say what somebody is: "a brother named Tom"


class NameSpan(NamedTuple):
    """A name in a sentence: the words [first, last)."""

    text: str
    first: int
    last: int
    weak: bool = False  # the first word of a sentence: its capital may mean nothing
    spoken_to: bool = False  # "Thanks, Ana!"
    quoted: bool = False  # a title, whose words do not tell its type


def names_in(sentence: Sentence, patterns: Patterns, text: str) -> list[NameSpan]:
    """Return the names of a sentence, in order."""
    found = []
    after, count = 0, len(sentence.raw)
    plain = map(and_, map(str.islower, sentence.raw), map(str.isalpha, sentence.raw))  # most words: so without a loop
    others = [at for at in compress(range(count), map(not_, plain)) if sentence.raw[at] not in _MARKS]
    for at in others:
        if at < after:
            continue
        opens = sentence.raw[at] in _OPENING
        quoted = _quoted(sentence, at, any_word=at == 0 and bool(patterns.defining)) if opens else None
        if quoted:
            start, end = sentence.span(at + 1, quoted)
            found.append(NameSpan(text[start:end], at + 1, quoted, quoted=True))
            after = quoted + 1
            continue
        if not _capital(sentence, at) or (at == 0 and sentence.low[0] in patterns.forms):
            continue
        last = at + 1
        if sentence.low[at] in _SAINTS and sentence.raw[last : at + 2] == (".",) and last + 1 < count:
            last += 2 * _capital(sentence, last + 1)
        while last < count:
            if _capital(sentence, last) or (sentence.raw[last].isdigit() and len(sentence.raw[last]) < 4):
                last += 1
                continue
            inside = last
            while inside < count and inside - last < 2 and sentence.low[inside] in _INSIDE:
                inside += 1
            if inside == last or inside >= count or not _capital(sentence, inside):
                break
            last = inside + 1
        if at == 0 and last == 1 and sentence.low[0].endswith(("ing", "ly")):  # "Networking plays a role"
            continue
        if at == 0 and last == 1 and _opens_with_verb(sentence):
            continue
        last += _ends_with_s(sentence, at, last)
        last += 2 * _is_house(sentence, last)
        start, end = sentence.span(at, last)
        weak = last - at == 1 and (at == 0 or sentence.raw[at - 1] in _QUOTES) and not sentence.raw[at][1:].isupper()
        found.append(NameSpan(text[start:end], at, last, weak, _spoken_to(sentence, at, last)))
        after = last
    return found


def _ends_with_s(sentence: Sentence, first: int, last: int) -> bool:
    """Whether the "'s" after a name is its end, for it is a place and nothing follows: "I work at Wendy's"."""
    low = sentence.low
    place = low[first] in _SAINTS or (first > 0 and low[first - 1] in _AFTER_PLACE)
    if low[last : last + 1] != ("'s",) or not place:
        return False
    return last + 1 == len(low) or not low[last + 1][0].isalnum() or low[last + 1] in PREPOSITIONS


def _is_house(sentence: Sentence, last: int) -> bool:
    """Whether the name goes on with its "'s" and a noun: "King's College", "St. Mary's Hospital"."""
    behind = sentence.low[last : last + 2]
    return behind[:1] == ("'s",) and behind[-1] in _HOUSES and sentence.raw[last + 1][0].isupper()


def may_be_person(text: str) -> bool:
    """Whether a name without a known type can be a person's: "QA" and "HR" are none."""
    return len(text) == 1 or not text.isupper() or text.casefold().split()[0] in FIRST_NAMES


def _opens_with_verb(sentence: Sentence) -> bool:
    """Whether the sentence begins with a past verb, without a subject: "Dyed my hair"."""
    word, following = sentence.low[0], sentence.low[1:2]
    return word.endswith("ed") and word not in FIRST_NAMES and not DETERMINERS.isdisjoint(following)


def _quoted(sentence: Sentence, at: int, *, any_word: bool) -> int | None:
    """Return the end of a title in double quotes that opens at `at`; `any_word`: it may begin in lower case."""
    raw = sentence.raw
    if at + 1 >= len(raw):
        return None
    if not (any_word or raw[at + 1][:1].isupper() or raw[at + 1].isdigit()):
        return None
    for end in range(at + 2, min(at + _TITLE_MAX, len(raw))):
        if raw[end] in _CLOSING:
            return end - (raw[end - 1] in {",", "."})
        if raw[end] in {"!", "?"}:
            return None
    return None


def _capital(sentence: Sentence, at: int) -> bool:
    raw = sentence.raw[at]
    if not raw[0].isupper():
        return (
            (len(raw) > 3 and raw[0].islower() and raw[1].isupper() and raw.isalpha())  # "iPhone"
            or "_" in raw
            or ("/" in raw and raw[-1].isalnum())
            or (raw[0].islower() and "." in raw and raw[-1].isalpha())
        )
    return sentence.low[at] not in NOT_NAMES


def _spoken_to(sentence: Sentence, first: int, last: int) -> bool:
    """Whether the name is addressed: after a greeting, or set off by a comma at an end of the sentence."""
    low, count = sentence.low, len(sentence.low)
    before = first - 1
    if before >= 0 and low[before] == ",":
        before -= 1
    single = last - first <= 2
    ends = last == count or low[last] in {"!", "?", ".", ",", "-", "–", "—", ":"}
    if before >= 0 and low[before] in GREETINGS and ends:
        return single
    if first == 0 and last < count and low[last] in {",", "!"}:
        return single and "and" not in low[last : last + 4]
    set_off = first > 0 and low[first - 1] == "," and (last == count or low[last] in {"!", "?", "."})
    return single and set_off and low[last - 1] in FIRST_NAMES


class NameTypes:
    """The types of a message's names: by the group's knowledge, then by word lists, then by the words around them."""

    def __init__(self, patterns: Patterns, known: Mapping[str, str], people: Container[str]) -> None:
        """Make the types of a message; people: casefolded names of those who speak."""
        self._patterns = patterns
        self._known = dict(zip(map(str.casefold, known), known.values(), strict=True))
        self._people = people

    def learn(self, text: str, kind: str) -> None:
        """Note the type that the turn itself gives a name: "my dog Max"."""
        self._known[text.casefold()] = kind

    def certain(self, text: str) -> str | None:
        """Return the type of a name that is known, or is in a list; else None."""
        folded = text.casefold()
        kind = self._known.get(folded)
        if kind in self._patterns.ontology.entities:
            return kind
        if folded in self._people:
            return "Person"
        return self._patterns.names.get(folded)

    def is_shared(self, text: str) -> bool:
        """Whether a name is one of a place by the lists alone, and one word, as people are called as well: Florence."""
        folded = text.casefold()
        return folded not in self._known and " " not in folded and self._patterns.names.get(folded) == "Location"

    def of(self, text: str) -> str | None:
        """Return the type of a name by itself: the certain one, or one that its first or last word suggests."""
        return self.certain(text) or self._suggested(text.casefold().split(), acronym=text.isupper())

    def _suggested(self, words: Sequence[str], *, acronym: bool) -> str | None:
        entities = self._patterns.ontology.entities
        if len(words) > 1:
            kinds = self._patterns.types_of_words(tuple(words[-1:]))
            surname = words[0] in FIRST_NAMES and kinds[:1] == ("Profession",)  # "Tim Cook"
            if kinds and not surname:
                return kinds[0]
            if words[0] in {"lake", "mount", "mt", "mt.", "port", "fort", "cape"} and "Location" in entities:
                return "Location"
            if words[0] in {"university", "institute"} and "Organization" in entities:
                return "Organization"
        elif words and words[0] in self._patterns.words and acronym:
            return self._patterns.words[words[0]][0]
        if words and words[0] in FIRST_NAMES and len(words) <= 3 and "Person" in entities:
            return "Person"
        return None

    def in_place(self, sentence: Sentence, name: NameSpan) -> str | None:
        """Return the type of a name in its sentence, where the words before it may tell it."""
        kind = self.certain(name.text)
        if name.quoted:
            return kind
        if kind or name.weak or name.first == 0:
            return kind or self.of(name.text)
        low, before = sentence.low, name.first - 1
        kinds = self._patterns.types_of_words((low[before],))  # "the movie Inception"
        if not kinds and low[before] in {"especially", "called", "named", "titled", "like", "as", ","}:
            kinds = self._noun_before(low, before)
        if kinds:
            somebody = kinds[0] in _OF_PEOPLE and "Person" in self._patterns.ontology.entities
            return "Person" if somebody else kinds[0]
        kind = self.of(name.text)
        acronym = name.text.isupper()
        if kind:
            return kind
        if low[before] in _PLACE_PREPOSITIONS and not acronym and "Location" in self._patterns.ontology.entities:
            return "Location"
        return None

    def _noun_before(self, low: Sequence[str], at: int) -> tuple[str, ...]:
        """Return the types of the noun before a name: "books, especially X"."""
        while at >= 0 and (
            low[at] in PREPOSITIONS or low[at] in {"especially", "called", "named", "titled", ",", "such"}
        ):
            at -= 1
        return self._patterns.types_of_words((low[at],)) if at >= 0 else ()
