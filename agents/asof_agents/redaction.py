"""A redaction erases some messages of a group as if they had never been: what is left of the group is told again.

What was read of a message depends on the turns before it and on the names that its group had used, so each that is left
is read again. Of its words all is as it was recorded: the episode, its id and its time. A message whose content was not
kept is told as it was read.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

from asof_agents.handlers import mentions
from asof_agents.handlers.posts import withdrawal
from asof_agents.layer import group_batches
from asof_agents.ports import EpisodeView
from asof_agents.recorder import Recorder
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    FeedbackReceived,
    FeedbackWithdrawn,
    GoalDeclared,
    GoalWithdrawn,
    GroupErased,
    MessageRetried,
)
from asof_streams.events import Event, Record
from asof_streams.log import EventLog
from asof_streams.messages import RedactionRequest


def what_is_left(log: EventLog, request: RedactionRequest) -> list[Sequence[Record]]:
    """Return the batches of the episodic log that a redaction leaves of its group, as they were told last."""
    erased = frozenset(request.positions)
    records: list[Record] = []
    for record in log.of_group(request.group_id):
        if isinstance(record.event, GroupErased):
            records = []  # a crash came after a telling, and before what stands before it was erased
        else:
            records.append(record)
    return [batch for batch in group_batches(records) if not _is_of(batch, erased)]


def _is_of(batch: Sequence[Record], erased: Collection[int]) -> bool:
    event = batch[0].event
    return batch[0].cause in erased or (isinstance(event, MessageRetried) and event.position in erased)


def tell(recorder: Recorder, batch: Sequence[Record]) -> list[Event]:
    """Return the episodic events of a message as they are without those that were erased before it."""
    return list(_told(recorder, batch))


def _told(recorder: Recorder, batch: Sequence[Record]) -> Iterator[Event]:
    store = recorder.store
    for record, after in zip_longest(batch, batch[1:]):
        if isinstance(record.event, EpisodeWithdrawn | FeedbackWithdrawn | GoalWithdrawn):
            yield from _withdrawn(record, None if after is None else after.event, store)
            continue
        yield record.event
        if isinstance(record.event, EpisodeRecorded) and record.event.source != "fact" and not record.event.suppressed:
            extractor = recorder.extractors.of(record.event)
            yield from mentions.extract(record, extractor, recorder.answers, store, store, "")
            return


def _withdrawn(record: Record, after: Event | None, known: EpisodeView) -> Sequence[Event]:
    """Return the withdrawal of a record, if what it withdraws is left; an edit withdraws what stands there now."""
    if isinstance(after, EpisodeRecorded | FeedbackReceived | GoalDeclared):
        post = known.post(record.group, after.external_id or "")
        return () if post is None else withdrawal(post)
    if isinstance(record.event, EpisodeWithdrawn) and known.episode(record.event.episode_id) is None:
        return ()
    return (record.event,)
