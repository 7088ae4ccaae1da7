"""The bodies of our own routes: what is sent to those that write, and errors. Answers are those of the operations."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from asof_projections.model.queries import DEFAULT_GROUP, GroupId
from asof_streams.messages import AnyMessage, FactStatement, accept

_MOST = 1_000  # statements of one request


class Statements(BaseModel):
    """Structured facts of one group, in the order in which they are stated."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    group_id: GroupId = DEFAULT_GROUP
    statements: list[dict[str, Any]] = Field(
        min_length=1,
        max_length=_MOST,
        description="Each has the fields of a line of `asof import`.",
        examples=[[{"subject": "Ana", "relation": "lives_in", "object": "Berlin", "valid_at": "2024-03-01T00:00:00Z"}]],
    )

    def messages(self) -> list[AnyMessage]:
        """Return the messages that state them. InvalidInput names the number of the statement and the field."""
        return [accept(FactStatement, {**fields, "group_id": self.group_id}) for fields in self.statements]


class Stated(BaseModel):
    """The places of statements on the log."""

    positions: list[int] = Field(examples=[[17]], description="In the messages log; on Kafka their offsets.")


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no fact has the id x"])
    field: str | None = Field(
        None,
        description="The dotted path of what is wrong in what was sent, where it is one field.",
        examples=["about"],
    )
