"""kill -9 at every step of a conversation: a message is answered at most once, and learned from exactly once."""

import signal
from pathlib import Path

import pytest

import asof
import killed_platform
from asof.runtime.child_process import ChildProcess
from asof_streams.conversation import ReplyGiven, ReplySent
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import is_held
from killed_platform import SENDING, SHOWN, TAKING, TEXT
from patience import wait_until

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]

NEVER_SHOWN = {"the reply is on its log", "the reply is known"}  # given, and the process ended before anybody saw it


def talk(directory: Path, step: str | None = None) -> int:
    """Run a platform to its end; return its exit code."""
    platform = ChildProcess(killed_platform.run, directory, step)
    code = platform.wait()
    platform.close()
    return code


@pytest.mark.parametrize("step", [*TAKING, SHOWN, *SENDING])
def test_a_message_is_answered_at_most_once_wherever_the_process_ends(tmp_path: Path, step: str) -> None:
    directory = tmp_path / "data"

    assert talk(directory, step) == -signal.SIGKILL
    wait_until(lambda: not is_held(directory, "writer.lock"))  # the worker sees that its service is gone
    assert talk(directory) == 0

    with SqliteLog(directory / "conversation.sqlite") as log:
        events = [record.event for record in log.read()]
    given = [event for event in events if isinstance(event, ReplyGiven)]
    shown = (tmp_path / "shown").read_text().splitlines()
    assert [event.answers for event in given] == [0]
    assert [line.split()[0] for line in shown] == ([] if step in NEVER_SHOWN else [given[0].reply_id])
    assert len([event for event in events if isinstance(event, ReplySent)]) == len(shown)
    with asof.open(directory, embedder="none") as memory:
        turns = [episode.content for episode in memory.episodes(group_id="g")]
        assert [turn for turn in turns if turn == TEXT] == [TEXT]
        assert len(turns) == 1 + len(shown)
        assert [check for check in memory.verify() if not check.ok] == []
