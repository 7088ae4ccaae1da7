"""The attributes that an entity type declares: what may be wrong with them, in a file or in a message."""

from collections.abc import Iterator
from typing import Final

from asof_ontologies.cues import parse_cue
from asof_ontologies.model import AttributeType, EntityType

_SUMMARY: Final = "summary"

Problem = tuple[tuple[str | int, ...], str]  # the path of keys and indexes, and the remedy


def attribute_problems(kind: EntityType) -> Iterator[Problem]:
    """Yield what is wrong with the attributes of a type: the place within them, and the remedy, which names none."""
    if kind.literal and kind.attributes:
        yield (), "a value has no attributes: leave them out"
    names = [attribute.name for attribute in kind.attributes]
    for index, attribute in enumerate(kind.attributes):
        if attribute.name in names[:index]:
            yield (index, "name"), "this name is defined twice: keep one"
        for where, remedy in _problems(attribute):
            yield (index, *where), remedy


def _problems(attribute: AttributeType) -> Iterator[Problem]:
    if attribute.name == _SUMMARY:
        yield ("name",), f"{_SUMMARY!r} is what a producer gives with an entity: choose another name"
    if attribute.choices and attribute.kind != "text":
        yield ("choices",), "choices are text: leave the kind or the choices out"
    for at, choice in enumerate(attribute.choices):
        if choice != " ".join(choice.casefold().split()) or not choice:
            yield ("choices", at), "write it in lower case, without spaces around it"
    for at, text in enumerate(attribute.cues):
        try:
            cue = parse_cue(text)
        except ValueError as error:
            yield ("cues", at), str(error)
            continue
        if cue.reversed or cue.takes or cue.verb == "*":
            yield ("cues", at), 'write a verb and words, as in "<weigh>": the value comes last, and its kind says what'
