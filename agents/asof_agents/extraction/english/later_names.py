"""Names told after what they name: "I started a podcast. It's called Pixel Dust", "we got a dog, her name is Uma"."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.ports import Relationship

_BE: Final = frozenset({"is", "'s", "are", "was"})
_CALLED: Final = frozenset({"called", "named", "titled"})
_IT: Final = frozenset({"it", "he", "she", "they"})
_ITS: Final = frozenset({"his", "her", "its", "their", "the"})
_THEM: Final = frozenset({"him", "her", "it", "them"})
NAMINGS: Final = _IT | _ITS | {"called", "named"}  # the words that begin to tell a name
_LOOK_BACK: Final = 6  # relationships
_NEAR: Final = 2  # characters between two sentences


def extract_later_names(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add what was stated last of something without a name once more, of the name that a sentence gives it.

    The sentence is no question, and has names.
    """
    low = parsed.sentence.low
    places = (at for at, word in enumerate(low) if word in NAMINGS)
    names = next((found for at in places if (found := _named(parsed, at))), None)
    stated = _last(context, parsed) if names else None
    if names is not None and stated is not None:
        add_named(context, parsed, stated, names)


def add_named(context: TurnContext, parsed: ParsedSentence, stated: Relationship, names: Sequence[NameSpan]) -> None:
    """Add a statement once more of each name that its object has."""
    for name in names:
        kinship = stated.target.type == "Kinship"
        relation, kind = _kin(context, stated) if kinship else (stated.relation, stated.target.type)
        if relation is None:
            return
        context.types.learn(name.text, kind)
        target = context.name_mention(parsed, name, kind)
        again = replace(
            stated, relation=relation, target=target, span=(parsed.sentence.start, parsed.sentence.end), cue="called"
        )
        context.findings.add(again)


def _named(parsed: ParsedSentence, at: int) -> list[NameSpan] | None:
    """Return the names that words from `at` on give: "it's called X", "her name is X", "their names are X and Y"."""
    low = parsed.sentence.low
    word, following = low[at], low[at + 1 : at + 3]
    if word in _IT and following[:1] and following[0] in _BE:
        after = at + 2
        while after < len(low) and low[after] in ADVERBS:
            after += 1
        first = after + 1 if after < len(low) and low[after] in _CALLED else None
    elif word in _ITS and following and following[0] in {"name", "names", "title"} and following[1:2]:
        first = at + 3 if following[1] in _BE else None
    elif word in {"named", "called"} and following[:1] and following[0] in _THEM:
        first = at + 2
    else:
        first = None
    if first is None:
        return None
    first += low[first : first + 1] in {('"',), ("“",), ("the",)} and first not in parsed.names
    name = parsed.names.get(first)
    found = [name] if name and not name.spoken_to else []
    while name and low[name.last : name.last + 1] in {("and",), (",",)}:
        name = parsed.names.get(name.last + 1 + (low[name.last : name.last + 2] == (",", "and")))
        found += [name] if name and not name.spoken_to else []
    return found or None


def _last(context: TurnContext, parsed: ParsedSentence) -> Relationship | None:
    """Return what the last sentences stated of one thing without a name: "I got a dog"."""
    literal = context.patterns.literal - {"Kinship"}
    for number, found in enumerate(context.findings.relationships_reversed()):
        if number >= _LOOK_BACK:
            return None
        unnamed = found.target.text[:1].islower() and found.target.type not in literal
        if unnamed and found.stance == "holds" and found.span[1] >= parsed.sentence.start - _NEAR:
            return found
    return None


def _kin(context: TurnContext, stated: Relationship) -> tuple[str | None, str]:
    """Return the relation to somebody who is now named: of a son, the relation to one's child."""
    noun = stated.target.text.casefold()
    relations = context.patterns.nouns.get(noun) or context.patterns.nouns.get(noun.removesuffix("s")) or ()
    return next((relation.name for relation in relations if "Person" in relation.targets), None), "Person"
