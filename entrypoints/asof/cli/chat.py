"""The command that talks with a person in a terminal: chat."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import asdict
from getpass import getuser
from threading import Event, Lock, Thread
from typing import Annotated, Any, Final, TypeVar

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.effects import BELIEF_CHANGES
from asof.cli.tables import sentence
from asof.cli.terminal import Person, Terminal
from asof.operations.errors import InvalidInput, UnavailableError
from asof.operations.operation import DEFAULT_GROUP
from asof.operations.times import system
from asof.service.conversation import Outgoing
from asof.service.served_conversation import open_conversation
from asof.service.service import Service
from asof.settings import Settings

_BOT: Final = "asof"
_CLEAR: Final = "\r\x1b[K"  # the line that is being typed, to show something above it

_DAY: Final = len("2024-05-01")

R = TypeVar("R")


@command(settings=("kafka",))
def chat(
    call: Call,
    *,
    speaker: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Who you are; your user name, if left out.")
    ] = None,
    group: Annotated[str, typer.Option("--group", metavar="ID", help="The group of the conversation.")] = DEFAULT_GROUP,
) -> None:
    """Talk with a bot that has this memory. Without a language model it answers from memory alone.

    On Kafka, with topics of one partition, your messages go to the messages topic, and a responder of
    `asof worker` answers them.
    """
    if not group:
        raise InvalidInput("a conversation needs a group with a name", "group_id")
    settings, failed = _quiet(call.settings), Event()
    who = speaker or getuser()
    screen = _Screen(who, as_json=call.as_json)
    with (
        _loop() as submit,
        Service(settings, failed.set, lambda _: None, lambda _: None) as service,
        closing(open_conversation(service, settings, name=_BOT)) as conversation,
    ):
        terminal = Terminal(service, conversation, Person(group, who, who), screen, system)
        submit(terminal.begin()).result()
        screen.greet(group, settings)
        behind = [submit(terminal.check_in())]
        for line in screen.lines():
            behind = _unfinished(behind)
            if failed.is_set() or not submit(terminal.hear(line)).result():
                break
            behind.append(submit(terminal.learn()))
            if not screen.is_terminal:  # a program reads: what it says next is answered from all that it said
                behind[-1].result()
    if failed.is_set():
        raise service.worker.error or UnavailableError("the worker ended because of an error")


def _quiet(settings: Settings) -> Settings:
    """Return settings by which only warnings are logged among what is said, unless somebody set more."""
    if "log_level" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"log_level": "warning"})


class _Screen:
    """The terminal, or the pipe, of a person: lines in, lines out."""

    def __init__(self, name: str, *, as_json: bool) -> None:
        self.is_terminal: Final = sys.stdin.isatty() and sys.stdout.isatty()
        self._prompt = f"{name}: "
        self._as_json = as_json
        self._lock = Lock()
        self._typing = False

    def greet(self, group: str, settings: Settings) -> None:
        """Tell how this works; in a directory also that no model is there, where it is so: a responder has its own."""
        if settings.kafka is None and settings.model_name is None:
            show.talk(
                "No language model is set, so answers are made of what is remembered, by template. "
                "ASOF_MODEL_NAME names one."
            )
        kept = settings.data if settings.kafka is None else f"{settings.kafka_prefix}.messages on {settings.kafka}"
        show.talk(f"What is said is kept in the group {group} of {kept}. /help lists the commands, /quit ends.")

    def lines(self) -> Iterator[str]:
        """Yield what is typed, line by line, until its end."""
        if not self.is_terminal:
            yield from sys.stdin
            return
        import readline  # noqa: F401 - lets lines be edited

        while True:
            self._typing = True
            try:
                line = input(self._prompt)
            except EOFError:
                show.line()
                return
            finally:
                self._typing = False
            yield line

    def say(self, outgoing: Outgoing) -> None:
        """Show what the bot says, or its reaction."""
        if self._as_json:
            show.data(asdict(outgoing), at_once=True)
            return
        match outgoing.action:
            case "react":
                text = f"{outgoing.text}  (noted beside the conversation; /undo takes it back)"
            case "unreact":
                return
            case _:
                text = outgoing.text
        self._show(lambda: show.line(f"{_BOT}: {text}"))

    def note(self, text: str) -> None:
        """Show what the program itself tells."""
        if self._as_json:
            show.data({"action": "note", "text": text}, at_once=True)
            return
        self._show(lambda: show.talk(text))

    def learned(self, effect: Any) -> None:
        """Show what a message of the conversation did to what is believed."""
        lines = [f"  {kind}: {_dated(belief)}" for kind in BELIEF_CHANGES for belief in getattr(effect, kind)]
        if lines and not self._as_json:
            self._show(lambda: show.talk("\n".join(lines)))

    def _show(self, write: Callable[[], None]) -> None:
        """Write above the line that is being typed, if one is."""
        with self._lock:
            typing = self._typing
            if typing:
                sys.stdout.write(_CLEAR)
            write()
            if typing:
                import readline

                sys.stdout.write(self._prompt + readline.get_line_buffer())
            sys.stdout.flush()


def _dated(belief: Any) -> str:
    """Return the sentence of a fact with the days from and until which it holds; from now on goes without saying."""
    start, end = (show.when(at)[:_DAY] if at is not None else "" for at in (belief.valid_at, belief.invalid_at))
    is_from_a_day = belief.valid_at is not None and show.when(belief.valid_at) == start
    return sentence(belief) + (f", from {start}" if is_from_a_day else "") + (f", until {end}" if end else "")


def _unfinished(behind: list["Future[None]"]) -> list["Future[None]"]:
    """Return what goes on behind the conversation; raise the error that ended any of it."""
    for future in behind:
        if future.done():
            future.result()
    return [future for future in behind if not future.done()]


@contextmanager
def _loop() -> Iterator[Callable[[Coroutine[Any, Any, R]], "Future[R]"]]:
    """Run an event loop in a thread of its own, so that this one can wait for what is typed."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="asof-chat", daemon=True)
    thread.start()

    async def cancel_all() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    try:
        yield lambda work: asyncio.run_coroutine_threadsafe(work, loop)
    finally:
        asyncio.run_coroutine_threadsafe(cancel_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
