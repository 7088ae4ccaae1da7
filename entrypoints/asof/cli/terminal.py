"""A conversation in a terminal: one person types lines in one group, and is shown what the bot says and learns."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from secrets import token_hex
from typing import Any, Final, Literal, NamedTuple, Protocol

from asof.operations import logs
from asof.operations.errors import UnavailableError
from asof.service.conversation import Conversation, Forgotten, Incoming, Outgoing
from asof.service.service import Service

COMMANDS: Final = {
    "/what-do-you-know": "what I know of this conversation's group",
    "/feedback TEXT": "tell me what to do better; it is no part of the conversation",
    "/undo": "take back what you said last, or your last feedback or goal",
    "/forget-me": "erase what you said, and all that follows from it, for ever",
    "/help": "these commands",
    "/quit": "end; what was said is kept",
}
_CHECK_SECONDS: Final = 5.0  # between two looks at which check-ins are due
_YES: Final = "yes"
_UNDO: Final = "🗑️"


class Person(NamedTuple):
    """Who types: in which group, under which id, and by which name they are remembered."""

    group: str
    author: str
    name: str


class Screen(Protocol):
    """Where a person sees what the bot says and does; called from any thread."""

    def say(self, outgoing: Outgoing) -> None:
        """Show what the bot says, or its reaction."""

    def note(self, text: str) -> None:
        """Show what the program itself tells."""

    def learned(self, effect: Any) -> None:
        """Show what a message of the conversation did to what is believed."""


class Terminal:
    """The platform of one person. Its methods are for one event loop, `hear` for one line after another."""

    def __init__(
        self, service: Service, conversation: Conversation, person: Person, screen: Screen, now: Callable[[], int]
    ) -> None:
        self._service = service
        self._conversation = conversation
        self._person = person
        self._screen = screen
        self._now = now
        self._said: list[tuple[str, str]] = []  # what the person said and did not take back, by id, the last at the end
        self._bot_turn: str | None = None  # the last of the bot
        self._asks_to_forget = False
        self._learning = asyncio.Lock()
        self._seen = 0  # the position after the last message whose effect was shown

    async def begin(self) -> None:
        """Answer what a crash left without an answer."""
        self._seen = (await self._service.take([])).start
        await self._show(await self._conversation.resume(self._person.group))

    async def hear(self, line: str) -> bool:
        """Take a line and show its answer; return False if it ends the conversation."""
        if self._asks_to_forget:
            self._asks_to_forget = False
            await self._forget(confirmed=line.strip().lower() == _YES)
        elif line.startswith("/"):
            return await self._obey(*line.rstrip().partition(" ")[::2])
        elif line.strip():
            await self._talk(line.strip())
        return True

    async def learn(self) -> None:
        """Show what was learned in this group since, once all that was said in it is learned from.

        What is said elsewhere meanwhile, such as an import, is not waited for.
        """
        group = self._person.group
        async with self._learning:
            for position in await self._service.ask(lambda reader: reader.positions_in(group, self._seen)):
                await self._processed(position)
                outcome = await self._service.ask(partial(logs.message.ask, position=position))
                self._seen = position + 1
                if (effect := getattr(outcome, "effect", None)) is not None:
                    self._screen.learned(effect)

    async def _processed(self, position: int) -> None:
        while True:
            try:
                return await self._service.done(position)
            except UnavailableError:
                if not self._service.worker.alive:
                    raise
                continue  # a language model that reads takes its time

    async def check_in(self) -> None:
        """Show check-ins when they are due, until it is cancelled."""
        while True:
            await self._show(await self._conversation.due(self._now(), self._person.group))
            await asyncio.sleep(_CHECK_SECONDS)

    async def _obey(self, command: str, rest: str) -> bool:
        match command:
            case "/quit":
                return False
            case "/help":
                self._screen.note(help_text())
            case "/what-do-you-know":
                await self._tell_known()
            case "/feedback" if rest.strip():
                await self._give_feedback(rest.strip())
            case "/feedback":
                self._screen.note("Say what to do better: /feedback TEXT")
            case "/undo":
                await self._undo()
            case "/forget-me":
                self._asks_to_forget = True
                self._screen.note(
                    f"What {self._person.name} said in the group {self._person.group} will be gone for ever, with the "
                    f"answers and all that follows from it. Type {_YES} to erase it, anything else to keep it."
                )
            case _:
                self._screen.note(f"There is no command {command}: /help lists them. A space before / says it.")
        return True

    async def _talk(self, text: str, reply_to: str | None = None) -> None:
        external_id = token_hex(16)
        self._said.append((external_id, text))
        await self._show(await self._tell("message", external_id, text, reply_to))

    async def _give_feedback(self, text: str) -> None:
        if self._bot_turn is None:
            self._screen.note("Feedback is on something that I said, and I have said nothing yet.")
            return
        await self._talk(text, self._bot_turn)

    async def _undo(self) -> None:
        if not self._said:
            self._screen.note("There is nothing to take back of what was said since this began.")
            return
        last, text = self._said.pop()
        undone = await self._tell("reaction", token_hex(16), _UNDO, last)
        if not undone:  # neither feedback nor a goal: a turn
            await self._tell("deletion", last)
        self._screen.note(f"Taken back: {text}")
        await self._show(undone)

    async def _tell_known(self) -> None:
        await self.learn()
        self._screen.note(known_text(await self._conversation.known(self._person.group)))

    async def _forget(self, *, confirmed: bool) -> None:
        if not confirmed:
            self._screen.note("Nothing was erased.")
            return
        receipt = await self._conversation.forget(self._person.group, self._person.author)
        self._said.clear()
        self._bot_turn = None
        self._seen = (await self._service.take([])).start
        self._screen.note(receipt_text(receipt))

    async def _tell(
        self,
        kind: Literal["message", "reaction", "deletion"],
        external_id: str,
        text: str = "",
        reply_to: str | None = None,
    ) -> list[Outgoing]:
        person = self._person
        told = Incoming(kind, person.group, external_id, person.author, person.name, text, self._now(), reply_to)
        return await self._conversation.take(told)

    async def _show(self, answers: Sequence[Outgoing]) -> None:
        for outgoing in answers:
            self._screen.say(outgoing)
            external_id = token_hex(16)
            if await self._conversation.sent(outgoing, external_id, self._now()):
                self._bot_turn = external_id


def known_text(known: Sequence[Any]) -> str:
    """Return what is known, a fact or an objective on a line."""
    return "\n".join(f"- {shown.sentence}" for shown in known) or "I know nothing yet."


def help_text() -> str:
    """Return the commands, one on a line."""
    width = max(map(len, COMMANDS))
    return "\n".join(f"{command.ljust(width)}  {meaning}" for command, meaning in COMMANDS.items())


def receipt_text(receipt: Forgotten) -> str:
    """Return a receipt in a sentence."""
    erased = "no file here holds any of it" if receipt.erased else "it leaves the files here when the next one begins"
    return f"Erased {receipt.messages} messages of the group {receipt.group}: {erased}."
