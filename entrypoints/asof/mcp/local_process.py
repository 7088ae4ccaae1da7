"""The process that serves a directory to the agents of this machine: it starts with the first, and ends after the last.

It says in one line on standard output that it listens, or why it cannot. Garbage is collected only once all is loaded:
before, an eighth of the start would go to looking for it.
"""

import asyncio
import gc
import pickle
import signal
import socket
import sys
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from asof.mcp.local_server import LocalServer
from asof.mcp.local_socket import BUSY, READY, listening
from asof.mcp.sdk import load_sdk_here
from asof.operations.errors import AsofError, WriterBusy
from asof.operations.process import log_to_stderr
from asof.operations.tracing import flush, trace_this_process
from asof.service.children import StartChild, child_starter
from asof.service.service import Service
from asof.settings import Settings

_IDLE_SECONDS: Final = 10.0  # after the last agent has gone: an editor that is started again finds the process
_TICK_SECONDS: Final = 0.2


def main() -> None:
    """Serve as `serve` does, by the settings that come pickled on standard input."""
    serve(pickle.load(sys.stdin.buffer))  # noqa: S301 - of the process that started this one


def serve(settings: Settings) -> None:
    """Serve until no agent is connected any more. Garbage is not collected when this is called."""
    log_to_stderr(settings, "asof")
    with child_starter() as start_child:
        trace_this_process()
        _serve_service(settings, start_child)


def _serve_service(settings: Settings, start_child: StartChild) -> None:
    failed = Event()
    loading = Thread(target=load_sdk_here)  # it takes as long as opening the memory
    loading.start()
    try:
        with Service(settings, failed.set, lambda _: None, lambda _: None, start_child) as service:
            loading.join()
            gc.freeze()
            gc.enable()
            listener = listening(settings.data)
            _say(READY)
            asyncio.run(_accept_agents(service, settings, listener, failed))
    except WriterBusy as error:
        _say(f"{BUSY} {error}")
    except (AsofError, OSError) as error:
        _say(f"error {error}")
    finally:
        flush()


def _say(line: str) -> None:
    with suppress(OSError):  # who started it may have gone
        print(" ".join(line.split()), flush=True)  # noqa: T201
        sys.stdout.close()


async def _accept_agents(service: Service, settings: Settings, listener: socket.socket, failed: Event) -> None:
    """Serve until nobody was connected for a while, a signal comes, or the worker failed."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    server, idle = LocalServer(service, settings), 0.0
    async with server.accepting(listener):
        while not ended.is_set() and not failed.is_set() and idle < _IDLE_SECONDS:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _TICK_SECONDS)
            idle = 0.0 if server.is_used else idle + _TICK_SECONDS
        service.begin_to_end()
