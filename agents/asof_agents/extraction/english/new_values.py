"""New values: words of a sentence that may stand in the place of an old value, since they are of its kind."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from asof_agents.extraction.english.change_words import ONCE
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.frame_values import TITLES, closes
from asof_agents.extraction.english.lexicon import ADVERBS, DETERMINERS, ORNAMENTS, UNSURE_FROM
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.negations import is_denied
from asof_agents.extraction.english.numerals import DAYS
from asof_agents.extraction.english.quantities import STREETS, WEEKDAYS, Value, address_at, value_at
from asof_agents.extraction.english.times.lexer import may_tell_time
from asof_agents.extraction.english.word_roots import PLAIN, SIGNALS, roots, roots_of
from asof_agents.extraction.ports import Relationship

HARD: Final = frozenset(  # words that put something in another's place, or say that it is otherwise now
    "anymore changed days ditched gave given instead longer made moved now promoted put renamed replaced skipping "
    "stepped stopped swapped switched taken took".split()
)
_TO: Final = frozenset(  # words before a new value
    "= : adopted am are as at became booked bought by called chose dating drinking drive driving eating for got "
    "have has hired in into is it joined love met named new now on onto picked playing reading seeing started "
    "studying to using watching with".split()
)
_FROM: Final = frozenset(  # words before an old one
    "because cancelled canceled ditched dropped from gave instead left not of over quit replaced rid rip skipping "
    "sold than was were without".split()
)
_NOT_NEW: Final = frozenset({"from", "than", "over", "not", "by", "was", "were"})
_STRONG: Final = frozenset({"to", "now", "with", "on", "at", "doing"})
_PUT: Final = frozenset(
    {("made", "me"), ("taken", "up"), ("took", "up"), ("picked", "up"), ("as", "a"), ("as", "an"), ("in", "the")}
)
_PAINTED: Final = frozenset({"dyed", "painted", "coloured", "colored", "turned"})
_PUTTING: Final = HARD | _PAINTED
_NO_NOUNS: Final = PLAIN - DETERMINERS
_SHIFTS: Final = frozenset("back changed gone made moved promoted stepped swapped switched transferred went".split())
_APPOSING: Final = frozenset({",", ":"})  # "my new boss: Priya"
_AFTER: Final = (  # words after a new value
    ("has", "taken"), ("took", "over"), ("is", "taking"), ("'s", "taking"), ("is", "my"), ("is", "our"), ("is", "the"),
    ("have", "overtaken"), ("has", "overtaken"), ("already",), ("instead",), ("now",), ("it", "is"), ("is", "now"),
    ("'s", "my"), ("'s", "our"), ("is", "running"), ("'s", "running"), ("'s", "doing"), ("is", "handling"),
)  # fmt: skip
_ASIDE: Final = (
    ADVERBS | ORNAMENTS | frozenset("a an the my our this used guy dr mr mrs ms . called".split())
)  # between the word before a name and the name
_NOT: Final = frozenset({"not", "never"})
_NO_VALUE: Final = UNSURE_FROM | ONCE | _NOT
_BREAKS: Final = frozenset({"but", ",", ";", ":", "so", "and", "-"})
_BACK: Final = 6  # words before a value among which a thought or a wish makes it unsure
_COUNTS: Final = frozenset("two three four five six seven eight nine ten eleven twelve".split())
_COUNTED: Final = _COUNTS | WEEKDAYS
_ROLES: Final = ("boss", "doctor", "manager", "owner", "lead")
_MONEY: Final = re.compile(r"[$€£¥]|\b(?:bucks|dollars?|euros?|pounds?|quid|k)\b")
_FIGURE: Final = re.compile(r"\d[\d.,:]*")
_MARKED: Final = re.compile(rf"[$€£¥@]|\b(?:{'|'.join(sorted(_COUNTED))})\b", re.IGNORECASE)
_CODE: Final = re.compile(r"\S+@\S+|(?=\S*\d)(?=\S*[a-z])[\w.:+/-]{4,}")
_CLOCK: Final = re.compile(r"\d:\d\d|\b\d+ ?(?:am|pm|a\.m|p\.m)|^\d+$|noon|midnight|o'clock")

_DAY: Final = re.compile(r"[a-z]{3}|\d/\d|\d(?:st|nd|rd|th)")


@dataclass(frozen=True, slots=True)
class NewValue:
    """Words [first, last) that may be a new value; `sure`: a word beside them puts them there."""

    first: int
    last: int
    sure: bool


def is_exact(old: Relationship) -> bool:
    """Whether an old value is a number, a time, an address or a code: another of its kind is hardly another thing."""
    text = old.target.text
    return (
        old.target.type in {"Date", "Age"}
        or _FIGURE.match(text.lstrip("$€£¥v")) is not None
        or _CODE.fullmatch(text) is not None
        or text.lower() in _COUNTS
    )


def may_be_exact(text: str) -> bool:
    """Whether a text has words that may be an exact value, as is_exact has it."""
    return may_tell_time(text) or _MARKED.search(text) is not None


def may_put(parsed: ParsedSentence) -> bool:
    """Whether a sentence may put words that are no exact value in the place of others, whatever those are."""
    low = parsed.sentence.low
    if SIGNALS.isdisjoint(low):
        return False
    if any(_is_led(parsed, name) for name in parsed.names.values()):
        return True
    painted = not _PAINTED.isdisjoint(low)
    return painted or (not HARD.isdisjoint(low) and any(_puts(low, at) for at in range(1, len(low))))


def _is_led(parsed: ParsedSentence, name: NameSpan) -> bool:
    """Whether the words around a name may put it in the place of another."""
    low, first = parsed.sentence.low, _led_from(parsed, name)
    before = low[first - 1] if first else ""
    return not name.spoken_to and (before in _TO or before in _APPOSING or _is_followed(low, name.last))


def new_value(context: TurnContext, parsed: ParsedSentence, old: Relationship, about: set[str]) -> NewValue | None:
    """Return the likeliest new value for an old one, of the attribute whose roots are `about`; None: there is none."""
    exact = is_exact(old)
    found = _exact(context, parsed, old) if exact else _named(context, parsed, old, about)
    fitting = [each for each in found if _fits(context, parsed, each, old, about, exact=exact)]
    return next((each for each in fitting if each.sure), fitting[0] if fitting and exact else None)


def _exact(context: TurnContext, parsed: ParsedSentence, old: Relationship) -> Iterator[NewValue]:
    low, at = parsed.sentence.low, 0
    coded = _CODE.fullmatch(old.target.text)
    while at < len(low):
        value = address_at(parsed, at)
        if value is None and coded and _CODE.fullmatch(low[at]):
            value = Value("code", at, at + 1)
        if value is None and (low[at][0] in "$€£¥0123456789" or at in parsed.timed or low[at] in _COUNTED):
            value = value_at(context, parsed, at)
        if value is None or value.last <= at:
            at += 1
            continue
        after_to = (each + 1 for each in range(value.last - 1, value.first, -1) if low[each] == "to")
        first = next(after_to, value.first)  # "from Friday to Wednesday"
        before = low[first - 1] if first else ""
        if before not in _NOT_NEW:
            yield NewValue(first, value.last, before in _TO or before in {"up", "down"})
        at = value.last


def _named(context: TurnContext, parsed: ParsedSentence, old: Relationship, about: set[str]) -> Iterator[NewValue]:
    low = parsed.sentence.low
    context.timed(parsed, ahead=False)
    for name in parsed.names.values():
        first = _led_from(parsed, name)
        before = low[first - 1] if first else ""
        if not name.spoken_to and before not in _FROM and low[name.first].rstrip("s") not in DAYS:
            apposed = before in _APPOSING and first > 1 and not about.isdisjoint(roots(low[first - 2]))
            after = apposed or _is_followed(low, name.last)
            titled = name.first - (low[name.first - 1] == ".") - 1
            begin = titled if titled >= 0 and low[titled] in TITLES else name.first
            begin -= begin > 1 and parsed.sentence.raw[begin - 1] == "The"
            yield NewValue(begin, name.last, before in _TO or after)
    if _PUTTING.isdisjoint(low) or not (old.target.text[:1].islower() or old.target.type == "Value"):
        return
    for at in range(1, len(low)):
        painted = not about.isdisjoint(roots(low[at - 1])) and not _PAINTED.isdisjoint(low[max(0, at - _BACK) : at])
        if low[at] in _NO_NOUNS or not (painted or _puts(low, at)):
            continue
        phrase = parsed.phrase_at(at)
        if phrase and not phrase.name and not phrase.vague and closes(low, phrase.after):
            yield NewValue(phrase.first, phrase.last, sure=True)


def _led_from(parsed: ParsedSentence, name: NameSpan) -> int:
    """Return the first word of a name with its adjectives and titles, before which stands what leads to it."""
    low, first = parsed.sentence.low, name.first
    while first and low[first - 1] in _ASIDE:
        first -= 1
    return first


def _is_followed(low: tuple[str, ...], at: int) -> bool:
    """Whether the words after a name put it in another's place: "Priya took over"."""
    return any(low[at : at + len(words)] == words for words in _AFTER)


def _puts(low: tuple[str, ...], at: int) -> bool:
    """Whether the words before a noun put it in another's place: "switched to decaf", "now on decaf"."""
    if low[at - 1] == "to" and _SHIFTS.isdisjoint(low[max(0, at - _BACK) : at]):
        return False  # "to know"
    return (
        low[at - 1] in _STRONG
        or low[max(0, at - 2) : at] in _PUT
        or (low[at - 1] in {"is", "'s", "am", "doing"} and low[at] in {"a", "an"})
    )


def _fits(
    context: TurnContext, parsed: ParsedSentence, new: NewValue, old: Relationship, about: set[str], *, exact: bool
) -> bool:
    """Whether words are a value of the kind of the old one, and are said for sure."""
    low, begin = parsed.sentence.low, new.first
    while begin and new.first - begin < _BACK and low[begin - 1] not in _BREAKS:
        begin -= 1
    if not _NO_VALUE.isdisjoint(low[begin : new.first]) or is_denied(low, new.first):
        return False
    text = context.turn.text[slice(*parsed.sentence.span(new.first, new.last))]
    before, now = old.target.text.casefold(), text.casefold()
    if exact:
        return before != now and _alike(before, now, old.target.type)
    if now in before or before in now or roots_of(text) <= about:
        return False
    kind = context.types.of(text)
    if old.target.type == "Value":
        return kind != "Person" or any(role in old.relation for role in _ROLES)
    return kind in {None, old.target.type}


def _alike(old: str, new: str, kind: str) -> bool:
    """Whether two exact values are of one kind: both money, both hours, both with the same unit."""
    if ("@" in old) != ("@" in new):
        return False
    if _CODE.fullmatch(old) and _CODE.fullmatch(new):
        return True
    if kind == "Date":
        dated = _CLOCK.search(new) is not None or _DAY.search(new) is not None
        return dated and (_CLOCK.search(old) is None) == (_CLOCK.search(new) is None)
    streets = [each.rsplit(maxsplit=1)[-1] in STREETS for each in (old, new)]
    if any(streets):
        return all(streets)
    cash = [_MONEY.search(each) is not None for each in (old, new)]
    if cash[0] != cash[1] and not (old + new).isdigit():
        return False
    units = [_FIGURE.sub("", each).split() for each in (old, new)]
    heads = [each[0].rstrip("s") if each else "" for each in units]
    return cash[0] or not all(heads) or heads[0] == heads[1]
