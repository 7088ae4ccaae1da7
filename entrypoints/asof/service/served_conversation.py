"""The conversation of a service that answers many callers, opened by the first who talks."""

import asyncio
from typing import Self

from asof.service.conversation import Conversation
from asof.service.local_conversation import LocalConversation
from asof.service.service import Service
from asof.service.topic_conversation import TopicConversation
from asof.settings import Settings


def open_conversation(service: Service, settings: Settings, *, name: str = "assistant") -> Conversation:
    """Return the conversation of a service: in its directory, or by way of topics. name: what the bot is called.

    InvalidInput: no content is to be kept, and the service is one on Kafka.
    """
    if settings.kafka is not None:
        return TopicConversation(service, settings, name=name)
    return LocalConversation(service, settings, name=name)


class ServedConversation:
    """Opens the conversation of a service when it is first needed. Use it as a context manager, within the service's.

    A memory with which nobody talks gets no conversation log.
    """

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service, self._settings = service, settings
        self._turn = asyncio.Lock()
        self._conversation: Conversation | None = None

    async def opened(self) -> Conversation:
        """Return the conversation. InvalidInput: as `open_conversation` raises it."""
        async with self._turn:
            if self._conversation is None:
                self._conversation = await asyncio.to_thread(open_conversation, self._service, self._settings)
            return self._conversation

    def close(self) -> None:
        """Close the conversation, if it was opened."""
        if self._conversation is not None:
            self._conversation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
