"""A child process of ours: its start, the messages between it and its parent, and its end.

A child is a new interpreter. A fork would take over locks that the parent's other threads hold (`fork_server` forks
where there are none), and multiprocessing would run the caller's own script again, which a library must not.

A child never outlives its parent, since it may hold the lock of a directory: on Linux the system kills it with the
thread that started it, and everywhere a thread of its own reads a pipe that ends with the parent.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from select import POLLOUT, poll
from socket import SHUT_WR, recv_fds, send_fds, socket, socketpair
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Lock, Thread
from typing import Any, Concatenate, Final, NoReturn, ParamSpec, Protocol, TypeAlias

from asof.runtime.opentelemetry_tracer import trace_this_process
from asof.runtime.processes import sanitize_error, tune_allocator
from asof_streams import tracing

P = ParamSpec("P")

_MAIN: Final = "from asof.runtime.child_process import main; main()"
_PR_SET_PDEATHSIG: Final = 1


class ChannelClosed(Exception):
    """The other end of a channel sends nothing more: it has finished, or its process has ended."""


class Channel:
    """One end of the messages between a parent and its child: whatever pickle takes, each way in order.

    An exception that is sent is raised where it is received. Any thread may send, one at a time receives.
    """

    def __init__(self, descriptor: int) -> None:
        self._connection = Connection(descriptor)
        self._sending = Lock()

    def send(self, message: object) -> None:
        """Send a message, and wait while the other end has too many to read. ChannelClosed: nobody reads it."""
        try:
            with self._sending:
                self._connection.send(message)
        except OSError:
            raise ChannelClosed from None

    def offer(self, message: object) -> bool:
        """Send a short message unless that would have to wait; return whether it was sent. ChannelClosed as for `send`.

        It would have to wait where the other end has many messages that it has not read.
        """
        writable = poll()
        try:
            writable.register(self._connection, POLLOUT)
        except OSError:
            raise ChannelClosed from None
        if not writable.poll(0):
            return False
        self.send(message)
        return True

    def receive(self) -> Any:
        """Return the next message, or raise the exception that it is. ChannelClosed: no more will come."""
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            raise ChannelClosed from None
        if isinstance(message, Exception):
            raise message
        return message

    def ready(self, seconds: float = 0.0) -> bool:
        """Wait at most so long; return whether `receive` would return or raise at once."""
        try:
            return self._connection.poll(seconds)
        except OSError:
            return True

    def send_descriptors(self, descriptors: Sequence[int]) -> None:
        """Let the other end have open files of this process. ChannelClosed: nobody receives them."""
        try:
            with self._sending, self._socket() as ours:
                send_fds(ours, [b"\0"], descriptors)
        except OSError:
            raise ChannelClosed from None

    def receive_descriptors(self, count: int) -> list[int]:
        """Return the open files that the other end sends next. ChannelClosed: none come."""
        try:
            with self._socket() as ours:
                _, descriptors, _, _ = recv_fds(ours, 1, count)
        except OSError:
            raise ChannelClosed from None
        if len(descriptors) < count:
            raise ChannelClosed
        return descriptors

    def finish(self) -> None:
        """Send nothing more; messages from the other end can still be received."""
        with suppress(OSError), self._socket() as ours:
            ours.shutdown(SHUT_WR)

    def close(self) -> None:
        """Neither send nor receive any more."""
        self._connection.close()

    def _socket(self) -> socket:
        return socket(fileno=os.dup(self._connection.fileno()))


Work: TypeAlias = Callable[Concatenate[Channel, P], None]


class Process(Protocol):
    """A process that was started: as much of subprocess.Popen as a ChildProcess uses."""

    @property
    def pid(self) -> int: ...

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended. TimeoutExpired: it has not, after so many seconds."""
        ...

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        ...


class ChildProcess(Channel):
    """A child that calls `work(channel, *args)` and then ends. OSError: it cannot be started.

    An error of its work is sent to the parent, and it ends with exit code 1; ChannelClosed is no error. It leaves
    SIGTERM and SIGINT to its parent, which tells it to finish. The thread that starts it has to live as long as it.
    """

    def __init__(self, work: Work[P], *args: P.args, **named: P.kwargs) -> None:
        ours, theirs = socketpair()
        lifeline, self._lifeline = os.pipe()
        inherited = theirs.fileno(), lifeline
        try:
            self._process = self._start(*inherited)
        except BaseException:
            ours.close()
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(lifeline)
        super().__init__(ours.detach())
        with suppress(ChannelClosed):  # it has ended: whoever receives learns that
            self.send((work, args, named))

    def _start(self, *inherited: int) -> Process:
        return Popen(  # noqa: S603 - of its own session: an interruption is the parent's to handle
            [sys.executable, "-P", "-c", _MAIN, *map(str, inherited)],
            stdin=DEVNULL,
            stdout=DEVNULL,
            pass_fds=inherited,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait(self) -> int:
        """Wait until it has ended; return its exit code, negative where a signal ended it."""
        return self._process.wait()

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        try:
            self._process.wait(0)
        except TimeoutExpired:
            return False
        return True

    def stop(self, seconds: float | None = None) -> None:
        """Send nothing more, wait until it has ended, and kill it where that takes longer than so many seconds."""
        self.finish()
        with suppress(TimeoutExpired):
            self._process.wait(seconds)
        self.kill()

    def abort(self) -> None:
        """End it at once; a receiver learns of it."""
        self._process.kill()

    def kill(self) -> None:
        """End it at once, and close the channel."""
        self.abort()
        self._process.wait()
        self.close()

    def close(self) -> None:
        super().close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


def main() -> None:
    """Run as a child; the arguments of this process are the channel and the lifeline."""
    run(*map(int, sys.argv[1:]))


def run(descriptor: int, lifeline: int) -> NoReturn:
    """Do the work that the parent sends first on a channel, and end."""
    _end_with_parent(lifeline)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    tune_allocator()
    trace_this_process()
    channel, code = Channel(descriptor), 0
    try:
        work, args, named = channel.receive()
        work(channel, *args, **named)
    except ChannelClosed:
        pass  # the parent has finished
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent decides
        code = 1
        with suppress(ChannelClosed):
            channel.send(sanitize_error(error))
    tracing.flush()
    os._exit(code)  # whatever threads there are


def _end_with_parent(lifeline: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def wait() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    Thread(target=wait, daemon=True).start()
