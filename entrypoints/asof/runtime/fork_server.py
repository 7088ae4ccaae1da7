"""A child process that forks others: it has imported their modules, so that each starts in milliseconds.

A new interpreter needs two seconds of processor time to import an engine. The server does nothing but import and fork,
so it holds no lock that a fork could take over. It hands nothing of one child to the next.

A forked child ends with the server and with the process that asked for it; the server ends with that process too.
"""

import gc
import os
import signal
from functools import partial
from importlib import import_module
from select import POLLIN, poll
from subprocess import TimeoutExpired
from threading import Lock
from typing import Final, Protocol

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess, P, Work, run
from asof.runtime.forks import fork

_DESCRIPTORS: Final = 3  # of a forked child: its channel, its lifeline, and a pipe that ends with it


class ForkServer(ChildProcess):
    """Imports modules once and forks children that share them. The thread that makes it has to live as long as it."""

    def __init__(self, *modules: str) -> None:
        super().__init__(_serve, modules)
        self._asking = Lock()

    def start(self, work: Work[P], *args: P.args, **named: P.kwargs) -> ChildProcess:
        """Return a child that does some work, started by any thread. OSError: it cannot be started."""
        return _ForkedProcess(self, work, *args, **named)

    def fork(self, *inherited: int) -> int:
        """Fork a child that runs on these descriptors; return its process id. OSError: it cannot be started."""
        try:
            with self._asking:
                self.send(None)
                self.send_descriptors(inherited)
                pid: int = self.receive()
        except ChannelClosed:
            raise OSError("the process that forks children has ended") from None
        return pid

    def end(self, pid: int) -> int:
        """Kill a child that was forked, unless it has ended; return its exit code, once a child."""
        try:
            with self._asking:
                self.send(pid)
                code: int = self.receive()
        except ChannelClosed:  # its children have ended with it
            return -signal.SIGKILL
        return code


class OwnForkServer(ForkServer):
    """A server that is a fork of this process: it has what is imported by now. `can_fork` says whether it may be."""

    def _start(self, *inherited: int) -> "_Fork":
        return _Fork(_ThisProcess(), inherited)


class Forks(Protocol):
    """Forks processes, and ends them."""

    def fork(self, *inherited: int) -> int:
        """Fork a child that runs on these descriptors; return its process id. OSError: it cannot be started."""
        ...

    def end(self, pid: int) -> int:
        """Kill a child that was forked, unless it has ended; return its exit code, once a child."""
        ...


class _ThisProcess:
    """Implements Forks by forks of this process."""

    def fork(self, *inherited: int) -> int:
        return fork(partial(_run, *inherited), *inherited)

    def end(self, pid: int) -> int:
        return _end(pid)


class _ForkedProcess(ChildProcess):
    def __init__(self, server: ForkServer, work: Work[P], *args: P.args, **named: P.kwargs) -> None:
        self._server = server
        super().__init__(work, *args, **named)

    def _start(self, *inherited: int) -> "_Fork":
        return _Fork(self._server, inherited)


class _Fork:
    """A process that a server forked, as subprocess.Popen has one that it started."""

    def __init__(self, server: Forks, inherited: tuple[int, ...]) -> None:
        self._server = server
        self._ending = Lock()  # of several threads that end it, one asks the server, which knows it no more afterwards
        self._code: int | None = None
        self._ended, theirs = os.pipe()
        try:
            self.pid = server.fork(*inherited, theirs)
        except BaseException:
            os.close(self._ended)
            raise
        finally:
            os.close(theirs)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended. TimeoutExpired: it has not, after so many seconds."""
        if self._code is None:
            ended = poll()
            ended.register(self._ended, POLLIN)
            if not ended.poll(None if timeout is None else timeout * 1_000):
                raise TimeoutExpired([], timeout or 0.0)
            self.kill()
        assert self._code is not None
        return self._code

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        with self._ending:
            if self._code is None:
                self._code = self._server.end(self.pid)
                os.close(self._ended)


def _serve(channel: Channel, modules: tuple[str, ...]) -> None:
    for name in modules:
        import_module(name)
    while True:
        pid = channel.receive()
        channel.send(_fork(channel) if pid is None else _end(pid))


def _fork(channel: Channel) -> int | OSError:
    descriptors = channel.receive_descriptors(_DESCRIPTORS)
    try:
        return fork(partial(_run, *descriptors), *descriptors)
    except OSError as error:
        return error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _run(channel: int, lifeline: int, _: int) -> None:
    """Run as a fork; the last descriptor is open until it ends."""
    gc.freeze()  # a collection would copy every page that it shares
    gc.enable()  # whoever imports much may have turned it off
    run(channel, lifeline)


def _end(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
