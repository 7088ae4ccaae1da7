"""Look-ups of an ontology: the cues by verb form, and the entity types by word."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_MODALS
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.verbs import Form, forms
from asof_ontologies.cues import Cue, Step, parse_cue
from asof_ontologies.model import AttributeType, Ontology, RelationType

Kind = Literal["cue", "start", "end"]
_NO_GAP = frozenset({"one", "ones", "part", "thing", "way"})  # "my favorite part of it is …"
_GAP_WORDS_MAX = 4
_MOST: Final = 32  # ontologies whose look-ups are in memory
_AS_IT_IS: frozenset[Form] = frozenset({"base", "s", "past"})


@dataclass(frozen=True, slots=True)
class CueEntry:
    """One cue, under one of its possible first words."""

    relation: RelationType
    kind: Kind
    forms: frozenset[Form]
    steps: tuple[Step, ...]
    reversed: bool
    lemma: str
    takes: str
    next_words: frozenset[str]  # those of which one has to come next; empty where others may
    weight: int  # the number of words that it requires; a heavier cue is the surer one
    text: str  # the cue as the ontology writes it


class CuesByNextWord:
    """The cues that begin with one word, by the words of which one has to come next."""

    def __init__(self, entries: Sequence[CueEntry]) -> None:
        self._entries = entries
        self._before_any: list[int] = []
        self._before: dict[str, list[int]] = {}
        for at, entry in enumerate(entries):
            words = _first_words(entry.steps)
            for word in words:
                self._before.setdefault(word, []).append(at)
            if not words:
                self._before_any.append(at)
        self._of_any = [entries[at] for at in self._before_any]

    def before(self, words: Sequence[str]) -> Sequence[CueEntry]:
        """Return those that one of these words may follow, in the order of all."""
        found: list[int] = []
        for word in words:
            found += self._before.get(word, ())
        if not found:
            return self._of_any
        return [self._entries[at] for at in sorted({*self._before_any, *found})]


@dataclass(frozen=True, slots=True)
class AttributeCue:
    """One cue of an attribute of an entity type, under one of its possible first words."""

    entity_type: str
    attribute: AttributeType
    forms: frozenset[Form]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Habit:
    """The relation of what is done regularly, and the words that say so."""

    relation: RelationType
    often: frozenset[str]
    cue: str


class Patterns:
    """The look-ups of one ontology."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.heads: dict[str, tuple[CueEntry, ...]] = _heads(ontology)
        self.cues = {word: CuesByNextWord(entries) for word, entries in self.heads.items()}
        self.tastes = {
            word: CuesByNextWord(of)
            for word, entries in self.heads.items()
            if (of := tuple(filter(_is_about_speaker, entries)))
        }
        self.forms: dict[str, frozenset[Form]] = {
            word: frozenset[Form]().union(*(entry.forms for entry in entries)) for word, entries in self.heads.items()
        }
        self.attributes: dict[str, list[AttributeCue]] = _attributes(ontology)
        for word, cues in self.attributes.items():
            self.forms[word] = self.forms.get(word, frozenset[Form]()).union(*(cue.forms for cue in cues))
        self.requests = _plain_heads(ontology) - {"my"} - UNSURE_MODALS - {"gonna"}
        self.names = {name: kind.name for kind in reversed(ontology.entity_types) for name in kind.names}
        self.words: dict[str, tuple[str, ...]] = {}
        for kind in ontology.entity_types:
            for word in kind.words:
                self.words[word] = (*self.words.get(word, ()), kind.name)
        self._last_words = {word.rsplit(" ", 1)[-1] for word in self.words}
        self.nouns: dict[str, tuple[RelationType, ...]] = {}
        for relation in ontology.relation_types:
            for noun in relation.nouns if relation.value in {None, "quality"} else ():
                self.nouns[noun] = (*self.nouns.get(noun, ()), relation)
        self.noun_heads = {noun.split()[0] for noun in self.nouns} | {f"{noun}s" for noun in self.nouns}
        self.habit = _habit(ontology)
        self.deed = next((each for each in ontology.relation_types if "<*>" in each.cues), None)
        self.plan = next((each for each in self.heads.get("plan", ()) if each.takes == "deed"), None)
        self.values = {each.value: each for each in ontology.relation_types if each.value}
        self.open = {kind.name for kind in ontology.entity_types if kind.open}
        self.literal = {kind.name for kind in ontology.entity_types if kind.literal}
        favorite = self.values.get("favorite")
        self.favorites = frozenset(favorite.nouns if favorite else ())
        choices = [each for each in ontology.relation_types if each.chooses]
        self.choice = next((each for each in choices if each.opposite), None)  # what is used, in place of what
        self.choosing = next((each for each in choices if each.is_deed), None)
        any_words = self.literal & self.open
        self.defining = {each.name for each in ontology.relation_types if any_words.issuperset(each.targets)}

    def types_of_words(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the entity types of a noun phrase, by its longest ending that is a word of one."""
        if words and "-" in words[-1] and words[-1] not in self.words:  # "auth-service"
            words = (*words[:-1], words[-1].rsplit("-", 1)[-1])
        if not words or self._last_words.isdisjoint((words[-1], *_singulars(words[-1]))):
            return ()  # mostly so
        for first in range(max(0, len(words) - 3), len(words)):
            ending = " ".join(words[first:])
            for form in (ending, *_singulars(ending)):
                if form in self.words:
                    return self.words[form]
        return ()


@lru_cache(maxsize=_MOST)
def patterns(ontology: Ontology) -> Patterns:
    """Return the look-ups of an ontology, which are built once in a process: that takes longer than reading a turn."""
    return Patterns(ontology)


def _habit(ontology: Ontology) -> Habit | None:
    for relation in ontology.relation_types:
        for text in relation.cues:
            cue = parse_cue(text)
            if cue.verb == "*" and cue.steps:
                return Habit(relation, cue.steps[0].words, text)
    return None


def _is_about_speaker(entry: CueEntry) -> bool:
    """Whether a cue whose object comes first ends with the speaker: "{object} <mean> a lot to me"."""
    return entry.reversed and any(step.words & {"i", "me", "my"} for step in entry.steps)


def _plain_heads(ontology: Ontology) -> frozenset[str]:
    """Return the plain words by which cues begin."""
    texts = (
        text for relation in ontology.relation_types for text in (*relation.cues, *relation.starts, *relation.ends)
    )
    return frozenset(word for text in texts if (word := parse_cue(text).word) is not None)


def _heads(ontology: Ontology) -> dict[str, tuple[CueEntry, ...]]:
    found: dict[str, list[CueEntry]] = {}
    for relation in ontology.relation_types:
        kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
            ("cue", relation.cues),
            ("start", relation.starts),
            ("end", relation.ends),
        )
        for kind, texts in kinds:
            for text, cue in zip(texts, map(parse_cue, texts), strict=True):
                if cue.verb == "*":
                    continue
                for word, tags in _words(cue).items():
                    lemma, first = cue.verb or word, _required_first(cue.steps)
                    weight = sum(not step.optional for step in cue.steps)
                    entry = CueEntry(
                        relation, kind, tags, cue.steps, cue.reversed, lemma, cue.takes, first, weight, text
                    )
                    found.setdefault(word, []).append(entry)
    return {word: tuple(sorted(entries, key=lambda entry: -entry.weight)) for word, entries in found.items()}


def _attributes(ontology: Ontology) -> dict[str, list[AttributeCue]]:
    found: dict[str, list[AttributeCue]] = {}
    for kind in ontology.entity_types:
        for attribute in kind.attributes:
            for cue in map(parse_cue, attribute.cues):
                for word, tags in _words(cue).items():
                    found.setdefault(word, []).append(AttributeCue(kind.name, attribute, tags, cue.steps))
    return found


def _required_first(steps: tuple[Step, ...]) -> frozenset[str]:
    return steps[0].words if steps and not steps[0].optional else frozenset()


def _first_words(steps: tuple[Step, ...]) -> frozenset[str]:
    """Return the words of which one is the first that steps match; empty where others may be, or none."""
    words: set[str] = set()
    for step in steps:
        if not step.words:
            break
        words |= step.words
        if not step.optional:
            return frozenset(words)
    return frozenset()


def _words(cue: Cue) -> dict[str, frozenset[Form]]:
    return forms(cue.verb) if cue.verb else {cue.word or "": _AS_IT_IS}


def _singulars(word: str) -> tuple[str, ...]:
    if not word.endswith("s"):
        return ()
    if word.endswith("ies"):
        return (word[:-3] + "y", word[:-1])
    if word.endswith("es"):
        return (word[:-1], word[:-2])
    return (word[:-1],)


def next_words(sentence: Sentence, at: int, times: frozenset[int]) -> Sequence[str]:
    """Return the words of which a cue's first step may be one: from `at` on, to the first that is not skipped."""
    low, there = sentence.low, at
    count = len(low)
    while there < count and (low[there] in ADVERBS or there in times):
        there += 1
    return low[at : there + 1]


def match_steps(steps: tuple[Step, ...], sentence: Sentence, at: int, times: frozenset[int]) -> int | None:
    """Return the word after a cue's steps, matched from `at` on, or None. Adverbs and times between are skipped."""
    low = sentence.low
    count = len(low)
    for number, step in enumerate(steps, 1):
        words = step.words
        if not words:
            return _match_after_gap(steps[number:], sentence, at, times)
        there, matches = at, False
        while there < count:
            word = low[there]
            if word in words:
                matches = True
                break
            if not (word in ADVERBS or there in times):
                break
            there += 1
        if not step.optional:
            if not matches:
                return None
            at = there + 1
        elif matches:
            found = match_steps(steps[number:], sentence, there + 1, times)
            if found is not None:
                return found
    return at


def _match_after_gap(steps: tuple[Step, ...], sentence: Sentence, at: int, times: frozenset[int]) -> int | None:
    """Return the word after the steps, which follow any few words."""
    low = sentence.low
    for end in range(at + 1, min(at + _GAP_WORDS_MAX, len(low)) + 1):
        if not low[end - 1][0].isalnum() or low[end - 1] in _NO_GAP:
            return None
        found = match_steps(steps, sentence, end, times)
        if found is not None:
            return found
    return None
