"""Literals of structured facts: numbers as objects, and qualifiers."""

import json
from math import isfinite
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

MAX_WHOLE: Final = 2**53  # up to here every reader of JSON holds whole numbers exactly
MAX_QUALIFIERS: Final = 32
MAX_QUALIFIER_CHARACTERS: Final = 100
MAX_QUALIFIER_TEXT: Final = 1_000


def one_form(number: float) -> int | float:
    """Return a number in the one form that it is kept in: a whole one up to 2^53 as an int, so that 1.0 is 1.

    ValueError: it is infinite or no number, or a whole number written with more digits than 2^53 has.
    """
    if isinstance(number, int):
        if abs(number) > MAX_WHOLE:
            raise ValueError("a whole number lies between -2^53 and 2^53: state a longer one as a text")
        return number
    if not isfinite(number):
        raise ValueError("it must be a finite number")
    return int(number) if number.is_integer() and abs(number) <= MAX_WHOLE else float(number)


def text_of(number: float) -> str:
    """Return a number as a text, the shortest that means it: `42`, `0.1`, `1e+300`."""
    return json.dumps(one_form(number))


Number = Annotated[int | float, AfterValidator(one_form), WithJsonSchema({"type": "number"})]
QualifierName = Annotated[str, StringConstraints(max_length=MAX_QUALIFIER_CHARACTERS, pattern=r"\S")]
QualifierText = Annotated[str, StringConstraints(max_length=MAX_QUALIFIER_TEXT, pattern=r"\S")]
Qualifiers = Annotated[
    dict[QualifierName, QualifierText | Number],
    Field(max_length=MAX_QUALIFIERS, json_schema_extra={"additionalProperties": False}),
]
