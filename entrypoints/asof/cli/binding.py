"""Binds operations to commands: the query model gives the parameters, a view shows the answer to people."""

from collections.abc import Callable, Collection, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar

from asof.cli import options
from asof.cli.calls import Call
from asof.cli.show import View
from asof.operations.errors import InvalidInput

if TYPE_CHECKING:  # a command that asks nothing, such as mcp, starts without the operations
    from asof.cli.parameters import Parameters
    from asof.operations.operation import Operation
    from asof.operations.sessions import Session

Run = TypeVar("Run", bound=Callable[..., int | None])


def command(
    *operations: Callable[..., Any],
    parameters: "Parameters | None" = None,
    settings: Collection[str] = ("kafka", "graph"),
) -> Callable[[Run], Callable[..., int | None]]:
    """Make a function (call, query, its own options) a command; without `parameters` there is no query.

    `operations` are those that it binds. Each command has --data, --settings and --json, and an option for each of
    `settings`.
    """

    def made(run: Run) -> Callable[..., int | None]:
        first = 1 if parameters is None else 2
        own = [*signature(run, eval_str=True).parameters.values()][first:]

        common = {
            **{name: options.SETTINGS[name] for name in settings},
            "data": options.Data,
            "settings_file": options.Settings,
        }

        def invoke(*, as_json: bool, **given: Any) -> int | None:
            from asof.settings import read

            chosen = {name: given.pop(name) for name in common}
            call = Call(read(**{name: value for name, value in chosen.items() if value is not None}), as_json)
            if parameters is None:
                return run(call, **given)
            asked = {name: given.pop(name) for name in parameters.fields}
            try:
                return run(call, parameters.read(asked), **given)
            except InvalidInput as error:
                raise parameters.told(error) from None

        listed = [
            *([] if parameters is None else parameters.signature()),
            *(one.replace(kind=Parameter.KEYWORD_ONLY) for one in own),
            *(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=of) for name, of in common.items()),
            Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=options.Json),
        ]
        listed.sort(key=lambda one: one.default is not Parameter.empty)  # stable: those that are needed come first
        invoke.__signature__ = signature(invoke).replace(parameters=listed)  # type: ignore[attr-defined]
        invoke.__annotations__ = {one.name: one.annotation for one in listed}
        invoke.__name__, invoke.__doc__ = run.__name__, run.__doc__
        invoke.operations = operations  # type: ignore[attr-defined]
        return invoke

    return made


def question(
    operation: "Operation[Any, Any]",
    view: View,
    *,
    arguments: Sequence[str] = (),
    unknown: Callable[["Session", Any], None] | None = None,
) -> Callable[..., int | None]:
    """Make an operation that asks a command. `unknown` refuses a question without an answer; else names are checked."""
    from asof.cli.parameters import Parameters

    def ask(call: Call, query: Any) -> None:
        from asof.operations.entities import expect_names
        from asof.operations.ids import with_whole_ids

        with call.existing() as session:
            query = with_whole_ids(session, query)
            answer = operation(session, query)
            if not answer:
                (unknown or expect_names)(session, query)
        call.answer(operation, answer, view)

    ask.__name__, ask.__doc__ = operation.name, operation.query.__doc__
    return command(operation, parameters=Parameters(operation.query, arguments=arguments))(ask)
