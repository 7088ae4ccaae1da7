"""The extraction options of a message: the shapes of their fields. Extraction decides what they mean."""

from functools import partial
from operator import is_, not_
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag
from pydantic.config import JsonDict

MAX_TYPES: Final = 100  # of one kind, in one message: each of them lengthens the model's prompt
MAX_ATTRIBUTES: Final = 20  # of one type
MAX_PREVIOUS: Final = 20  # episodes as context for one message
_NAME: Final = 64  # characters
_DESCRIPTION: Final = 500  # characters

ONTOLOGY_PATTERN: Final = "^[a-z][a-z0-9_]{0,63}$"
NO_ONTOLOGY: Final = "it must be letters, digits and _, in lower case, as agent_memory_v1"
OntologyId = Annotated[str, StringConstraints(pattern=ONTOLOGY_PATTERN)]
_TYPE: Final = "^[A-Z][A-Za-z]*$"
_ATTRIBUTE: Final = "^[a-z][a-z0-9]*(_[a-z0-9]+){0,5}$"
_RELATION: Final = "^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
NO_OPTION: Final = {  # what is wrong with a name that does not fit its pattern
    _TYPE: "it must be letters and begin with a capital, as Person",
    _ATTRIBUTE: "it must be up to six words in lower case with _ between them, as job_title",
    _RELATION: "it must be letters and digits in lower case with _ between them, as lives_in",
    r"\S": "it must not be empty",
}
TypeName = Annotated[str, StringConstraints(pattern=_TYPE, max_length=_NAME)]
AttributeName = Annotated[str, StringConstraints(pattern=_ATTRIBUTE, max_length=_NAME)]
Choice = Annotated[str, StringConstraints(pattern=r"\S", max_length=_NAME)]
RelationName = Annotated[str, StringConstraints(pattern=_RELATION, max_length=_NAME)]
Description = Annotated[str, StringConstraints(pattern=r"\S", max_length=_DESCRIPTION)]
unset: Final = not_  # whether an option has its default, so that it is left out; in C: each event asks for several
absent: Final = partial(is_, None)  # the same of a number, which may be 0
EpisodeId = Annotated[str, StringConstraints(pattern=r"\S", max_length=1_000)]


class TypeAttribute(BaseModel):
    """A quality that entities of a type have: one value each, of a kind, or one of some choices."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: AttributeName
    means: Description
    kind: Literal["text", "number", "date"] = "text"
    choices: list[Choice] = Field(default=[], max_length=MAX_TYPES)


class TypeSchema(BaseModel):
    """An entity type with its attributes, in the words of an ontology's file."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    description: Description
    attributes: list[TypeAttribute] = Field(max_length=MAX_ATTRIBUTES)


class RelationPair(BaseModel):
    """Two entity types and the relations that may lead from `source` to `target`; `Entity` means any type."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    source: TypeName
    target: TypeName
    relations: list[RelationName] = Field(min_length=1, max_length=MAX_TYPES)


_NO_OTHER: Final[JsonDict] = {"additionalProperties": False}  # pydantic checks the keys; the JSON schema must say so
_DESCRIBED, _SCHEMA = "text", "schema"


def _form(type_: Any) -> str:
    """Return the form of an entity type, so that what is wrong in it is said of that one."""
    return _DESCRIBED if isinstance(type_, str) else _SCHEMA


EntityType = Annotated[
    Annotated[Description, Tag(_DESCRIBED)] | Annotated[TypeSchema, Tag(_SCHEMA)], Discriminator(_form)
]
EntityTypes = Annotated[dict[TypeName, EntityType], Field(max_length=MAX_TYPES, json_schema_extra=_NO_OTHER)]
ExcludedTypes = Annotated[list[TypeName], Field(max_length=MAX_TYPES)]
RelationTypes = Annotated[dict[RelationName, Description], Field(max_length=MAX_TYPES, json_schema_extra=_NO_OTHER)]
RelationTypeMap = Annotated[list[RelationPair], Field(max_length=MAX_TYPES)]
EpisodeIds = Annotated[list[EpisodeId], Field(max_length=MAX_PREVIOUS)]
