"""The base of the bodies of our own routes. Graphiti's ignore unknown fields, as Graphiti does."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from asof.operations.queries import unknown


class Body(BaseModel):
    """A body that may have no unknown field: the refusal names it, and the nearest known one."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, fields: Any) -> Any:
        for name in fields if isinstance(fields, dict) else ():
            if name not in cls.model_fields:
                raise ValueError(str(unknown(name, cls.model_fields)))
        return fields
