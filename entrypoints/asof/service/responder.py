"""The responder: makes replies and check-ins, of the turns before and what is known, by a model or a template."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Protocol, TypeVar

from asof.runtime.conversation_log import ConversationLog
from asof.service.own_thread import in_own_thread
from asof.service.reader import Reader
from asof.service.recollection import RecollectionQuery
from asof.settings import Settings
from asof_agents.conversation.archetypes import ARCHETYPES, DEFAULT
from asof_agents.conversation.checkins import due_time
from asof_agents.conversation.material import ReplyMaterial, ShownTurn
from asof_agents.conversation.prompts import BUILT_IN, CHECK_IN, MAIN, ReplyPrompt, fill
from asof_agents.conversation.replies import ParsedReply, parse_reply
from asof_agents.conversation.reply_model import ReplyModel
from asof_agents.conversation.templates import APOLOGY, GREETING, from_memory
from asof_projections.conversation.model import Checkin, ConversationMessage, MessageChange
from asof_streams.conversation import CheckinScheduled, CheckinSent, ReplyGiven
from asof_streams.errors import AsofError
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.instants import INF
from asof_streams.messages import Message

_PATIENCE_SECONDS: Final = 20.0  # for a model, while somebody waits
_CHANGES: Final = 200  # edits, and as many deletions, of which some may not be believed yet
_TURNS: Final = max(archetype.turns for archetype in ARCHETYPES)

R = TypeVar("R")
log = logging.getLogger(__name__)


class Ask(Protocol):
    """Asks the conversation log something, in the thread that owns it."""

    def __call__(self, question: Callable[[ConversationLog], R]) -> Awaitable[R]: ...


class SearchedMemory(Protocol):
    """The memory that replies are made from."""

    async def search(self, question: Callable[[Reader], R]) -> R:
        """Answer a question that needs the embedder."""
        ...


class Responder:
    """Makes replies. Whatever fails, there is one: an answer, or an apology."""

    def __init__(self, memory: SearchedMemory, settings: Settings, ask: Ask, now: Callable[[], int]) -> None:
        self._memory = memory
        self._ask = ask
        self._now = now
        self._model = _model_of(settings)

    @property
    def has_model(self) -> bool:
        """Whether a model words the replies; if not, a template tells what is known."""
        return self._model is not None

    async def reply(
        self, message: ConversationMessage, said: Message | None, gathered: Callable[[], None] = lambda: None
    ) -> Sequence[Event]:
        """Return what is given in answer to a turn: the reply, and the check-in that was asked for in it.

        said: the message, which may be on its log no more; None: as it is there. gathered: called once the
        memory was searched. Empty: it cannot be read.
        """
        told, turns, changes, prompt = await self._ask(lambda log: _read(log, message, said))
        if told is None:
            return []
        content, speaker, recorded_at = told
        material = await self._recollect(message.group, content, speaker, recorded_at, changes, message.said_at)
        gathered()
        archetype = next(one for one in ARCHETYPES if one.name == material.archetype)
        material = material._replace(turns=turns[len(turns) - min(archetype.turns, len(turns)) :])
        if self._model is None:
            return self._events(message, material, ParsedReply(from_memory(material, content)), None, None)
        parsed, failure = await self._generate(self._model, prompt, content, material)
        return self._events(message, material, parsed or ParsedReply(APOLOGY), prompt, failure)

    async def check_in(self, checkin: Checkin) -> CheckinSent:
        """Return what the bot says first, of what is known by now: as a model words it, or else a greeting.

        A check-in asks for no other: who says nothing is left alone.
        """
        greeting = CheckinSent(checkin_id=checkin.checkin_id, content=GREETING)
        if self._model is None:
            return greeting
        words, turns, changes, prompt = await self._ask(lambda log: _read_last(log, checkin))
        material = (await self._recollect(checkin.group, words, "", INF, changes))._replace(turns=turns)
        parsed, failure = await self._generate(self._model, prompt, "", material)
        asked = {"prompt": prompt.key, "prompt_version": prompt.version, "model": self._model.model_id}
        content = GREETING if parsed is None else parsed.text
        return greeting.model_copy(update={**asked, "content": content, "failure": failure})

    async def _recollect(
        self,
        group: str,
        words: str,
        speaker: str,
        before: int,
        changes: tuple[MessageChange, ...],
        said_at: int | None = None,
    ) -> ReplyMaterial:
        query = RecollectionQuery(group, words, speaker, before, self._model is not None, changes, said_at)
        try:
            return await self._memory.search(query)
        except AsofError as error:  # the message is kept, and somebody waits for an answer
            log.warning("a reply is made without the memory: %s", error)
            return ReplyMaterial()

    async def _generate(
        self, model: ReplyModel, prompt: ReplyPrompt, words: str, material: ReplyMaterial
    ) -> tuple[ParsedReply | None, str | None]:
        """Return what a model says; or None, and why it says nothing."""
        text = fill(prompt.template, words, material)
        calling = in_own_thread(partial(model.ask, text, prompt.temperature, prompt.max_tokens))
        try:
            answer = await asyncio.wait_for(calling, _PATIENCE_SECONDS)
        except TimeoutError:
            return None, "timeout"
        if answer.content is None:
            return None, answer.failure
        parsed = parse_reply(answer.content)
        return (parsed, None) if parsed.text else (None, "empty")

    def _events(
        self,
        message: ConversationMessage,
        material: ReplyMaterial,
        parsed: ParsedReply,
        prompt: ReplyPrompt | None,
        failure: str | None,
    ) -> list[Event]:
        given = ReplyGiven(
            reply_id=derive("reply", message.group, message.position, 0),
            answers=message.position,
            content=parsed.text,
            to=message.external_id or "",
            prompt=prompt and prompt.key,
            prompt_version=prompt and prompt.version,
            model=self._model.model_id if self._model and prompt else None,
            failure=failure,
            archetype=material.archetype,
            facts=material.fact_ids or None,
            turns=tuple(turn.position for turn in material.turns) or None,
        )
        due_at = None if parsed.minutes is None else due_time(self._now(), parsed.minutes)
        if due_at is None:
            return [given]
        checkin_id = derive("checkin", message.group, message.position)
        return [given, CheckinScheduled(checkin_id=checkin_id, answers=message.position, due_at=due_at)]


def _read(
    log: ConversationLog, message: ConversationMessage, said: Message | None
) -> tuple[tuple[str, str, int] | None, tuple[ShownTurn, ...], tuple[MessageChange, ...], ReplyPrompt]:
    """Return the words of a message, by whom and when it was recorded, the turns before it, and the prompt to use.

    Before the prompt come the last changes of what was said in its group.
    """
    turns = _turns(log, message.group, message.position)
    changes = _changes(log, message.group)
    prompt = _prompt(log, MAIN)
    if said is None:
        records = log.messages([message.position, message.words_at])
        found = [r.event for r in (records.get(message.position), records.get(message.words_at)) if r is not None]
        messages = [event for event in found if isinstance(event, Message)]  # an edit need not say whose it is
        if message.words_at not in records or not messages:
            return None, turns, changes, prompt
        said = messages[-1].model_copy(update={"role": messages[0].role})
    return (said.content, _who(said), log.recorded_at(message.position)), turns, changes, prompt


def _read_last(
    log: ConversationLog, checkin: Checkin
) -> tuple[str, tuple[ShownTurn, ...], tuple[MessageChange, ...], ReplyPrompt]:
    """Return what people said in the last turns of a group, these turns, the last changes, and the prompt to use."""
    log.follow()
    turns = _turns(log, checkin.group, log.store.followed("messages").position)[-DEFAULT.turns :]
    words = "\n".join(turn.text for turn in turns if not turn.is_bot)
    return words, turns, _changes(log, checkin.group), _prompt(log, CHECK_IN)


def _changes(log: ConversationLog, group: str) -> tuple[MessageChange, ...]:
    return tuple(log.store.changes(group, _CHANGES))


def _turns(log: ConversationLog, group: str, before: int) -> tuple[ShownTurn, ...]:
    turns = log.store.recent_turns(group, before, _TURNS)
    records = log.messages([turn.words_at for turn in turns])
    return tuple(
        ShownTurn(turn.position, _who(record.event), turn.is_bot, record.event.content, turn.said_at)
        for turn in turns
        if (record := records.get(turn.words_at)) is not None and isinstance(record.event, Message)
    )


def _prompt(log: ConversationLog, key: str) -> ReplyPrompt:
    registered = log.active_prompt(key)
    return BUILT_IN[key] if registered is None else ReplyPrompt(*registered[:5])


def _who(message: Message) -> str:
    return message.role or str(message.role_type)


def _model_of(settings: Settings) -> ReplyModel | None:
    """Return the model that the settings name; None: they name none. ModelUnavailable: a package is missing."""
    if settings.model_name is None:
        return None
    key = settings.model_key
    return ReplyModel(
        base_url=settings.model_url,
        model=settings.model_name,
        api_key=key.get_secret_value() if key else None,
        timeout_seconds=min(settings.model_timeout, _PATIENCE_SECONDS),
    )
