"""Tools: what an agent can call, with its arguments, its answer and what it needs; and the pages of their lists."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

from mcp.types import Tool as ListedTool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, TypeAdapter

from asof.mcp.answers import Moments
from asof.mcp.apps import URI
from asof.mcp.arguments import Arguments, schema_of
from asof.mcp.confirmations import Confirmation
from asof.mcp.scope import ClientScope
from asof.operations.errors import InvalidInput
from asof.operations.queries import OTHER_QUESTION, Cursor, ModelBudget, numbers_of
from asof.operations.service_answers import reached_by
from asof.service.api_keys import Permission
from asof.service.service import Service

T = TypeVar("T")
G = TypeVar("G", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Access:
    """What a call works on: the service, the scope, what models may cost each group, and what the client can."""

    served: Service
    scope: ClientScope
    budget: ModelBudget
    confirmation: Confirmation
    shows_apps: bool


class Reply(NamedTuple):
    """An answer as structured content and as text, and a picture for clients that show apps."""

    answer: BaseModel
    text: str
    picture: str | None = None


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
        name = getattr(run, "__name__", "")
        description = " ".join((run.__doc__ or "").split())
        found = Tool(name, description, arguments, answer, run, needs, destructive, idempotent, pictured)
        TOOLS[name] = found
        return found

    return made


def page_of(tool_name: str, cursor: str | None) -> Cursor | None:
    """Return the page that a cursor names; None: the first. InvalidInput: it is none that this tool gave."""
    if cursor is None:
        return None
    try:
        page = Cursor.decode(cursor)
    except ValueError as error:
        raise InvalidInput(str(error), field="cursor") from None
    if page.question != tool_name or numbers_of(page, 1)[0] < 0:
        raise InvalidInput(OTHER_QUESTION, field="cursor")
    return page


class Cut(NamedTuple, Generic[T]):
    """The items of a page, and the cursor of the next one."""

    items: Sequence[T]
    next_cursor: str | None


PageMoments = tuple[int | None, int | None]  # valid and known, in microseconds


def cut(tool_name: str, items: Sequence[T], page: Cursor | None, size: int, moments: PageMoments) -> Cut[T]:
    """Return a page of a list that is known as far as the page needs; the next one is as of the same moments."""
    start = 0 if page is None else numbers_of(page, 1)[0]
    stop = start + size
    more = Cursor(tool_name, *moments, (str(stop),)).encode() if len(items) > stop else None
    return Cut(items[start:stop], more)


def shown_fields(model: BaseModel) -> dict[str, Any]:
    """Return an answer as JSON's own types."""
    return model.model_dump(mode="json")


async def shared_fields(access: Access, groups: Sequence[str]) -> dict[str, Any]:
    """Return what every answer has: its groups, and the moments that it is of."""
    reached = await access.served.ask(partial(reached_by, groups=groups))
    return {"group_ids": tuple(groups), "as_of": Moments.of(reached._replace(valid=None))}
