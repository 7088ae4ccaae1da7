"""What the rules know of a clause, as numbers for the head."""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    BARE,
    FUNCTION_WORDS,
    ORNAMENTS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    UNSURE_FROM,
    UNSURE_SENTENCE,
    VAGUE,
)
from asof_agents.extraction.english.verb_phrases import tells
from asof_agents.extraction.english.weight import has_weight
from asof_agents.extraction.reader.candidates import ClauseCandidate, is_past

_SUBJECTS: Final = ("speaker", "own", "name", "person", "thing", "it", "left out")
_AMONG_VERBS: Final = {  # whether the first words of the verb group are such
    "be": "am is are was were 's been be",
    "have": "have has had 've got",
    "think": "think thought believe guess know feel felt hope wonder agree understand mean remember appreciate",
    "want": "want wanted wanna hope hoping wish love",
    "like": "like likes love loves enjoy enjoys hate hates prefer prefers adore",
    "future": "going gonna will",
    "help": "help helps appreciate support share see seen saw need needed",
    "can": "can will",
}
_AMONG_WORDS: Final = {  # whether the clause has such a word
    "not": "not never",
    "feeling": "happy glad proud excited thrilled sad sorry grateful thankful amazing awesome great tough hard "
    "inspired inspiring nervous stoked pumped blessed lucky determined important special powerful fun feel "
    "feeling feels felt",
    "often": "every usually always often never weekly daily each mornings weekends sometimes",
    "lately": "just recently finally started new",
    "now": "now again anymore still currently",
    "how long": "years year months weeks old",
}
_AMONG_REST: Final = {  # whether the words after the verb have such a one
    "one's own": "my our",
    "pointing": "it that this them these those its their there one",
    "a": "a an",
    "or": "or",
    "to": "to",
    "and": "and",
}
_LED_BY: Final = frozenset("because when since that how what as where which who while".split())
_PEOPLE: Final = PEOPLE_NOUNS | {"parents", "kids", "children", "family", "friends", "grandparents"}
_EMPTY: Final = FUNCTION_WORDS | ORNAMENTS | VAGUE | BARE
_HELPING: Final = frozenset("am is are was were been be have has had 've will do does did 's going to gonna".split())
_VERBS: Final = {name: frozenset(words.split()) for name, words in _AMONG_VERBS.items()}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _AMONG_WORDS.items()}
_REST: Final = {name: frozenset(words.split()) for name, words in _AMONG_REST.items()}
_GROUP: Final = 4  # words of a verb group that are looked at
_SHORT: Final = 4
_LONG: Final = 15

NAMES: Final = (
    *(f"subject: {kind}" for kind in _SUBJECTS),
    *(f"verb: {name}" for name in _VERBS),
    *(f"has: {name}" for name in _WORDS),
    *(f"rest: {name}" for name in _REST),
    "shares its subject", "past", "progressive", "unsure sentence", "unsure clause", "time", "time of several words",
    "names", "number", "people", "words", "short", "long", "exclaims", "opens sentence", "opens turn", "weight",
    "weight of a plan", "tells", "content", "kinds of things", "turn's length", "turn's sentences", "ornament", "vague",
    "vague end", "subordinate",
)  # fmt: skip


def features(context: TurnContext, parsed: ParsedSentence, found: ClauseCandidate) -> list[float]:
    """Return the features of a candidate, in the order of NAMES: 0 or 1, or counts of about that size."""
    low, patterns = parsed.sentence.low, context.patterns
    words, rest = low[found.first : found.last], low[found.verb + 1 : found.last]
    group = low[found.verb : found.verb + _GROUP]
    verb = next((word for word in group if word not in ADVERBS), "")
    at = range(found.verb, found.last)
    timed = sum(n in parsed.timed for n in at)
    names = sum(n in parsed.names and not parsed.names[n].spoken_to and n not in parsed.timed for n in at)
    content = sum(word[0].isalpha() and word not in _EMPTY for word in rest)
    kinds = sum(bool(patterns.types_of_words(low[max(0, n - 1) : n + 1])) for n in at[1:])
    values = [
        *(found.subject == kind for kind in _SUBJECTS),
        *(not of.isdisjoint(group) for of in _VERBS.values()),
        *(not of.isdisjoint(words) for of in _WORDS.values()),
        *(not of.isdisjoint(rest) for of in _REST.values()),
        found.before is not None,
        is_past(verb),
        any(word.endswith("ing") for word in group),
        not UNSURE_SENTENCE.isdisjoint(low),
        not UNSURE_FROM.isdisjoint(words),
        timed > 0,
        timed > 1,
        min(2, names),
        any(low[n][0].isdigit() and n not in parsed.timed for n in at),
        not _PEOPLE.isdisjoint(words),
        len(words) / 10,
        len(words) <= _SHORT,
        len(words) >= _LONG,
        low[-1] == "!",
        found.first == 0,
        context.sentences[0].sentence is parsed.sentence,
        has_weight(parsed, found.verb, found.last, patterns),
        has_weight(parsed, found.verb, found.last, patterns, ahead=True),
        _tells(context, parsed, found),
        min(6, content) / 3,
        min(3, kinds) / 2,
        len(context.turn.text) / 300,
        len(context.sentences) / 4,
        not ORNAMENTS.isdisjoint(rest),
        not VAGUE.isdisjoint(rest),
        bool(rest) and (rest[-1] in VAGUE or rest[-1] in PREPOSITIONS),
        found.first > 0 and low[found.first - 1] in _LED_BY,
    ]
    return [float(value) for value in values]


def _tells(context: TurnContext, parsed: ParsedSentence, found: ClauseCandidate) -> bool:
    """Whether the verb itself, without what helps it, says what is done."""
    low, at = parsed.sentence.low, found.verb
    while at + 1 < found.last and (low[at] in _HELPING or low[at] in ADVERBS):
        at += 1
    return tells(parsed, at, found.last, context.patterns)
