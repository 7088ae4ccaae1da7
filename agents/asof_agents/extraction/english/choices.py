"""Choices: "use tabs, not spaces", and why something was chosen, and over what.

"We chose Postgres over MySQL because it has better JSON support" is read by the cues of a relation that chooses; what
stands behind its target says the rest.
"""

from collections.abc import Sequence
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention, Relationship, Stance

_OVER: Final = (("over",), ("instead", "of"), ("rather", "than"), ("than",))
_NOT: Final = (("and", "not"), (",", "not"), ("not",))
_AGAINST: Final = (("against", "using"), ("against",), ("not", "to", "use"), ("not", "to", "adopt"))
_DECIDERS: Final = (("we",), ("i",), ("have",))
REQUESTS: Final = frozenset({"use", "prefer"})
_BECAUSE: Final = frozenset({"because", "since", "as"})
_OPENS_REASON: Final = frozenset("a an i it its of our the their they we".split())
_OPENINGS: Final = frozenset({"please", "actually", "always", "correction", ",", ":", "so", "and", "ok", "okay"})
_SHORTEST: Final = 3  # words of a reason


def extract_request(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add what a sentence, which is no question, asks to use in place of what: "use tabs, not spaces"."""
    low = parsed.sentence.low
    relation = context.patterns.choice
    at = next((at for at, word in enumerate(low) if word not in _OPENINGS), 0)
    if relation is None or relation.opposite is None or low[at] not in REQUESTS:
        return
    context.work.spend(WORD)
    context.timed(parsed, ahead=False)
    if is_practice(parsed, at):
        return
    wanted = _phrase(context, parsed, at + 1, relation.targets)
    after = None if wanted is None else _behind(low, wanted[1], _OVER + _NOT)
    unwanted = None if after is None else _phrase(context, parsed, after, relation.targets)
    if wanted is None or (unwanted is None and low[at] == "use"):
        return
    speaker = context.speaker()
    if speaker is None and context.turn.role_type == "user":
        speaker = context.findings.add_speaker(*parsed.sentence.span(at, at + 1))
    if speaker is None:
        return
    pairs: list[tuple[str, Mention, Stance]] = [(relation.name, wanted[0], "holds")]
    if unwanted is not None and low[at] == "use":
        pairs += [(relation.opposite, unwanted[0], "holds")]
        pairs += [(relation.name, unwanted[0], "ended"), (relation.opposite, wanted[0], "ended")]
    parsed.taken.update(range(at, len(low)))
    for name, target, stance in pairs:
        context.findings.relate(speaker, name, target, Meaning(stance), None, parsed.sentence, 0.85, name)


def is_practice(parsed: ParsedSentence, at: int) -> bool:
    """Whether a sentence asks from a word on for a practice, and for no thing in place of another."""
    low = parsed.sentence.low
    phrase = parsed.phrase_at(at + 1) if low[at] == "prefer" else None
    if phrase is None:
        return low[at] == "prefer" and _OVER[0][0] not in low and "than" not in low
    return phrase.first > at + 1 or _behind(low, phrase.after, _OVER + _NOT) is None


def extract_grounds(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add why something was chosen in a sentence whose clauses were read, and over what."""
    low, sentence = parsed.sentence.low, parsed.sentence
    values = context.patterns.values
    reason, alternative = values.get("reason"), values.get("alternative")
    if reason is None or alternative is None or parsed.sentence.question:
        return
    extract_reversals(context, parsed)
    chosen = [found for found in context.findings.relationships if _chooses(context, found, parsed)]
    if not chosen:
        return
    context.work.spend(WORD * len(low))
    because = next((at for at in range(2, len(low)) if low[at] in _BECAUSE and _gives_reason(parsed, at)), None)
    if because is not None:
        target = context.findings.mention(reason.targets[0], *sentence.span(because + 1, parsed.last_word))
        for found in chosen:
            _state(context, parsed, found.target, reason.name, target)
    for found in chosen:
        if not context.patterns.ontology.relations[found.relation].is_deed:
            continue  # "I prefer tabs over spaces" tells of no choice between the two
        end = sentence.words_in(found.target.start, found.target.start + len(found.target.text)).stop
        after = _behind(low, end, _OVER)
        other = None if after is None else _phrase(context, parsed, after, (found.target.type, *alternative.targets))
        if other is not None:
            _state(context, parsed, found.target, alternative.name, other[0])
            _take_back(context, parsed, found.source, found.relation, other[0])


def extract_reversals(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the choices that a sentence takes back: "we stopped using Kafka", "we decided against Redis"."""
    low, relations = parsed.sentence.low, context.patterns.ontology.relations
    choice = context.patterns.choosing
    if choice is None:
        return
    here = parsed.sentence.start, parsed.sentence.end
    for found in context.findings.relationships:
        relation = relations.get(found.relation)
        over = found.stance == "ended" and found.span == here and relation is not None
        if over and relation and relation.chooses and not relation.generic and found.source.type in choice.sources:
            _take_back(context, parsed, found.source, choice.name, found.target, found.valid_to)
    at = next((at for at, word in enumerate(low) if word == "decided" and low[at - 1 : at] in _DECIDERS), None)
    after = None if at is None else _behind(low, at + 1, _AGAINST)
    unwanted = None if after is None or parsed.sentence.unsure else _phrase(context, parsed, after, choice.targets)
    speaker = context.speaker()
    if unwanted is not None and speaker is not None:
        _take_back(context, parsed, speaker, choice.name, unwanted[0])


def _take_back(
    context: TurnContext, parsed: ParsedSentence, source: Mention, name: str, target: Mention, at: int | None = None
) -> None:
    if not context.was_mentioned(target.text):
        return  # nobody can have chosen it
    context.findings.relate(source, name, target, Meaning("ended", valid_to=at), None, parsed.sentence, 0.85, name)


def _chooses(context: TurnContext, found: Relationship, parsed: ParsedSentence) -> bool:
    relation = context.patterns.ontology.relations.get(found.relation)
    here = found.span == (parsed.sentence.start, parsed.sentence.end)
    return here and relation is not None and relation.chooses and found.stance == "holds"


def _gives_reason(parsed: ParsedSentence, at: int) -> bool:
    """Whether a reason follows: also "since" and "as" may say when."""
    low = parsed.sentence.low
    follows = parsed.last_word - at > _SHORTEST - 1 and at + 1 not in parsed.timed
    return follows and (low[at] == "because" or low[at + 1] in _OPENS_REASON)


def _behind(low: tuple[str, ...], at: int, links: Sequence[tuple[str, ...]]) -> int | None:
    """Return the word after the one of these links that stands at a word; None: none does."""
    return next((at + len(words) for words in links if low[at : at + len(words)] == words), None)


def _phrase(
    context: TurnContext, parsed: ParsedSentence, at: int, kinds: tuple[str, ...]
) -> tuple[Mention, int] | None:
    """Return the mention of a thing as one of some types, and the word after it."""
    phrase = parsed.phrase_at(at)
    low = parsed.sentence.low
    if phrase is None and low[at : at + 1] and low[at] in context.patterns.names:  # "uv rather than pip"
        kind = context.patterns.names[low[at]]
        return context.findings.mention(kind, *parsed.sentence.span(at, at + 1)), at + 1
    if phrase is None or phrase.vague:
        return None
    words = low[phrase.first : phrase.last]
    known = context.types.of(context.turn.text[slice(*parsed.sentence.span(phrase.first, phrase.last))])
    fitting = [kind for kind in (known, *context.patterns.types_of_words(words)) if kind in kinds]
    kind = fitting[0] if fitting else kinds[0]
    return context.findings.mention(kind, *parsed.sentence.span(phrase.first, phrase.last)), phrase.after


def _state(context: TurnContext, parsed: ParsedSentence, source: Mention, name: str, target: Mention) -> None:
    context.findings.relate(source, name, target, Meaning("holds"), None, parsed.sentence, 0.85, name)
