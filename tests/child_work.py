"""What children do in tests, in a module that a new interpreter can import; and whether one has ended."""

import gc
import os
import signal
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from asof.runtime.child_process import Channel, ChildProcess
from asof.runtime.fork_server import ForkServer
from asof.service.reader import Reader
from asof.service.session import Session
from asof.settings import Settings
from asof_streams.errors import NotFound
from patience import wait_until

if TYPE_CHECKING:
    from asof.runtime.writer import Writer


def echo(channel: Channel, prefix: str) -> None:
    while True:
        channel.send(prefix + channel.receive())


def fail(_: Channel, *, ours: bool) -> None:
    raise NotFound("there is none") if ours else ValueError("content".upper())


def sleep(channel: Channel) -> None:
    channel.send(os.getpid())
    time.sleep(600)


def imported(channel: Channel, number: int) -> None:
    """Send a number and who this is, then send back what comes."""
    channel.send((number, os.getpid(), os.getppid()))
    echo(channel, "")


def parent(_: Channel, file: Path, *, forks: bool) -> None:
    """Start a child that is busy for long, and write down its number."""
    child = ForkServer("child_work").start(sleep) if forks else ChildProcess(sleep)
    file.write_text(str(child.receive()))
    time.sleep(600)


def answer_once(session: Session, file: Path) -> str:
    """Answer once a file is there."""
    wait_until(file.exists)
    return session.places.root.name


class Unreadable:
    """What can be sent, and not received."""

    def __reduce__(self) -> tuple[type[int], tuple[str]]:
        return int, ("no number",)


def answer_unreadably(_: Session) -> Unreadable:
    return Unreadable()


def remember(channel: Channel, data: Path, count: int) -> None:
    """Add a message at a time, each of one fact; then say that it is done."""
    import asof

    with asof.open(data, embedder="none") as memory:
        for number in range(count):
            memory.add(f"I like Model{number}x.", role=f"User{number}")
    channel.send(None)


def recording_writer(settings: Settings, said: dict[str, str]) -> "Writer":
    """Return a writer that has taken a message and recorded it, and not shown yet what is believed of it."""
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.open_logs import OpenLogs
    from asof.runtime.writer import Writer
    from asof_streams.messages import Message, accept

    writer = Writer(OpenLogs(DirectoryLayout(settings.data), settings))
    writer.messages.accept([accept(Message, said)], clock=writer.messages.latest() + 1)
    writer.process(flush=False)
    writer.engine.episodic.flush()
    return writer


def believe_when_called(channel: Channel, settings: Settings, said: dict[str, str]) -> None:
    """Work as a service's worker that has recorded a message, and believes it once it is called, whatever for."""
    from asof.service.worker_handle import WorkerAnswer, WorkerProgress, WorkerStart

    with closing(recording_writer(settings, said)) as writer:
        channel.send(WorkerStart(writer.messages.term))
        channel.send(WorkerProgress(writer.messages.end() - 1))
        while (call := channel.receive()) is None:
            pass  # it is woken, as by the start of a service
        writer.engine.flush()
        channel.send(WorkerAnswer(call.number, None, None))
        channel.receive()


def open_never(channel: Channel, settings: Settings) -> None:
    """Work as a service's worker that is still opening the memory."""
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.open_logs import OpenLogs
    from asof.service.worker_handle import WorkerStart

    with closing(OpenLogs(DirectoryLayout(settings.data), settings)) as logs:
        channel.send(WorkerStart(logs.messages.term))
        channel.receive()


def number_of_process(reader: Reader) -> int:
    """A question of a service."""
    del reader
    return os.getpid()


def end_at_once(reader: Reader) -> None:
    """A question that ends the process which answers it."""
    del reader
    os._exit(1)


def answer_never(reader: Reader, begun: Path) -> None:
    """A question that is answered never, and makes a file once it is asked."""
    del reader
    begun.touch()
    while True:
        signal.pause()


def loaded(channel: Channel) -> None:
    """Send whether this process was forked with what its parent has imported, and whether it collects garbage."""
    channel.send(("marked" in sys.modules, gc.isenabled()))
    channel.receive()


def has_ended(pid: int) -> bool:
    """Whether a process has ended, whoever is to ask for its exit code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
