"""Targets: the typed objects after a cue; a many-valued relation may have a list of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.extraction.english.lexicon import ADVERBS, ORNAMENTS, PEOPLE_NOUNS
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.english.noun_phrases import Phrase
from asof_agents.extraction.english.patterns import CueEntry
from asof_agents.extraction.english.verb_phrases import verb_phrases_at
from asof_agents.extraction.english.verbs import PASTS, Form
from asof_agents.extraction.english.weight import has_weight

_AFTER_GERUND = frozenset(
    "again and as at because but in lately on or since so these together too when with".split()
) | (ADVERBS - {"all", "both"})
_MEANING_WORDS_MAX = 25
# words that count or compare: no part of a thing that is liked
_COUNTING = frozenset(
    "another certain different few first last latest many more most next other own real second several super "
    "third various".split()
)
_NO_PRAISE = _COUNTING | ADVERBS
_THE_ONLY = frozenset("beach countryside guitar mountains ocean outdoors piano rain sea snow violin".split())
_BEFORE_NOUN = _COUNTING | {"a", "an", "the"}
_ASKED = frozenset({"always", "never", "please"})
_PLAIN_KINDS = frozenset({"Event", "Work", "Location", "Thing", "Book", "Film", "Food", "Project"})
_MILESTONES = frozenset(
    "audition baptism fellowship funeral graduation honeymoon housewarming internship interview marathon surgery "
    "tattoo wedding".split()
)
_AND_THEIRS = {("and", "its"), ("and", "their")}
_GERUND_MIN = 4  # letters
_AGE_MAX = 120
_DIGIT = 9
_OLD = frozenset({"is", "'s", "turned", "turns"})
_NUMBERS = frozenset(
    "eight eighteen eighty eleven fifteen fifty five forty four fourteen nine nineteen one seven seventeen "
    "seventy six sixteen sixty ten thirteen thirty three twelve twenty two".split()
)


class Target(NamedTuple):
    """A typed phrase. `fit`: 2, its type is known to fit; 1, a name of unknown type; 0, any noun phrase."""

    phrase: Phrase
    kind: str
    fit: int


def targets_at(context: TurnContext, parsed: ParsedSentence, at: int, entry: CueEntry) -> list[Target]:
    """Return the objects of a cue from word `at` on; a list ends before its first part that does not fit."""
    relation = entry.relation
    if "Age" in relation.targets:
        age = _age(parsed, at)
        return [Target(age, "Age", 2)] if age else []
    if "Date" in relation.targets:
        last = next((last for last in range(at, len(parsed.sentence.low) + 1) if last not in parsed.timed), at)
        return [Target(Phrase(at, last, last, True, False), "Date", 2)] if last > at else []
    if entry.takes == "deed":
        literal = next(kind for kind in relation.targets if kind in context.patterns.literal)
        phrases = verb_phrases_at(parsed, at, context.patterns)
        return [Target(phrase, literal, 0) for phrase in phrases if _weighs(context, parsed, phrase, entry)]
    if relation.name in context.patterns.defining:
        rest = _rest(parsed, at)
        return [Target(rest, relation.targets[0], 1)] if rest else []
    found: list[Target] = []
    for phrase in _phrases(context, parsed, at):
        target = _typed(context, parsed, phrase, entry)
        if target is None or (found and (target.fit < found[0].fit or relation.cardinality == "one")):
            break
        found.append(target)
    if len(found) > 1 and found[0].fit == 0 and found[1].fit == 2:  # "action and sci-fi movies"
        del found[0]
    return found


def _weighs(context: TurnContext, parsed: ParsedSentence, phrase: Phrase, entry: CueEntry) -> bool:
    """Whether a deed that is planned, wished or going on tells something; what is asked for always does."""
    first = phrase.first + (parsed.sentence.low[phrase.first] == "to")
    return entry.lemma in _ASKED or has_weight(parsed, first, phrase.last, context.patterns, ahead=True)


def _phrases(context: TurnContext, parsed: ParsedSentence, at: int) -> Iterator[Phrase]:
    """Yield the phrase at a word, and those that commas and "and" join to it."""
    low, forms = parsed.sentence.low, context.patterns.forms
    phrase = parsed.phrase_at(at)
    if (
        phrase
        and phrase.first == at
        and not phrase.name
        and "s" in forms.get(low[at], ())
        and low[at] not in context.patterns.words
    ):
        return  # "the things I love make sense"
    while phrase is not None:
        yield phrase
        after = phrase.after
        joined = after
        while joined < len(low) and low[joined] in {",", "and", "&"} and joined - after < 2:
            joined += 1
        if joined == after:
            return
        following = parsed.phrase_at(joined)
        if following is None or _begins_clause(low, following, forms, listed=low[joined - 1] != ","):
            return
        phrase = following


def _begins_clause(low: tuple[str, ...], phrase: Phrase, forms: Mapping[str, frozenset[Form]], *, listed: bool) -> bool:
    """Whether the phrase after a comma or "and" is the subject of a new clause, or a verb, and not part of a list."""
    tags = forms.get(low[phrase.first], frozenset[Form]())
    if "past" in tags or "s" in tags or low[phrase.first] in PASTS:
        return True
    after = low[phrase.after] if phrase.after < len(low) else "."
    if after in forms or after in {"'s", "will", "would", "can", "could"}:
        return True
    return not listed and after not in {",", "and", "&", ".", "!"}


def _typed(context: TurnContext, parsed: ParsedSentence, phrase: Phrase, entry: CueEntry) -> Target | None:
    patterns = context.patterns
    wanted = entry.relation.sources if entry.reversed else entry.relation.targets
    is_open = not patterns.open.isdisjoint(wanted)
    open_kind = next(kind for kind in wanted if kind in patterns.open) if is_open else None
    phrase = _before_gerund(context, parsed, phrase, wanted)
    words = parsed.sentence.low[phrase.first : phrase.last]
    fitting = next((kind for kind in patterns.types_of_words(words) if kind in wanted), None)
    if "of" in words:  # "governor of California" is what a governor is
        heads = patterns.types_of_words(words[: words.index("of") + 1])
        fitting = next((kind for kind in heads if kind in wanted), fitting)
    listed = patterns.names.get(" ".join(words))
    if listed in wanted and not fitting:  # chat may write "berlin" and "postgres"
        return Target(phrase, listed, 2)
    if not phrase.name:
        return _typed_noun(parsed, phrase, entry, wanted, open_kind, fitting)
    text = context.turn.text[slice(*parsed.sentence.span(phrase.first, phrase.last))]
    kind = context.types.certain(text) if phrase.quoted else context.types.of(text)
    if tuple(wanted) == ("Person",) and text.casefold() in FIRST_NAMES and context.types.is_shared(text):
        kind = "Person"  # "I'm married to Sofia"
    if kind is None and len(text) == 1:
        return None  # "I got a B in chemistry"
    known = kind if kind in wanted else None if phrase.quoted else fitting
    if known:
        return Target(phrase, known, 2)
    if kind in {"Person", "Location"} or entry.takes == "typed":
        return None
    only = len(wanted) == 1 and entry.weight and not phrase.quoted  # "I work at Tidewater Books": no book
    if kind is None or (only and context.types.certain(text) is None):
        other = open_kind or next((kind for kind in wanted if kind != "Person" or may_be_person(text)), None)
        return Target(phrase, other, 1) if other else None
    return Target(phrase, open_kind, 0) if open_kind else None


def _before_gerund(context: TurnContext, parsed: ParsedSentence, phrase: Phrase, wanted: Sequence[str]) -> Phrase:
    """Return "knee" of "knee playing soccer": a thing of a fitting type, and what somebody does then."""
    low = parsed.sentence.low
    for at in range(phrase.first + 1, phrase.last - 1):
        if low[at].endswith("ing") and len(low[at]) > _GERUND_MIN:
            head = context.patterns.types_of_words(low[phrase.first : at])
            if not set(head).isdisjoint(wanted):
                return phrase._replace(last=at, after=at)
    return phrase


def _typed_noun(
    parsed: ParsedSentence,
    phrase: Phrase,
    entry: CueEntry,
    wanted: Sequence[str],
    open_kind: str | None,
    fitting: str | None,
) -> Target | None:
    """Return a common noun typed by its words, as an activity, or by an open type of the relation; else None."""
    relation, words = entry.relation, parsed.sentence.low[phrase.first : phrase.last]
    particular = (phrase.definite and entry.lemma != "my" and words[-1] not in _THE_ONLY) or _narrowed(parsed, phrase)
    shared = parsed.sentence.low[phrase.after : phrase.after + 2] in _AND_THEIRS  # "veterans and their rights"
    if relation.named or (relation.generic and (particular or shared)):
        return None
    if phrase.own and len(words) > 1 and words[0] in PEOPLE_NOUNS and not entry.reversed and words[1] != "'s":
        return None  # "I teach my niece chess"
    if len(words) == 1 and not fitting and (words[0] in PASTS or words[0].endswith("ed")):
        return None  # "the house I own burned down"
    if relation.generic:
        phrase = _with_praise(parsed, phrase)
    gerund = words[0].endswith("ing")
    if fitting and gerund and len(words) > 1:
        if "Activity" in wanted:  # "helping the community"
            fitting = "Activity"
        elif words[1] in _BEFORE_NOUN:  # "hitting the gym" is no business
            return None
    if fitting == "Activity" and (phrase.one or (gerund and len(words) == 1 and not _is_activity(parsed, phrase))):
        return None  # "a painting" is none, and "reading" is none in "I'm reading it"
    if fitting:
        return Target(_with_place(parsed, phrase) if fitting == "Event" else phrase, fitting, 2)
    if entry.takes == "typed" or (phrase.vague and phrase.first not in parsed.names):  # but "Thai food"
        return None
    if "Activity" in wanted and _is_activity(parsed, phrase):
        return Target(phrase, "Activity", 1)
    if entry.takes == "any" and words[-1] in PEOPLE_NOUNS:
        return None  # "I visited my aunt"
    if entry.takes == "any":
        return Target(phrase, open_kind or wanted[0], 0)
    named = not gerund or (open_kind in wanted and "Topic" in wanted and _is_activity(parsed, phrase))
    return Target(phrase, open_kind, 0) if open_kind and named else None


def _with_praise(parsed: ParsedSentence, phrase: Phrase) -> Phrase:
    """Return the phrase with its adjectives: a person who likes big cities may not like cities."""
    first = phrase.full
    while first < phrase.first and parsed.sentence.low[first] in _NO_PRAISE:
        first += 1
    return phrase._replace(first=first)


def _with_place(parsed: ParsedSentence, phrase: Phrase) -> Phrase:
    """Return a trip with its destination: "trip to Japan"."""
    low = parsed.sentence.low
    name = parsed.names.get(phrase.after + 1 + (low[phrase.after + 1 : phrase.after + 2] == ("the",)))
    goes_to = low[phrase.after : phrase.after + 1] == ("to",) and name is not None
    return phrase._replace(last=name.last, after=name.last) if goes_to and name else phrase


def _rest(parsed: ParsedSentence, at: int) -> Phrase | None:
    """Return all words up to the end of the sentence: the meaning of a term."""
    low = parsed.sentence.low
    if low[at : at + 1] in {('"',), ("“",)}:
        at += 1
    last = max(at, parsed.last_word)
    return Phrase(at, last, last, False, False) if 0 < last - at <= _MEANING_WORDS_MAX else None


def _narrowed(parsed: ParsedSentence, phrase: Phrase) -> bool:
    """Whether a clause restricts the common noun before it: "stories that end well"."""
    return parsed.sentence.low[phrase.after : phrase.after + 1] in {
        ("that",),
        ("which",),
        ("who",),
        ("where",),
        ("when",),
        ("how",),
    }


def _is_activity(parsed: ParsedSentence, phrase: Phrase) -> bool:
    """Whether a phrase is a gerund, alone at the end of its clause or with its object: "playing the piano"."""
    low = parsed.sentence.low
    if not low[phrase.first].endswith("ing") or len(low[phrase.first]) < 6:
        return False
    after = low[phrase.after] if phrase.after < len(low) else "."
    if after == "," and phrase.last - phrase.first > 1 and low[phrase.first + 1] in {"a", "an"}:
        return False  # "creating a safe, inviting place"
    return (
        phrase.last - phrase.first > 1
        or not after[0].isalnum()
        or phrase.after in parsed.timed
        or after in _AFTER_GERUND
    )


def is_lone(words: Sequence[str], target: Target, entry: CueEntry) -> bool:
    """Whether an object is one plain word that says too little of what happened once: "attended a picnic"."""
    relation = entry.relation
    once = relation.is_deed or ("Deed" in relation.targets and not relation.generic)
    some = entry.kind == "start" and words[-1].endswith("s") and not words[-1].endswith("ss")  # "got some new shoes"
    return (
        (once or some)
        and entry.next_words != {"me"}  # what was given: "they gave me a camera"
        and not target.phrase.name
        and target.kind in _PLAIN_KINDS
        and words[-1] not in _MILESTONES
        and sum(word not in ORNAMENTS for word in words) == 1
    )


def _age(parsed: ParsedSentence, at: int) -> Phrase | None:
    """Return an age: "32 years old", or a number that ends the clause, as in "I just turned 30"; else None."""
    low = parsed.sentence.low
    if at >= len(low):
        return None
    number = low[at].split("-")[0]
    if not ((number.isdigit() and 0 < int(number) < _AGE_MAX) or number in _NUMBERS):
        return None
    rest = low[at + 1 : at + 3]
    if rest == ("years", "old"):
        return Phrase(at, at + 1, at + 3, True, False)
    ends = at + 1 == len(low) or low[at + 1] in {".", "!", ",", "now", "and", "in"} or at + 1 in parsed.timed
    old = number.isdigit() and (int(number) > _DIGIT or low[at - 1] in _OLD)
    return Phrase(at, at + 1, at + 1, True, False) if ends and old else None
