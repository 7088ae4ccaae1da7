"""The conversation log of one partition on Kafka: its events stand on the replies topic first, of one writer at a time.

Whoever opens it deposes the one who answered before, and goes on where that one had come to, as the topic says.
"""

from collections.abc import Callable, Collection
from contextlib import ExitStack
from secrets import token_hex
from typing import Final

from asof.kafka.control import Control
from asof.kafka.topic_logs import TopicPartitions
from asof.runtime.conversation_log import ConversationLog
from asof_projections.conversation.model import ConversationMessage, PromptVersion
from asof_streams.conversation import ConversationBegun, ReplyErased, ReplySent
from asof_streams.episodic import GroupErased
from asof_streams.errors import UnavailableError
from asof_streams.events import Draft, Event, Record
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.messages import RedactionRequest
from asof_streams.sqlite_log import SqliteLog

Await = Callable[[int], bool]
"""Waits until the messages are here up to an offset of their topic; returns whether they are."""


class RepliesLog(ConversationLog):
    """The log and its projection, used by one thread. UnavailableError: not all messages came here in time.

    TopicUnfit: the messages topic has lost records, or the replies topic is another than was read.
    """

    def __init__(self, at: TopicPartitions, await_messages: Await) -> None:
        with ExitStack() as opened:
            opened.enter_context(at.client)
            state = opened.enter_context(at.state())

            def take_over(messages: SqliteLog) -> EventTopic:
                topic = at.replies_topic(state, messages)
                try:
                    topic.take_over(token_hex(8))
                    if not await_messages(at.client.end(*at.messages)):
                        raise UnavailableError(f"{at.messages}: not all of it is here yet")
                    topic.expect_source()
                except BaseException:
                    topic.close()
                    raise
                return topic

            super().__init__(at.places, log=take_over)
            self._control: Final = Control(at.client, at.topics)
            opened.callback(super().close)
            self._opened_topic: Final = opened.pop_all()

    def close(self) -> None:
        """Let another answer."""
        self._opened_topic.close()

    def begin(self, now: int) -> None:
        """Answer what comes to the messages topic from here on, unless that has begun."""
        self.follow()
        if self.store.begun is None:
            end = self._messages.end()
            begun = Draft("", max(now, self._log.last_recorded("") + 1), -1, 0, 1, ConversationBegun(position=end))
            self._log.append([begun], checkpoint=max(end, self._log.checkpoint()))
            self._follow_log()

    @property
    def offset(self) -> int:
        """The offset of the messages topic up to which the messages here are followed."""
        followed = self.store.followed("messages").position
        return self._messages.checkpoint() if followed == self._messages.end() else self._messages.cause_of(followed)

    def waiting(self, fresh: int, but: Collection[int]) -> list[ConversationMessage]:
        """Return the messages that are to be answered, in order, and note what platforms took.

        Those that were said before a moment get no answer, nor do those at some positions. fresh: UTC microseconds.
        """
        self.follow()
        self._note_sent()
        found = [message for message in self.unanswered() if message.said_at >= fresh and message.position not in but]
        self.pass_over(min([self._followed_whole(), *(message.position for message in found[:1])]))
        return found

    def last_told(self, message: ConversationMessage) -> int | None:
        """Return the offset of the last message of a user before this one in its group; None: there is none."""
        position = self.store.last_told(message.group, message.position)
        return None if position is None else self._messages.cause_of(position)

    def active_prompt(self, prompt: str) -> PromptVersion | None:
        """Return the version of a prompt that is used, as the control topic says now; None: it is asof's own."""
        self._control.catch_up()
        return next((one for one in self._control.prompts if one.prompt == prompt and one.active), None)

    def pass_over(self, position: int) -> None:
        """Say on the topic that all before a position is answered, or is not going to be."""
        if position > self._log.checkpoint():
            super().pass_over(position)

    def _answered_before(self, answered: int) -> int:
        return min(super()._answered_before(answered), self._followed_whole())

    def _followed_whole(self) -> int:
        """Return the position before which all messages are followed, and the turns of the bot are noted as sent."""
        sent = self.store.sent_turns(self._log.checkpoint())
        return min([self.store.followed("messages").position, *(turn.position for turn, _ in sent)])

    def _note_sent(self) -> None:
        """Note the answers that platforms have put on the messages topic as turns of the bot."""
        while sent := self.store.sent_turns(self._log.checkpoint()):
            turn, reply = sent[0]
            noted = ReplySent(reply_id=reply.reply_id, external_id=turn.external_id or "")
            at = self._messages.recorded_at(turn.position)
            self._append(reply.group, reply.answers, [noted], at, self._log.checkpoint())

    # Erasing.

    def _erase(self, request: Record) -> None:
        """Carry out an erasure: first on the topic, which tells every reader: so it is done again after a crash."""
        group, position = request.group, request.position
        is_told = self._log.checkpoint() > position or self._log.caused_by(position) < self._log.end()
        if not is_told:
            self._note_sent()  # what the bot said is erased with the turns that it is
        if isinstance(request.event, RedactionRequest):
            replies = self.store.replies_about(group, request.event.positions)
            if replies and not is_told:
                erased = ReplyErased(
                    positions=tuple(sorted(reply.position for reply in replies)),
                    answers=tuple(sorted({reply.answers for reply in replies if reply.action != "checkin"})),
                )
                self._tell(request, erased)
            self._log.redact(group, self._told_to_erase(position))
            self.store.redact(group, request.event.positions)
        else:
            if not is_told:
                self._tell(request, GroupErased())
            self._log.erase(group, before=self._log.caused_by(position))
            self.store.erase(group, position)

    def _told_to_erase(self, cause: int) -> tuple[int, ...]:
        """Return the positions of the events that were erased for a redaction, as the topic says."""
        at = self._log.caused_by(cause)
        records = (record for record in self._log.read(at, at + 1) if record.cause == cause)
        return next((r.event.positions for r in records if isinstance(r.event, ReplyErased)), ())

    def _tell(self, request: Record, event: Event) -> None:
        self._append(request.group, request.position, [event], request.recorded_at, self._log.checkpoint())
