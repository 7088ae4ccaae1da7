"""What became of messages, for every tool that writes: what they changed, and the state of the one that is behind."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from asof.mcp.answers import Moments, time_or_none
from asof.mcp.text import block, of_id, period
from asof.mcp.tools import Access, Reply
from asof.mcp.written_answers import ChangedFact, Learned, LinkedEntities
from asof.operations.answers import Outcome
from asof.operations.errors import UnavailableError
from asof.operations.quotes import quote
from asof.operations.service_answers import outcome, reached_by

_SHOWN: Final = 100  # of each list
_FACTS_SHOWN_BY: Final = "get_episode_entities or what_changed has the facts among them, and no merges of entities."


async def outcome_of(
    access: Access,
    group: str,
    positions: Sequence[int],
    seconds: float,
    *,
    said_at: int | None = None,
    uuid: str | None = None,
    unused: Sequence[str] = (),
) -> Reply:
    """Wait for messages for so many seconds at most, and return what became of them as one answer.

    It is an error if nothing could be made of one.
    """
    if seconds:
        with suppress(UnavailableError):  # it is on the log all the same
            await access.served.done(positions[-1], seconds)
    answer = await learned_of(access, group, positions, said_at=said_at, uuid=uuid, unused=unused)
    return Reply(answer, block(answer, learned_lines(answer)), is_error=answer.state == "parked")


async def learned_of(
    access: Access,
    group: str,
    positions: Sequence[int],
    *,
    said_at: int | None = None,
    uuid: str | None = None,
    unused: Sequence[str] = (),
) -> Learned:
    """Return what became of messages as one: what all of them changed, and the state of the one that is behind."""
    found = [await outcome(access.served, position) for position in positions]
    reached = await access.served.ask(partial(reached_by, groups=[group]))
    last = next((one for one in found if one.state != "done"), found[-1])
    effects = [one.effect for one in found if one.state == "done"]

    def changed(*ways: str) -> tuple[ChangedFact, ...]:
        return tuple(_changed(belief) for effect in effects for way in ways for belief in getattr(effect, way))

    links = [
        LinkedEntities(uuid=link.uuid, duplicate=link.duplicate_name, into=link.into_name)
        for effect in effects
        for link in effect.duplicates
    ]
    whole = {
        "learned": changed("began", "restored", "refined"),
        "ended": changed("ended"),
        "retracted": changed("retracted"),
    }
    return Learned(
        group_ids=(group,),
        as_of=Moments.of(reached._replace(valid=None)),
        message=_sentence(last, unused),
        job=positions[-1],
        uuid=last.episode_id if last.state == "done" else uuid,
        state=last.state,
        reason=last.reason if last.state == "parked" else None,
        said_at=time_or_none(said_at),
        kept_as_note=not any(effect.understood for effect in effects) if len(effects) == len(found) else None,
        learned=whole["learned"][:_SHOWN],
        ended=whole["ended"][:_SHOWN],
        retracted=whole["retracted"][:_SHOWN],
        linked=tuple(links[:_SHOWN]),
        not_shown=sum(len(changes[_SHOWN:]) for changes in (*whole.values(), links)),
    )


def _changed(belief: Any) -> ChangedFact:
    return ChangedFact(uuid=belief.uuid, fact=belief.fact, valid_at=belief.valid_at, invalid_at=belief.invalid_at)


def _sentence(became: Outcome, unused: Sequence[str]) -> str:
    match became.state:
        case "queued":
            said = f"It is on the log for good, and waits to be processed: get_status with job {became.position} tells"
        case "done":
            said = "It was processed"
        case "parked":
            said = "Nothing could be made of it: it is parked, and nothing of it is believed"
        case _:
            said = "It was erased"
    return said + (f". Not used: {', '.join(unused)}" if unused else "")


def learned_lines(learned: Learned) -> list[str]:
    """Return the lines of what became of messages."""
    lines = [f"{learned.message}."]
    if learned.reason is not None:
        lines.append(f"Reason: {quote(learned.reason)}. Change that and call again.")
    for word, changed in (("Learned", learned.learned), ("Ended", learned.ended), ("Retracted", learned.retracted)):
        lines += [
            f"- {word}: {quote(one.fact)}{period(one.valid_at, one.invalid_at)} {of_id(one.uuid)}" for one in changed
        ]
    lines += [f"- Same entity: {quote(one.duplicate)} and {quote(one.into)}" for one in learned.linked]
    if learned.not_shown:
        lines.append(f"{learned.not_shown} more are not shown. {_FACTS_SHOWN_BY}")
    if learned.kept_as_note is False and len(lines) == 1:
        lines.append("It says nothing new.")
    if learned.kept_as_note:
        lines.append("No fact was understood: it is kept as a note, which recall finds by its words.")
    return lines
