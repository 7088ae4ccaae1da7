"""The posts handler: what a chat tells of one message, by the external id that its platform gave it. Pure.

A post is a turn, feedback or a goal. An edit withdraws it and records the new text in its place, at its time; a
deletion withdraws it. Whatever comes twice adds nothing: a post whose id is known, an edit to the text that stands or
from before the last one, a deletion of what is gone. What was deleted stays so, whatever is told of it later.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from asof_agents.conversation.classification import classify, goal_of
from asof_agents.ports import EpisodeView
from asof_projections.model.rows import PostRow
from asof_streams.episodic import (
    EpisodeWithdrawn,
    FeedbackReceived,
    FeedbackWithdrawn,
    GoalDeclared,
    GoalWithdrawn,
    MessageParked,
)
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.messages import Message

MakeTurn = Callable[[Message, Mapping[str, Any]], Event]
"""Makes the episode of a message, with more fields than it tells; or its parking."""

_WITHDRAWALS: Final[dict[str, Callable[[str], Event]]] = {
    "turn": lambda uuid: EpisodeWithdrawn(episode_id=uuid),
    "feedback": lambda uuid: FeedbackWithdrawn(feedback_id=uuid),
    "goal": lambda uuid: GoalWithdrawn(goal_id=uuid),
}
_UNKNOWN: Final = "no message of this group has it; send that message, then retry this one"
_KEPT: Final = (
    "suppress_content: the content of the message that it edits is suppressed; send the edit with this set, too"
)


def record(message: Record, said: Message, known: EpisodeView, turn: MakeTurn) -> Sequence[Event]:
    """Return the episodic events of a message that has an external id, or a kind; none, where it adds nothing."""
    group = message.group
    before = None if said.external_id is None else known.post(group, said.external_id)
    match classify(said, _replies_to_bot(group, said, known)):
        case "none":
            return ()
        case "undo":
            return _undo(said, known.post(group, said.reply_to or ""))
        case "deletion":
            return _parked("external_id") if before is None else withdrawal(before)
        case "edit":
            return _parked("external_id") if before is None else _edit(message, said, before, turn)
        case kind:
            return () if before is not None else (_post(kind, message, said, turn, said.timestamp, {}),)


def _replies_to_bot(group: str, said: Message, known: EpisodeView) -> bool:
    if said.kind != "message" or said.reply_to is None:
        return False
    answered = known.post(group, said.reply_to)
    return answered is not None and answered.role_type == "assistant"


def _edit(message: Record, said: Message, before: PostRow, turn: MakeTurn) -> Sequence[Event]:
    edited_at = message.recorded_at if said.timestamp is None else said.timestamp
    if before.withdrawn or (before.edited_at is not None and edited_at < before.edited_at):
        return ()
    if before.suppressed and not said.suppress_content:
        return (MessageParked(reason=_KEPT),)
    if said.content == before.content if not before.suppressed else edited_at == before.edited_at:
        return ()
    author = {"role": before.role, "role_type": before.role_type, "author_id": before.author_id}
    stays = {"reply_to": before.reply_to, "is_proactive": before.is_proactive}
    text = said.model_copy(update={"kind": "message", **author, **stays})
    kind = "feedback" if before.kind == "feedback" else classify(text, replies_to_bot=False)
    edit = {"corrects": before.uuid, "edited_at": edited_at}
    after = _post(kind, message, text, turn, before.valid_at, edit)
    return (after,) if isinstance(after, MessageParked) else (*withdrawal(before), after)


def _undo(said: Message, post: PostRow | None) -> Sequence[Event]:
    if post is None:
        return _parked("reply_to")
    by_id = said.author_id is not None and post.author_id is not None
    is_own = said.author_id == post.author_id if by_id else (said.role, said.role_type) == (post.role, post.role_type)
    return withdrawal(post) if post.kind != "turn" and is_own else ()


def withdrawal(post: PostRow) -> Sequence[Event]:
    """Return the withdrawal of a post; none, if it was withdrawn."""
    return () if post.withdrawn else (_WITHDRAWALS[post.kind](post.uuid),)


def _parked(field: str) -> Sequence[Event]:
    return (MessageParked(reason=f"{field}: {_UNKNOWN}"),)


def _post(
    kind: str, message: Record, said: Message, turn: MakeTurn, said_at: int | None, edit: Mapping[str, Any]
) -> Event:
    """Return the event of a post; `edit`: what it has of an edit."""
    valid_at = message.recorded_at if said_at is None else said_at
    if kind == "turn":
        return turn(said.model_copy(update={"timestamp": valid_at}), edit)
    uuid = derive(kind, message.group, message.position)
    fields = {
        "external_id": said.external_id,
        "reply_to": said.reply_to,
        "role": said.role,
        "role_type": said.role_type or "",
        "author_id": said.author_id,
        "content": "" if said.suppress_content else said.content,
        "valid_at": valid_at,
        "suppressed": said.suppress_content,
        **edit,
    }
    if kind == "feedback":
        return FeedbackReceived(feedback_id=uuid, **fields)
    goal = goal_of(said.content)
    assert goal is not None, "it is classified by this"
    return GoalDeclared(goal_id=uuid, description=goal.description, saliency=goal.saliency, **fields)
