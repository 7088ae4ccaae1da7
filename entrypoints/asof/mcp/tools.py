"""Tools: what an agent can call, with its arguments, its answer and what it needs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from mcp.types import Tool as ListedTool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, TypeAdapter

from asof.mcp.answers import Moments, ToolAnswer
from asof.mcp.apps import URI
from asof.mcp.arguments import Arguments, schema_of
from asof.mcp.confirmations import Confirmation
from asof.mcp.scope import ClientScope
from asof.mcp.text import with_times
from asof.operations.queries import ModelBudget
from asof.operations.service_answers import reached_by
from asof.operations.times import to_datetime
from asof.service.api_keys import Permission
from asof.service.service import Service

G = TypeVar("G", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Access:
    """What a call works on: the service, the scope, what models may cost each group, and what the client can.

    settings_not_used: those of the client that are others in the process that serves it. schema: the ontology that its
    messages are read with; None: the memory's own.
    """

    served: Service
    scope: ClientScope
    budget: ModelBudget
    confirmation: Confirmation
    shows_apps: bool
    settings_not_used: tuple[str, ...] = ()
    schema: str | None = None


class Reply(NamedTuple):
    """An answer as structured content and as text, and a picture for clients that show apps."""

    answer: BaseModel
    text: str
    picture: str | None = None
    is_error: bool = False

    def with_times(self, instants: Mapping[str, int]) -> "Reply":
        """Return the reply with the times of its call."""
        if not instants or not isinstance(self.answer, ToolAnswer):
            return self
        answer = self.answer.model_copy(
            update={"times": {name: to_datetime(instant) for name, instant in instants.items()}}
        )
        return self._replace(answer=answer, text=with_times(self.text, answer))


@dataclass(frozen=True)
class Tool(Generic[G]):
    """A tool, by the name and with the arguments that clients see."""

    name: str
    description: str
    arguments: type[G]
    answer: type[BaseModel]
    run: Callable[[Access, G], Awaitable[Reply]]
    needs: Permission = Permission.READ
    destructive: bool = False
    idempotent: bool = False
    pictured: bool = False

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the structured content."""
        return TypeAdapter(self.answer).json_schema(mode="serialization")

    def listed(self, *, whole: bool, grouped: bool, with_app: bool = False) -> ListedTool:
        """Return the tool as a list has it.

        whole: with the quiet arguments. grouped: with those that name groups. with_app: with the app that shows it.
        """
        left_out = frozenset() if whole else self.arguments.QUIET
        if not grouped:
            left_out |= {"group_id", "group_ids"}
        return ListedTool(
            name=self.name,
            description=self.description,
            input_schema=schema_of(self.arguments, left_out),
            output_schema=self.output_schema,
            annotations=self._annotations,
            _meta={"ui": {"resourceUri": URI}} if with_app and self.pictured else None,
        )

    @property
    def _annotations(self) -> ToolAnnotations:
        if self.needs is Permission.READ:
            return ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return ToolAnnotations(
            read_only_hint=False,
            destructive_hint=self.destructive,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
        )


TOOLS: Final[dict[str, Tool[Any]]] = {}
"""Every tool by its name, once the modules that have them are imported."""


def tool(
    arguments: type[G],
    answer: type[BaseModel],
    *,
    needs: Permission = Permission.READ,
    destructive: bool = False,
    idempotent: bool = False,
    pictured: bool = False,
) -> Callable[[Callable[[Access, G], Awaitable[Reply]]], Tool[G]]:
    """Make a function of access and arguments a tool, named as it is, whose docstring is the description."""

    def made(run: Callable[[Access, G], Awaitable[Reply]]) -> Tool[G]:
        async def timed(access: Access, asked: G) -> Reply:
            return (await run(access, asked)).with_times(asked.times())

        name = getattr(run, "__name__", "")
        description = " ".join((run.__doc__ or "").split())
        found = Tool(name, description, arguments, answer, timed, needs, destructive, idempotent, pictured)
        TOOLS[name] = found
        return found

    return made


def shown_fields(model: BaseModel) -> dict[str, Any]:
    """Return an answer as JSON's own types."""
    return model.model_dump(mode="json")


async def shared_fields(access: Access, groups: Sequence[str]) -> dict[str, Any]:
    """Return what every answer has: its groups, and the moments that it is of."""
    reached = await access.served.ask(partial(reached_by, groups=groups))
    return {"group_ids": tuple(groups), "as_of": Moments.of(reached._replace(valid=None))}
