"""A chat of one group as it grows: people and names return, statements are repeated and corrected, some say nothing.

Three people talk for a while, then three others. After n messages n^0.7 people can have spoken, of three times n^0.6
names of each kind, the earlier ones more often: most of what is said is of what is known, and few slots have a long
history. Of a hundred messages a tenth says again what was said at any time before, and a tenth corrects the one before
it of the same speaker, if there was one a moment ago; of the others three of five state something.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from bench.synthetic import MONTHS, draw, invented

GROUP: Final = "story"
_TURNS: Final = 20  # of three people, until others talk
_STATED: Final = (
    "I moved to {place} in {month}.", "My sister {person} works at {company}.", "{person} lives in {place}.",
    "I started working at {company} two weeks ago.", "{person} and I went to {place} last weekend!", "I love {thing}.",
    "I no longer work at {company}.", "We decided to use {thing} for the project.", "I live in {place}.",
    "I met {person} in {place} in {year}.", "I don't like {thing} any more, to be honest.",
    "{person} works at {company} now.", "My brother lives in {place}.", "I bought {thing} for {number} euros.",
)  # fmt: skip
_IDLE: Final = (
    "Had a long day, nothing much to tell.", "Have you ever been to {place}?", "Thanks! See you tomorrow then.",
    "That sounds lovely, tell me more about it.", "What do you think about {thing}?", "Ok, at {number} then.",
    "Did {person} call you back about {company}?",
)  # fmt: skip
_CORRECTED: Final = ("company", "place", "thing")  # the first of these that a statement names
_BEGAN: Final = datetime(2020, 1, 1, tzinfo=UTC)
_WHOLE: Final = 2**32  # what is drawn is below it


_invented = lru_cache(100_000)(invented)


def speaker(number: int) -> str:
    return _invented("speaker", number)


def speakers(messages: int) -> int:
    """Return how many people can have spoken after so many messages."""
    return 3 + int(messages**0.7)


def lines(numbers: Iterable[int]) -> Iterator[bytes]:
    """Yield messages by their numbers, as JSON lines."""
    for number in numbers:
        who, text = _said(number)
        line = {
            "group_id": GROUP,
            "role": who,
            "role_type": "user",
            "content": text,
            "timestamp": (_BEGAN + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        yield json.dumps(line).encode() + b"\n"


def _said(number: int) -> tuple[str, str]:
    """Return who says what."""
    drawn = draw("how", number)
    how, earlier = next(drawn) % 100, next(drawn)
    if how < 10:
        number = earlier % (number + 1)
    who, form, words = _worded(number)
    if 10 <= how < 20 and number % _TURNS:
        before, said, old = _worded(number - 1)
        named = next((kind for kind in _CORRECTED if f"{{{kind}}}" in said), None)
        if before == who and said in _STATED and named:
            return who, f"It was {words[named]}, not {old[named]}."
    return who, form.format(**words)


def _worded(number: int) -> tuple[str, str, dict[str, str]]:
    """Return who would say in which form what by the place of a message alone, and the words for every form."""
    scene, drawn = draw("scene", number // _TURNS), draw("said", number)
    talking = [next(scene) * speakers(number - number % _TURNS) // _WHOLE for _ in range(3)]
    who, what, which, person, place, company, thing, much = (next(drawn) for _ in range(8))
    forms = _STATED if what % 5 < 3 else _IDLE
    words = {
        "person": _named("person", person, number),
        "place": _named("place", place, number),
        "company": f"{_named('company', company, number)} Ltd",
        "thing": _named("thing", thing, number),
        "month": MONTHS[much % 12],
        "year": str(1990 + much % 30),
        "number": str(2 + much % 900),
    }
    return speaker(talking[who % 3]), forms[which % len(forms)], words


def _named(kind: str, drawn: int, number: int) -> str:
    """Return one of the names that can have been said by then, an early one more often."""
    return _invented(kind, (10 + int(3 * number**0.6)) * drawn**2 // _WHOLE**2)
