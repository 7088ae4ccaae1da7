"""The base of the bodies of our own routes, and a field of answers. Graphiti's bodies ignore unknown fields."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from asof.operations.answers import Outcome
from asof.operations.queries import unknown

Outcomes = Annotated[
    list[Outcome] | None,
    Field(description="With `wait` alone: what became of each.", exclude_if=lambda outcomes: outcomes is None),
]


class Body(BaseModel):
    """A body that may have no unknown field: the refusal names it, and the nearest known one."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, fields: Any) -> Any:
        known = {field.alias or name: field for name, field in cls.model_fields.items()}
        for name in fields if isinstance(fields, dict) else ():
            if name not in known:
                raise unknown(name, known)
        return fields
