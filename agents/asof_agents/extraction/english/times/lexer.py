"""Cuts a text into typed tokens by the lexicon of time; any other word is a token of kind `word`."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from string import ascii_lowercase
from typing import Any, Final

from asof_agents.extraction.english.times.calendar_spans import HOLIDAYS, Span, at, granule, quarter_of
from asof_agents.extraction.english.times.lexicon import LEXICON, NAMES_TOO, ORDINALS, WORDS_TOO
from asof_agents.extraction.english.times.rewriting import Token
from asof_agents.extraction.english.times.when import Clock, When
from asof_streams.messages import Grain

YEARS: Final = range(1500, 2200)
_HOLIDAYS: Final = {name.replace("'", ""): span for name, span in HOLIDAYS.items()}

_TOKEN: Final = re.compile(
    r"""(?<!\d)(?=[\dq'])(?:
      (?P<stamp>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)
    | (?P<ymd>\d{4}(?P<sep>[-/.])\d{1,2}(?P=sep)\d{1,2})
    | (?P<mdy>\d{1,2}/\d{1,2}/(?:\d{4}|\d\d))
    | (?P<dmy>\d{1,2}\.\d{1,2}\.\d{4})
    | (?P<ym>\d{4}[-/](?:1[0-2]|0?[1-9]))
    | (?P<my>(?:1[0-2]|0?[1-9])/\d{4})
    | (?P<yq>(?:\d{4}|\d\d)?q[1-4])
    | (?P<clock>(?:2[0-4]|[01]?\d):[0-5]\d(?::[0-5]\d)?)
    | (?P<hours>(?:2[0-4]|[01]?\d)h(?:[0-5]\d)?)
    | (?P<slashed>\d{1,2}/\d{1,2})(?!/)
    | (?P<ordinal>\d{1,2}(?:st|nd|rd|th))
    | (?P<decade>(?:1[5-9]|20|')?\d0s)
    | (?P<decimal>\d{1,3}\.\d)
    | (?P<number>\d{1,4})
    )(?!\d)
    | (?=[tf])(?P<compound>(?:twenty|thirty|forty|fifty)[-\s](?:one|two|three|four|five|six|seven|eight|nine|(?:"""
    + "|".join(ORDINALS[:9])
    + r"""))\b)
    | (?=["""
    + "".join(sorted({name[0] for name in HOLIDAYS}))
    + r"""])(?P<holiday>\b(?:"""
    + "|".join(re.escape(name).replace("'", "['’]?") for name in sorted(HOLIDAYS, reverse=True))
    + r""")\b)
    | (?P<meridian>(?<=[\d\s])[ap](?:\s?m\b|\.\s?m\b\.?)|(?<=\d)[ap]\b\.?)
    | (?P<word>week-end\b|[^\W\d_]+(?:['’][^\W\d_]+)?)
    | (?P<comma>,)
    | (?P<dash>[-–—])
    | (?P<at>@)
    | (?P<other>\d+|\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GLUED: Final = [{figure, word} for figure in ("number", "decimal", "year") for word in ("word", "name", "things")]
_MARKS: Final = frozenset({"dash", "other"})
_PLURAL: Final = re.compile(r"[^\W\d_]{3,}[^siu\W]s")  # a plural: "2000 words" is no year
_ENDINGS: Final = ("'s", "ish")
_FIGURE: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[a-z]+")
_TRIGGER_KINDS: Final = frozenset(
    "month weekday weekdays unit quarter part season seasons weekend today tonight noon now shorthand".split()
)
_TIME_WORDS: Final = frozenset(
    [word for word, (kind, _) in LEXICON.items() if kind in _TRIGGER_KINDS]
    + ["week", "clock", "oclock", "past"]  # of "week-end", "seven o'clock", "half past seven"
)
_TRIGGERS: Final = frozenset(word.encode() for word in _TIME_WORDS) | {
    words[0].encode()  # most holidays have a word of time: "Good Friday", "New Year's Eve"
    for words in map(_WORD.findall, HOLIDAYS)
    if _TIME_WORDS.isdisjoint(words)
}
_LETTERS: Final = bytes(byte if chr(byte) in ascii_lowercase else ord(" ") for byte in range(256))


def _stamp(text: str) -> tuple[str, Any]:
    moment = datetime.fromisoformat(text.upper())
    clock = Clock(moment.hour, moment.minute, moment.second, "second" if text.count(":") > 1 else "minute")
    return "when", When(
        within=granule(at(moment.year, moment.month, moment.day), "day"), clock=clock, zone=moment.utcoffset()
    )


def _date(order: str, text: str) -> tuple[str, Any]:
    parts = dict(zip(order, map(int, re.split(r"\D", text)), strict=True))
    year, month, day = parts["y"], parts["m"], parts.get("d", 0)
    if month > 12:
        month, day = day, month
    year += 0 if year > 99 else 2000 if year < 70 else 1900
    return "when", When(within=granule(at(year, month, day), "day") if day else granule(at(year, month), "month"))


def _quarter(text: str) -> tuple[str, Any]:
    year, quarter = text.split("q")
    named = When(yearly=partial(quarter_of, int(quarter)))
    return "when", replace(named, year=int(year) + 2000 * (len(year) == 2)) if year else named


def _clock(text: str) -> tuple[str, Any]:
    hour, *rest = map(int, text.split(":"))
    grain: Grain = "second" if len(rest) > 1 else "minute"
    minute, second = (*rest, 0)[:2]
    return "figures", Clock(hour % 24, minute, second, grain, half=0 < hour <= 12)


def _hours(text: str) -> tuple[str, Any]:
    hour, minute = text.split("h")
    return ("clock" if minute else "hours"), Clock(int(hour) % 24, int(minute or 0), grain="minute")


def _decade(text: str) -> tuple[str, Any]:
    first = int(text.strip("'s")) + 1900 * (len(text.strip("'s")) == 2)
    return "decade", Span(at(first), at(first + 10), "year")


def _number(text: str) -> tuple[str, Any]:
    number = int(text)
    return ("year" if len(text) == 4 and number in YEARS else "number"), number


def _compound(text: str) -> tuple[str, Any]:
    tens, unit = re.split(r"[-\s]", text)
    kind, value = ("ordinal", ORDINALS.index(unit) + 1) if unit in ORDINALS else LEXICON[unit]
    return kind, LEXICON[tens][1] + value


_FIGURES: Final[dict[str, Callable[[str], tuple[str, Any]]]] = {
    "stamp": _stamp,
    "ymd": partial(_date, "ymd"),
    "mdy": partial(_date, "mdy"),
    "dmy": partial(_date, "dmy"),
    "ym": partial(_date, "ym"),
    "my": partial(_date, "my"),
    "yq": _quarter,
    "clock": _clock,
    "hours": _hours,
    "slashed": lambda text: ("slashed", tuple(map(int, text.split("/")))),
    "ordinal": lambda text: ("ordinal", int(text[:-2])),
    "decade": _decade,
    "decimal": lambda text: ("decimal", float(text)),
    "number": _number,
    "compound": _compound,
    "holiday": lambda text: ("holiday", When(yearly=_HOLIDAYS[text.replace("'", "")])),
    "meridian": lambda text: ("meridian", 12 * (text[0] == "p")),
}


def may_tell_time(text: str) -> bool:
    """Whether a text has any figure or word of time: a cheap test before the grammar runs."""
    if _FIGURE.search(text) is not None:
        return True
    letters = text.lower().encode("ascii", "replace").translate(_LETTERS)  # of every sentence: in a fifth of the time
    return not _TRIGGERS.isdisjoint(letters.split())  # that a regular expression takes


def tokens(text: str, start: int, end: int, *, lenient: bool) -> list[Token]:
    """Return the tokens of text[start:end], in order. lenient: every word that may be a word of time is one."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text, start, end):
        kind, value = _read(match, lenient=lenient)
        if kind == "hedge" or (kind in _MARKS and _is_part_of_the_word(match[0], found, lenient=lenient)):
            continue
        first, last = match.span()
        if found and found[-1].end == first and {found[-1].kind, kind} in _GLUED:  # "5k", "B12"
            found[-1] = Token("word", None, found[-1].start, last)
        else:
            found.append(Token(kind, value, first, last))
    return found


def _is_part_of_the_word(mark: str, before: list[Token], *, lenient: bool) -> bool:
    """Whether a mark is part of the word before: "Sept. 3", "mid-March"; if lenient, also in "9 am (BST)"."""
    if lenient and mark in ".()":
        return True
    if not before or mark not in ".-":
        return False
    last = before[-1]
    if mark == "-":
        return last.kind in ("early", "mid", "late")
    return last.kind in ("month", "maybe_month", "weekday") and last.end - last.start <= len("Sept")


def _read(match: re.Match[str], *, lenient: bool) -> tuple[str, Any]:
    kind, word = match.lastgroup or "", match[0]
    if kind == "word":
        return _word(word, lenient=lenient)
    if kind in _FIGURES:
        text = word.lower().replace("’", "'")
        try:
            return _FIGURES[kind](text)
        except ValueError:  # 2024-13-01
            return "other", None
    return kind, None


@lru_cache(maxsize=4096)  # few words make most of any text
def _word(word: str, *, lenient: bool) -> tuple[str, Any]:
    text = word.lower().replace("’", "'")
    stems = (text, text.removesuffix("'s"), text.removesuffix("ish")) if text.endswith(_ENDINGS) else (text,)
    for stem in stems:
        if stem in LEXICON:
            kind, value = LEXICON[stem]
            if lenient:
                return kind, value
            if kind == "shorthand" and not word.isupper():  # "boy"
                return "word", None
            if word[0].isupper() and stem in NAMES_TOO:
                return ("maybe_" + kind, value) if stem == text else ("name", None)
            if stem in WORDS_TOO:
                return ("hardly_" + kind, value) if kind == "month" else ("word", None)
            return kind, value
    if word[0].isupper() and text != "i":
        return "name", None
    return ("things" if text[-1] == "s" and _PLURAL.fullmatch(text) else "word"), None
