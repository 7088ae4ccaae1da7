"""What children do in tests: it stands in a module that a new interpreter can import."""

import os
import time
from pathlib import Path

from asof.runtime.child_process import Channel, ChildProcess
from asof_streams.errors import NotFound


def echo(channel: Channel, prefix: str) -> None:
    while True:
        channel.send(prefix + channel.receive())


def fail(_: Channel, *, ours: bool) -> None:
    raise NotFound("there is none") if ours else ValueError("content".upper())


def sleep(channel: Channel) -> None:
    channel.send(os.getpid())
    time.sleep(600)


def parent(_: Channel, file: Path) -> None:
    """Start a child that is busy for long, and write down its number."""
    child = ChildProcess(sleep)
    file.write_text(str(child.receive()))
    time.sleep(600)
