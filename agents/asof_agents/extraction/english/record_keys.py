"""Keys of records: which relation of an ontology the words of a key name, as "works_at", "employer" and "manager" do.

A key is the name of a relation, one of its cues ("based_in"), or one of its nouns. Where the ontology says what a
target is to its source ("The source's present employer"), that is a noun of the relation, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from asof_agents.extraction.english.lexicon import PREPOSITIONS
from asof_agents.extraction.english.patterns import CueEntry, Patterns, match_steps
from asof_agents.extraction.english.sentences import Sentence, parse_sentences
from asof_agents.extraction.english.verbs import Form
from asof_ontologies.model import RelationType, ValueKind

_KEY_MAX: Final = 40  # characters; a longer one is no field of a record
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_A-Za-z]+")
_MEANS: Final = re.compile(r"The source's (?:present )?(\w+(?: of \w+)?)(?=[;.]| is )")
_MOST: Final = 32  # ontologies whose keys are in memory
_VALUES: Final[tuple[ValueKind, ...]] = ("quality", "value", "amount")
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {  # what records call it, by what ontologies call it
    "company": ("employer",),
    "organization": ("employer",),
    "organisation": ("employer",),
    "city": ("home", "located in"),
    "town": ("home", "located in"),
    "country": ("home", "located in"),
    "headquarters": ("located in",),
    "birthplace": ("born in",),
    "date of birth": ("birthday",),
    "dob": ("birthday",),
    "profession": ("is a",),
    "occupation": ("is a",),
    "languages": ("speaks",),
    "children": ("child",),
}
RANKS: Final = {field: rank for rank, field in enumerate(_FIELDS)}
"""Of several that give one value, such as a city and its country, the first says it most exactly."""


class KeyUse(NamedTuple):
    """A relation that a key names.

    role: what the values are: targets of the relation, or a person, a state or a number that a thing has.
    reversed: the values are its sources, as of "written_by". typed: they must be of a known type.
    """

    relation: RelationType
    name: str
    cue: str
    role: Literal["target", "person", "state", "number"] = "target"
    reversed: bool = False
    typed: bool = False


def words_of(key: str) -> str:
    """Return the words of a key in lower case, with blanks between: "works at" of worksAt and works_at."""
    return " ".join(_PART.findall(key)).lower() if len(key) <= _KEY_MAX else ""


class RecordKeys:
    """The keys that an ontology has words for."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        ontology = patterns.ontology
        self._kinds = {name.lower(): name for name in ontology.entities}
        roles = ontology.relations["is_a"].targets if "is_a" in ontology.relations else ()
        self._people = patterns.literal.union(roles)  # "manager" says of a thing with a name that it is a person
        self._named: defaultdict[str, list[KeyUse]] = defaultdict(list)
        self._nouns: defaultdict[str, list[KeyUse]] = defaultdict(list)
        for relation in ontology.relation_types:
            if relation.value in {None, "version", "time"}:
                for name in {relation.name, relation.name.removeprefix("has_")}:
                    self._named[name.replace("_", " ")].append(KeyUse(relation, relation.name, relation.name))
            for noun in _nouns(relation) if relation.value is None and not relation.is_deed else ():
                self._nouns[noun].append(KeyUse(relation, relation.name, noun))
        for use in _values(patterns):
            self._nouns[use.cue].append(use)

    def uses(self, words: str) -> Sequence[KeyUse]:
        """Return the relations that the words of a key name, the surest first."""
        if not words or all(word in PREPOSITIONS for word in words.split()):
            return ()
        found = [use for each in (words, *_FIELDS.get(words, ())) for use in self._uses(each)]
        return list({(use.name, use.reversed): use for use in reversed(found)}.values())[::-1]

    def kinds(self, words: str) -> Sequence[str]:
        """Return the entity types that words say: the name of one, or a noun for it."""
        low = words.lower()
        known = self._kinds.get(low) or self._kinds.get("person" if low == "people" else low.removesuffix("s"))
        found = (known,) if known else self._patterns.types_of_words(tuple(low.split()))
        return [self._kinds.get("person", kind) if kind in self._people else kind for kind in found]

    def _uses(self, words: str) -> Iterator[KeyUse]:
        yield from self._of_cues(words)
        yield from self._named.get(words, ())
        yield from self._nouns.get(words, ())
        first, _, rest = words.partition(" ")
        favorite = self._patterns.values.get("favorite")
        if favorite and rest and first in self._patterns.favorites:
            yield KeyUse(favorite, favorite.of_noun(rest), first)

    def _of_cues(self, words: str) -> Iterator[KeyUse]:
        first = words.split(maxsplit=1)[0]
        for text, head, following in ((words, first, words.split()[1:2]), (f"is {words}", "is", [first])):
            cues = self._patterns.cues.get(head)
            entries = cues.before(following) if cues else ()
            sentence = next(parse_sentences(text)) if entries else None
            for entry in entries:
                if sentence and _says(entry, sentence, copula=text != words):
                    cue, relation = entry.text, entry.relation
                    yield KeyUse(relation, relation.name, cue, reversed=entry.reversed, typed=entry.takes == "typed")


@lru_cache(maxsize=_MOST)
def record_keys(patterns: Patterns) -> RecordKeys:
    """Return the keys of an ontology by its look-ups, which are built once in a process."""
    return RecordKeys(patterns)


def _says(entry: CueEntry, sentence: Sentence, *, copula: bool) -> bool:
    """Whether the words of a key are those of a cue, in a form that says that it holds."""
    if entry.takes == "deed" or entry.kind == "end" or (copula and entry.lemma != "be"):
        return False
    told: Form = "past" if entry.relation.is_deed or entry.kind == "start" else "s"  # "lead" is a noun as well
    if not copula and told not in entry.forms:
        return False
    return match_steps(entry.steps, sentence, 1, frozenset()) == len(sentence.low)


def _nouns(relation: RelationType) -> set[str]:
    means = _MEANS.match(relation.means)
    found = {*relation.nouns, *([means[1]] if means else ())}
    return found | {f"{noun}s" for noun in found} | {f"{noun[:-1]}ies" for noun in found if noun[-1] == "y"}


def _values(patterns: Patterns) -> Iterator[KeyUse]:
    """Yield what the rules read of "Acme's CEO is ...", "Acme's status is ...", "... has 12 employees"."""
    quality, state, number = (patterns.values.get(kind) for kind in _VALUES)
    if quality:
        yield from (KeyUse(quality, quality.of_noun(noun), noun, "person") for noun in quality.nouns)
    if quality and state:
        yield from (KeyUse(state, quality.of_noun(noun), noun, "state") for noun in state.nouns)
    if number:
        yield from (KeyUse(number, number.of_noun(noun), noun, "number") for noun in number.nouns)
