"""The commands that build and choose generations: rebuild, generations, digest."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import typer

from asof.cli import show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.facts import explain
from asof.cli.parameters import Parameters
from asof.cli.tables import Table, sentence
from asof.operations import generations as operations
from asof.operations.errors import InvalidInput
from asof.operations.operation import read_query
from asof.operations.queries import ComparisonQuery

_NAMES: Final = {"list": 0, "builds": 0, "diff": 2}  # that an action takes; the others take one
_TAKES: Final = ("no name", "the NAME of a generation", "the NAMES of two generations")


@command(
    operations.rebuild,
    operations.estimate_rebuild,
    operations.digest,
    parameters=Parameters(operations.rebuild.query),
)
def rebuild(
    call: Call,
    query: Any,
    *,
    switch: Annotated[bool, typer.Option("--switch", help="Let it answer once it is built.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would ask a language model, and what that costs.")
    ] = False,
) -> None:
    """Build a new generation beside the one that answers. It is made from the episodic log, and reads never stop."""
    if dry_run:
        with call.existing("rehearsing") as session:
            estimate = operations.estimate_rebuild(session, query)
        call.answer(operations.estimate_rebuild, estimate, _show_estimate)
        return
    with call.existing("rebuilding") as session:
        active = operations.generations.ask(session).active
        built = operations.rebuild(session, query)
        digests = {name: operations.digest.ask(session, name=name) for name in (built.name, active)}
        if switch:
            operations.switch.ask(session, name=built.name)
    same = digests[built.name] == digests[active]
    if call.as_json:
        show.data(
            {
                "generation": operations.rebuild.to_json(built),
                "digest": digests[built.name],
                "compared_with": active,
                "compared_digest": digests[active],
                "same": same,
                "switched": switch,
            }
        )
        return
    show.table(("generation", "digest"), digests.items())
    show.line("The two are the same." if same else f"The two differ: asof generations diff {active} {built.name}")
    if switch:
        show.line(f"{built.name} answers now.")


_PROMPTS: Final = Table(
    ("prompt", lambda one: f"{one.prompt} {one.prompt_version}"),
    ("model", "model"),
    ("held", "held"),
    ("calls", lambda one: f"about {one.calls:,}" if one.estimated else one.calls),
    ("tokens asked", "prompt_tokens"),
    ("tokens answered", "completion_tokens"),
    ("cost", lambda one: "" if one.cost is None else one.cost),
)


def _show_estimate(estimate: Any) -> None:
    """Print what a rebuild would ask, prompt by prompt, then in one line what it comes to."""
    if estimate.prompts:
        _PROMPTS(estimate.prompts)
    about = "about " if any(one.estimated for one in estimate.prompts) else ""
    tokens = estimate.prompt_tokens + estimate.completion_tokens
    cost = "at no price that is set" if estimate.cost is None else f"for about {estimate.cost:,}"
    calls, events = show.counted(estimate.calls, "call"), show.counted(estimate.events, "event")
    asked = f"{about}{calls}, about {show.counted(tokens, 'token')}, {cost}" if estimate.calls else calls
    show.line(f"{estimate.name}: {asked}; about {max(1, round(estimate.seconds)):,} s for {events}")


_BUILDS: Final = Table(
    ("name", "name"),
    ("state", lambda build: "paused: its budget is spent" if build.reason == "budget" else build.state),
    ("ontology", "ontology"),
    ("input", "input"),
    ("done", lambda build: f"{build.done} of {build.total}"),
    ("a second", lambda build: "" if build.per_second is None else round(build.per_second)),
    ("seconds left", lambda build: "" if build.seconds_left is None else round(build.seconds_left)),
    nothing="no build is under way",
)
_SUMMARY: Final = Table(
    ("relation", "relation"),
    ("same", "same"),
    ("gained", "gained"),
    ("lost", "lost"),
    ("redated", "redated"),
    ("merged", "merged"),
    nothing="neither believes a fact",
)


@command(
    operations.generations,
    operations.switch,
    operations.drop,
    operations.generations_diff,
    operations.builds,
    operations.pause_build,
    operations.resume_build,
    operations.cancel_build,
    parameters=Parameters(ComparisonQuery),
)
def generations(
    call: Call,
    query: Any,
    action: Annotated[
        Literal["list", "switch", "drop", "diff", "builds", "pause", "resume", "cancel"],
        typer.Argument(
            metavar="ACTION", help="What to do: list, switch, drop or diff; builds, pause, resume or cancel a rebuild."
        ),
    ] = "list",
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one.")] = None,
    other: Annotated[str | None, typer.Argument(metavar="OTHER", help="diff: the one to compare it with.")] = None,
    *,
    why: Annotated[bool, typer.Option("--why", help="diff: show the words behind each difference too.")] = False,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, help="resume: pause again before it has asked for more tokens.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, help="resume: pause again before it has cost more.")
    ] = None,
) -> None:
    """List generations, let another one answer, drop one, or see in which facts two of them differ.

    A rebuild in another terminal is shown by `builds`; it is paused, resumed where it stopped, or cancelled.
    """
    names = [given for given in (name, other) if given is not None]
    if len(names) != _NAMES.get(action, 1):
        raise InvalidInput(f"generations {action} takes {_TAKES[_NAMES.get(action, 1)]}")
    if action == "diff":
        _show_differences(call, names, query, why=why)
        return
    if why or query != read_query(ComparisonQuery, {}):
        raise InvalidInput(f"generations {action} takes no options of diff")
    budget = {"max_tokens": max_tokens, "max_cost": max_cost}
    if action != "resume" and any(limit is not None for limit in budget.values()):
        raise InvalidInput(f"generations {action} takes no budget")
    if action in ("builds", "pause", "cancel", "resume"):
        _show_builds(call, action, name, budget)
        return
    with call.existing() as session:
        match action:
            case "switch":
                catalog = operations.switch.ask(session, name=name)
            case "drop":
                catalog = operations.drop.ask(session, name=name)
            case _:
                catalog = operations.generations.ask(session)
    call.answer(operations.generations, catalog, lambda shown: _table(shown.active)(shown.generations))


def _show_builds(call: Call, action: str, name: str | None, budget: Mapping[str, float | None]) -> None:
    """Print the builds that are not complete, once one of them is stopped or gone on with."""
    with call.existing("rebuilding" if action == "resume" else None) as session:
        match action:
            case "pause":
                operations.pause_build.ask(session, name=name)
            case "resume":
                operations.resume_build.ask(session, name=name, **budget)
            case "cancel":
                operations.cancel_build.ask(session, name=name)
        found = operations.builds.ask(session)
    call.answer(operations.builds, found, _BUILDS)


def _show_differences(call: Call, names: Sequence[str], query: Any, *, why: bool) -> None:
    """Print in which facts two generations differ: the numbers of each relation first, then fact by fact."""
    base, other = names
    with call.existing() as session:
        found = operations.generations_diff.ask(session, base=base, other=other, **dict(query))
    if why and found and not call.as_json:
        for difference in found:
            show.line(f"{difference.change}:")
            for explanation in filter(None, (difference.base, difference.other)):
                explain(explanation)
        return

    def view(page: Any) -> None:
        show_comparison(base, other, page.summary, page, query.group)

    call.answer(operations.generations_diff, found, view)


def show_comparison(base: str, other: str, summary: Sequence[Any], found: Sequence[Any], group: str | None) -> None:
    """Print the numbers of each relation, then the differences under the names of both sides. No group: all of them."""
    if summary:
        _SUMMARY(summary)
        show.line()
    listed = Table(
        ("change", "change"),
        (base, lambda one: _side(one.base, one.change == "gained")),
        (other, lambda one: _side(one.other, one.change == "lost")),
        nothing="no difference" if group is None else f"no difference in the group {group}",
    )
    listed(found)


def _side(explanation: Any, without: bool) -> str:
    """Return the fact of a side with its period; nothing, where that side does not believe it."""
    if explanation is None or without:
        return ""
    fact = explanation.fact
    return f"{sentence(fact)}  [{show.period(fact.valid_at, fact.invalid_at)}]"


def _table(active: str) -> Table:
    return Table(
        ("name", "name"),
        ("", lambda info: "answers" if info.name == active else ""),
        ("ontology", "ontology"),
        ("policy", "policy"),
        ("input", "input"),
        ("made by", "made_by"),
        ("build", "build"),
    )


digest = question(operations.digest, show.line, arguments=("name",))
