"""The command that consolidates a group."""

from typing import Any, Final

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.operations import consolidation as operations

_CHANGES: Final = ("entity", "community")
_MERGES: Final = ("duplicate", "of", "merge")


@command(operations.consolidate, parameters=Parameters(operations.consolidate.query))
def consolidate(call: Call, query: Any) -> None:
    """Consolidate a group: communities, duplicates and decay, where facts changed. No fact changes."""
    with call.session() as session:
        answer = operations.consolidate(session, query)
    call.answer(operations.consolidate, answer, _show)


def _show(answer: Any) -> None:
    if answer.position is not None:
        show.line(f"message {answer.position}")
    found = answer.consolidation
    if answer.undone is not None:
        _show_results(answer.undone)
        show.line(f"undone: {answer.undone.consolidation_id}")
    if found is None:
        return
    _show_results(found)
    show.line(f"communities: {found.communities_detected:,}, entities moved: {found.communities_changed_nodes:,}")
    show.line(f"duplicates: {found.entity_duplicates_found:,}, merged: {found.entity_merges_performed:,}")
    show.line(f"entities faded: {found.nodes_decayed:,}")
    for phase in found.failed:
        show.talk(f"failed: {phase}")
    if not found.complete:
        show.talk("the budget was used up: the next pass goes on")


def _show_results(found: Any) -> None:
    show.table(_CHANGES, ([change.entity, change.community_uuid or "none"] for change in found.changes))
    show.table(_MERGES, ([merge.duplicate, merge.into, merge.merge_id] for merge in found.merges))
