"""Readers of everyday frames, by what a frame takes. Each returns whether the frame states something."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.frame_values import (
    BE,
    CLOSING,
    TITLES,
    Frame,
    FrameMatch,
    Takes,
    address,
    closes,
    name_value,
    quantity,
)
from asof_agents.extraction.english.lexicon import ADVERBS, FIRST_PERSON, ORNAMENTS, VAGUE
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.quantities import Value

_STATUS: Final = frozenset({"single", "divorced", "widowed", "separated"})
_PLANS: Final = frozenset(
    "bus contract deal diet floor line package plan route shift subscription tariff team tier train ward "
    "waitlist".split()
)
_PLACES: Final = frozenset(
    "apartment bay box channel chapter desk episode exit flat floor gate lane level locker page platform port room row "
    "seat season slot spot stall table track unit week".split()
)
_MEDICINE: Final = re.compile(
    r"\w{3,}(?:dine|tine|zine|line|pine|mine|min|prazole|pril|statin|cillin|profen|olol|pam|lin|mycin|zac|sone|zole|xin)"
)
_SERVED: Final = frozenset({"coffee", "tea", "eggs", "steak", "toast", "whisky", "matcha", "espresso"})
_AFTER_TASTE: Final = (ADVERBS | FIRST_PERSON | {"and", "but", "in", "at", "because", "when"}) - {"black"}
_MEALS: Final = frozenset({"breakfast", "lunch", "dinner"})
_PARTS_OF_DAY: Final = _MEALS | {"morning", "mornings", "evening", "evenings"}
_DRINKING: Final = frozenset({"drink", "drinking"})
_NUMBERS: Final = frozenset("one two three four five six seven eight nine ten eleven twelve".split())
_DOSES: Final = frozenset("mg mcg ml g grams units drops puffs tablets pills cups cup hours km miles".split())
_NO_ACTIVITY: Final = VAGUE | frozenset("during morning evening training something anything nothing".split())
_TIMES: Final = frozenset({"once", "twice", "three"})
_ROLE_ENDINGS: Final = ("er", "or", "ist", "lead", "chief", "head")
_AT_WORK: Final = frozenset({"at", "for", "of", "on", "here", "in"})
_SITS: Final = ADVERBS | {"on", "in", "at", "got", "up", "to", "sitting"}
NO_WORDS: Final = CLOSING | VAGUE | {"a", "an", "the", "not"}
_NO_ROLES: Final = NO_WORDS | ORNAMENTS
_PLAN_ENDS: Final = CLOSING | _PLANS
_NO_PLANS: Final = CLOSING | ORNAMENTS


def _attribute(read: Callable[[FrameMatch], Value | None]) -> Callable[[FrameMatch], bool]:
    """Return the reader of an attribute whose value is read so."""

    def reader(match: FrameMatch) -> bool:
        value = read(match)
        return value is not None and match.attribute(value)

    return reader


def _name(match: FrameMatch) -> bool:
    value = name_value(match)
    planned = match.frame.key == "destination" and match.parsed.timed  # a visit
    return value is not None and not planned and match.attribute(value)


def _size(match: FrameMatch) -> bool:
    value = quantity(match) or name_value(match)
    return value is not None and match.attribute(value)


def _titled(match: FrameMatch) -> bool:
    """Read "I see Dr. Lindqvist for my knees"."""
    value = name_value(match)
    return value is not None and match.low[value.first] in TITLES and match.attribute(value)


def _provider(match: FrameMatch) -> bool:
    """Read "I'm with Vodafone", but not "I'm with Sarah"."""
    value = name_value(match)
    if value is None or match.low[value.last : value.last + 1] == ("at",):
        return False
    return match.context.types.of(match.text(value)) == "Organization" and match.attribute(value)


def _relation(match: FrameMatch) -> bool:
    """Read "we live in a flat in Leeds", "I drive a beat up Corolla"."""
    relation, value = match.context.patterns.ontology.relations.get(match.frame.key), name_value(match)
    if relation is None or value is None or match.parsed.timed:
        return False  # what has a time is left to rules that give it one
    fits = match.context.types.of(match.text(value)) in {None, *relation.targets}
    return fits and match.state(relation.name, relation.targets[0], value)


def _model(match: FrameMatch) -> bool:
    """Read "I've got a Pixel 6": a name with a number is a model of something."""
    value, owns = name_value(match), match.context.patterns.ontology.relations.get("owns")
    words = match.low[value.first : value.last] if value else ()
    numbered = len(words) > 1 and any(word[0].isdigit() for word in words)
    return bool(value and owns and numbered) and match.state("owns", "Thing", value)  # type: ignore[arg-type]


def _partner(match: FrameMatch) -> bool:
    value = name_value(match)
    if value is None or "partner_of" not in match.context.patterns.ontology.relations:
        return False
    person = match.context.types.of(match.text(value)) in {"Person", None} and match.low[value.first] not in TITLES
    return person and value.last - value.first <= 2 and match.state("partner_of", "Person", value)


def _status(match: FrameMatch) -> bool:
    low, at = match.low, match.after
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    told = low[at : at + 1] and low[at] in _STATUS and closes(low, at + 1)
    return bool(told) and match.attribute(Value("code", at, at + 1))


def _activity(match: FrameMatch) -> bool:
    """Read "I do bouldering": a gerund that ends its phrase."""
    low, at = match.low, match.after
    at += at < len(low) and low[at] in {"some", "the"}
    word = low[at] if at < len(low) else ""
    if not word.endswith("ing") or len(word) < 6 or word in _NO_ACTIVITY:
        return False
    closed = closes(low, at + 1) or low[at + 1] in _TIMES or at + 1 in match.parsed.timed
    practices = "practices" in match.context.patterns.ontology.relations
    return closed and practices and match.state("practices", "Activity", Value("code", at, at + 1))


def _identity(match: FrameMatch) -> bool:
    """Read "I went vegan in January"."""
    low, at = match.low, match.after
    if at >= len(low) or match.context.patterns.types_of_words((low[at],))[:1] != ("Identity",):
        return False
    return closes(low, at + 1) and match.state("is_a", "Identity", Value("code", at, at + 1))


def _medicine(match: FrameMatch) -> bool:
    low, at = match.low, match.after
    told = at < len(low) and _MEDICINE.fullmatch(low[at]) and closes(low, at + 1)
    return bool(told) and match.attribute(Value("code", at, at + 1))


def _role(match: FrameMatch) -> bool:
    """Read "I'm the shift supervisor at the plant"."""
    low, last = match.low, match.after
    while last < len(low) and last - match.after < 3 and low[last].isalpha() and low[last] not in _NO_ROLES:
        last += 1
    told = last > match.after and low[last : last + 1] and low[last] in _AT_WORK
    return bool(told) and low[last - 1].endswith(_ROLE_ENDINGS) and match.attribute(Value("code", match.after, last))


def _spending(match: FrameMatch) -> bool:
    """Read "I spend 300 euros a month on groceries"."""
    low, value = match.low, quantity(match)
    if value is None or low[value.last : value.last + 1] not in {("for",), ("on",)}:
        return False
    noun = value.last + 1
    noun += noun < len(low) and low[noun] in {"my", "the", "our"}
    if noun >= len(low) or not low[noun].isalpha() or low[noun] in NO_WORDS or not closes(low, noun + 1):
        return False
    return match.attribute(value, f"{low[noun]} budget")


def _meal(match: FrameMatch) -> bool:
    """Read "I drink black tea in the morning", "I have porridge for breakfast"."""
    low, parsed = match.low, match.parsed
    part = parsed.first_of(_PARTS_OF_DAY)
    meal = low[part] if part < len(low) else None
    drinks = low[match.at] in _DRINKING
    phrase = parsed.phrase_at(match.after) if meal else None
    if meal is None or phrase is None or phrase.definite or phrase.own or not closes(low, phrase.after):
        return False
    if low[phrase.first] in _PARTS_OF_DAY or not (drinks or meal in _MEALS):
        return False
    return match.attribute(Value("code", phrase.first, phrase.last), f"{meal} drink" if drinks else meal)


def _taste(match: FrameMatch) -> bool:
    """Read "I take my coffee with milk"."""
    low, last = match.low, match.after + 1
    while last < len(low) and last - match.after < 5 and low[last].isalpha() and low[last] not in _AFTER_TASTE:
        last += 1
    told = match.after < len(low) and low[match.after] in _SERVED and last > match.after + 1
    return told and match.attribute(Value("code", match.after + 1, last), low[match.after])


def _dose(match: FrameMatch) -> bool:
    """Read "I take 50 mg of sertraline": how much of it."""
    low, value = match.low, quantity(match)
    if value is None:
        return False
    noun = value.last + (low[value.last : value.last + 1] == ("of",))
    unit = low[value.unit] if value.unit is not None else ""
    measured = unit in _DOSES or low[value.first].endswith(("mg", "ml", "mcg"))
    if noun >= len(low) or not low[noun].isalpha() or low[noun] in NO_WORDS or not measured:
        return False
    return match.attribute(value, low[noun])


READERS: Final[Mapping[Takes, Callable[[FrameMatch], bool]]] = {
    "activity": _activity,
    "address": _attribute(address),
    "dose": _dose,
    "identity": _identity,
    "meal": _meal,
    "medicine": _medicine,
    "model": _model,
    "money": _attribute(quantity),
    "name": _name,
    "number": _attribute(quantity),
    "partner": _partner,
    "provider": _provider,
    "relation": _relation,
    "role": _role,
    "size": _size,
    "spending": _spending,
    "status": _status,
    "taste": _taste,
    "time": _attribute(quantity),
    "titled": _titled,
}


def on_plan(context: TurnContext, parsed: ParsedSentence, at: int, frame: Frame) -> bool:
    """Read "I'm on the 10 GB plan", "we have the Spotify family plan", "I'm in room 204"."""
    low, begin = parsed.sentence.low, at
    while begin and (low[begin - 1] in ADVERBS or low[begin - 1] == "have"):
        begin -= 1
    if not begin or low[begin - 1] not in FIRST_PERSON:
        return False
    after = at + 1
    while after < len(low) and low[after] in _SITS:
        after += 1
    match = FrameMatch(context, parsed, at, after, frame)
    if low[after : after + 1] in {("the",), ("a",), ("an",)}:
        last = next((each for each in range(after + 2, min(after + 7, len(low))) if low[each] in _PLAN_ENDS), 0)
        if not last or low[last] in CLOSING or not closes(low, last + 1):
            return False
        told = low[last - 1] not in CLOSING and low[after + 1] not in _NO_PLANS
        return told and match.attribute(Value("code", after + 1, last), low[last])
    if after + 1 >= len(low) or low[after] not in _PLACES or not closes(low, after + 2):
        return False
    numbered = low[after + 1][0].isdigit() or low[after + 1] in _NUMBERS
    return numbered and match.attribute(Value("number", after + 1, after + 2), low[after])


def of_us(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "there's 6 of us on the team"."""
    low, amount, number = parsed.sentence.low, context.patterns.values.get("amount"), at - 1
    if (
        amount is None
        or number < 1
        or low[at + 1 : at + 2] != ("us",)
        or low[at + 2 : at + 3] not in {("on",), ("in",)}
    ):
        return
    told = low[number].isalnum() and not BE.isdisjoint(low[max(0, number - 3) : number])
    if not told or at + 4 >= len(low) or low[at + 3] not in {"the", "our"}:
        return
    kinds = context.patterns.types_of_words((low[at + 4],)) or ("Matter",)
    source = context.findings.mention(kinds[0], *parsed.sentence.span(at + 4, at + 5))
    if source.type in amount.sources:
        target = context.findings.mention("Value", *parsed.sentence.span(number, number + 1))
        relation = amount.of_noun("people")
        context.findings.relate(source, relation, target, Meaning("holds"), None, parsed.sentence, 0.85, "of us")
