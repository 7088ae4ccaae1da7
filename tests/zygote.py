"""A process that has imported everything and forks what tests start, so that a start costs milliseconds.

It listens on the socket whose path is its argument, says so by a line on its output, and ends once nobody is connected
any more. Requests are those of forks.Zygote.
"""

import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
from contextlib import chdir, suppress
from functools import cache
from pathlib import Path
from runpy import run_module
from select import select
from socket import AF_UNIX, socket
from tempfile import TemporaryDirectory
from typing import Any

import typer.main

import asof.cli
import forks
from asof.api.memory import Memory
from asof.http.app import described
from asof.mcp.sdk import load_sdk_here
from asof.mcp.tools import TOOLS
from asof.runtime import child_process
from asof.settings import Settings
from asof_agents.extraction.english.patterns import patterns
from asof_ontologies import registry

IMPORTED = [
    "asof.cli.chat",
    "asof.cli.discord.command",
    "asof.cli.facts",
    "asof.cli.generations",
    "asof.cli.kafka",
    "asof.cli.mcp",
    "asof.cli.serve",
    "asof.cli.upkeep",
    "asof.http.server",
    "asof.kafka.projector_process",
    "asof.kafka.rebuild",
    "asof.kafka.topic_rewrite",
    "asof.kafka.worker_process",
    "asof.mcp.local_process",
    "asof.operations.sessions",
    "asof.runtime.doctor",
    "asof.runtime.vector_search",
    "asof.service.build_process",
    "asof.service.long_questions",
    "asof.service.search_process",
    "asof.service.topic_responder",
    "asof.service.worker_process",
    "asof_agents.extraction.english.extractor",
    "asof_projections.retrieval.pipeline.search",
    "asof_projections.retrieval.search",
    "asof_projections.retrieval.turns",
    "asof_projections.vectors.faiss_index",
    "faiss",
    "faust.app.router",
    "faust.assignor.leader_assignor",
    "faust.assignor.partition_assignor",
    "faust.fixups.django",
    "faust.tables.globaltable",
    "faust.tables.manager",
    "faust.tables.sets",
    "faust.topics",
    "faust.worker",
    "numpy.random",
    "openai",
]

running: set[int] = set()
ended: dict[int, int] = {}  # exit codes, by process id


class OwnFork:
    """A fork of a command, in place of the interpreter that a child is: as much of Popen as a ChildProcess uses."""

    def __init__(self, command: list[str]) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            sys.argv = command[-3:]
            child_process.main()
        self._code: int | None = None

    def wait(self, _: float | None = None) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def start_child(command: list[str], **given: Any) -> object:
    """Start a child of a command: as a fork, unless there are threads whose locks it would take over."""
    return OwnFork(command) if threading.active_count() == 1 else subprocess.Popen(command, **given)


def start(arguments: list[str], environment: dict[str, str], folder: str, has_children: bool, files: list[int]) -> int:
    """Fork an `asof` command."""
    pid = fork()
    if pid:
        return pid
    become(environment, folder, has_children, files)
    sys.argv = [str(Path(sys.executable).with_name("asof")), *arguments]
    sys.exit(asof.cli.script())


def run(arguments: list[str], environment: dict[str, str], folder: str, has_children: bool, files: list[int]) -> int:
    """Fork a Python that runs a module or code: the arguments are its path, `-m` or `-c`, and what comes then."""
    pid = fork()
    if pid:
        return pid
    become(environment, folder, has_children, files)
    sys.executable, option, *sys.argv = arguments
    paths = environment.get("PYTHONPATH")
    sys.path[:0] = [folder, *(paths.split(os.pathsep) if paths else ())]
    if option == "-m":
        run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        code, sys.argv[0] = sys.argv[0], option
        exec(code, {"__name__": "__main__"})
    sys.exit()


def become(environment: dict[str, str], folder: str, has_children: bool, files: list[int]) -> None:
    """Let this fork be a process of its own: with an environment, a folder and its standard streams."""
    if has_children:
        child_process.Popen = start_child  # type: ignore[attr-defined, assignment]
    else:
        forks.fork_children(forks.Zygote(Path(sys.argv[1])))
    os.chdir(folder)
    for number in range(3):
        os.dup2(files[number], number)
        os.close(files[number])
    for file in files[3:]:
        os.set_inheritable(file, False)  # its end says that this process has ended
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    sys.modules["__main__"].__dict__.pop("__file__", None)  # so that a process it starts does not begin with this one


def child(environment: dict[str, str], folder: str, paths: list[str], files: list[int]) -> int:
    """Fork a child of a process."""
    pid = fork()
    if pid == 0:
        channel, lifeline, _, stderr = files
        os.chdir(folder)
        os.dup2(stderr, 2)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = paths
        forks.fork_children(forks.Zygote(Path(sys.argv[1])))
        child_process.run(channel, lifeline)
    return pid


def fork() -> int:
    """Fork this process, without its connections; return 0 in the child."""
    pid = os.fork()
    if pid:
        running.add(pid)
        ended.pop(pid, None)
    else:
        os.setsid()
        for connection in connections:
            connection.close()
    return pid


def poll(pid: int, _: list[int]) -> int | None:
    """Return the exit code of a process that was forked, or None while it runs."""
    while running and (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
        running.remove(found[0])
        ended[found[0]] = os.waitstatus_to_exitcode(found[1])
    return ended.get(pid)


def end(pid: int, files: list[int]) -> int:
    """Kill a process that was forked, unless it has ended; return its exit code."""
    if poll(pid, files) is None:
        os.kill(pid, signal.SIGKILL)
        running.remove(pid)
        ended[pid] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return ended[pid]


def prepare() -> None:
    """Do once what every command would: import, read ontologies, commands and tools, and what is kept of them."""
    load_sdk_here()
    for name in IMPORTED:
        importlib.import_module(name)
    for name in registry.names():
        patterns(registry.load(name))
    described(keyed=False)
    for tool in TOOLS.values():
        tool.listed(whole=True, grouped=True)
    use_memory()
    build = cache(typer.main.get_command)
    build(asof.cli.app)
    typer.main.get_command = build
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page


def use_memory() -> None:
    """Add a message, and ask: what is kept of the first time, such as the layout of files, takes longer than either."""
    for name in [name for name in os.environ if name.startswith("ASOF_")]:
        del os.environ[name]  # of the test that needed this process first
    with (
        TemporaryDirectory() as folder,
        chdir(folder),  # where no settings are
        Memory(Settings(data=Path("data"), embedder="none")) as memory,
    ):
        memory.add("I live in Rome.", role="Ana")
        memory.search("Where does Ana live?")


REQUESTS = {"start": start, "run": run, "child": child, "poll": poll, "end": end}
connections: list[socket] = []  # the first one listens


def answer(connection: socket) -> None:
    """Do what is asked on a connection; without another request it is closed."""
    try:
        (name, *given), files = forks.receive(connection)
    except (EOFError, OSError):
        connections.remove(connection)
        connection.close()
        return
    answer = REQUESTS[name](*given, files)  # type: ignore[operator]
    for file in files:
        os.close(file)
    with suppress(OSError):  # who asked has ended
        forks.send(connection, answer)


def main() -> None:
    prepare()
    listener = socket(AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    connections.append(listener)
    os.write(1, b"\n")
    while True:
        for connection in select(connections, [], [])[0]:
            if connection is listener:
                connections.append(listener.accept()[0])
            else:
                answer(connection)
        if connections == [listener]:
            break
    Path(sys.argv[1]).unlink()
    for pid in running:  # of tests that were interrupted
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
