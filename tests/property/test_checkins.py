"""Each check-in that is due is sent once, whatever clocks show and however often the process starts."""

from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof_agents.conversation.checkins import QuietHours, due_checkins
from asof_streams.conversation import CheckinCancelled, CheckinScheduled, CheckinSent
from asof_streams.instants import parse
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog

MINUTE = 60_000_000
START = parse("2025-01-15T10:30:00Z")
NIGHT = QuietHours.parse("22:00-08:00")
GROUPS = ("a", "b")
moments = st.integers(-3 * 24 * 60, 3 * 24 * 60).map(lambda minutes: START + minutes * MINUTE)
groups = st.sampled_from(GROUPS)
steps = st.one_of(
    st.tuples(st.just("schedule"), groups, moments),
    st.tuples(st.just("look"), groups, moments),
    st.tuples(st.just("look"), groups, moments),
    st.tuples(st.just("cancel"), groups, moments),
    st.tuples(st.just("restart"), groups, moments),
    st.tuples(st.just("lose"), groups, moments),
)


@dataclass
class Bot:
    """A directory with a conversation, and what has to be true of its check-ins."""

    places: DirectoryLayout
    waiting: dict[str, tuple[str, int]] = field(default_factory=dict)  # by group: the newest that was not sent
    sent: list[str] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        with SqliteLog(self.places.messages, writable=True) as log:
            said = [Message(group_id=g, role="Ana", role_type="user", kind="message", content="Hi") for g in GROUPS]
            log.accept(said, clock=START)
        self.log = ConversationLog(self.places)

    def schedule(self, group: str, at: int) -> None:
        self.number += 1
        name = f"{group}{self.number}"
        event = CheckinScheduled(checkin_id=name, answers=GROUPS.index(group), due_at=at)
        assert self.log.append(group, GROUPS.index(group), [event], START)
        self.waiting[group] = (name, at)

    def cancel(self, group: str, at: int) -> None:
        name, _ = self.waiting.pop(group, ("none", at))
        self.log.append(group, GROUPS.index(group), [CheckinCancelled(checkin_id=name, reason="told to")], START)

    def look(self, group: str, at: int) -> None:
        del group
        due = due_checkins(self.log.scheduled(None, at), at, NIGHT, lambda _: UTC)
        expected = [name for name, due_at in self.waiting.values() if due_at <= at and not NIGHT.covers(at, UTC)]
        assert sorted(checkin.checkin_id for checkin in due) == sorted(expected)
        for checkin in due:
            sent = CheckinSent(checkin_id=checkin.checkin_id, content="Hello!")
            since = self.log.followed()
            assert self.log.send_checkin(checkin, sent, at, since)
            assert not self.log.send_checkin(checkin, sent, at, since)
            self.sent.append(checkin.checkin_id)
            del self.waiting[checkin.group]

    def restart(self, group: str, at: int) -> None:
        del group, at
        self.log.close()
        self.log = ConversationLog(self.places)

    def lose(self, group: str, at: int) -> None:
        """Start where the projection is lost."""
        self.log.close()
        self.places.conversations.unlink()
        self.restart(group, at)


@settings(max_examples=30, deadline=None)
@given(st.lists(steps, max_size=12))
def test_each_check_in_is_sent_once_and_never_after_a_newer_one(told: list[tuple[str, str, int]]) -> None:
    with TemporaryDirectory() as directory:
        bot = Bot(DirectoryLayout(Path(directory)))
        for step, group, at in told:
            getattr(bot, step)(group, at)
        bot.look("a", parse("2026-01-15T10:30:00Z"))
        bot.log.close()

    assert bot.waiting == {}
    assert len(bot.sent) == len(set(bot.sent))
