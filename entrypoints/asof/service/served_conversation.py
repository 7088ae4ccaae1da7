"""The conversation of a service that answers many callers, opened by the first who talks."""

import asyncio
from typing import Self

from asof.service.conversation import Conversation
from asof.service.service import Service
from asof.settings import Settings


class ServedConversation:
    """Opens the conversation of a service when it is first needed. Use it as a context manager, within the service's.

    A memory with which nobody talks gets no conversation log.
    """

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service, self._settings = service, settings
        self._turn = asyncio.Lock()
        self._conversation: Conversation | None = None

    async def opened(self) -> Conversation:
        """Return the conversation. InvalidInput: the service is one on Kafka."""
        async with self._turn:
            if self._conversation is None:
                self._conversation = await asyncio.to_thread(Conversation, self._service, self._settings)
            return self._conversation

    def close(self) -> None:
        """Close the conversation, if it was opened."""
        if self._conversation is not None:
            self._conversation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
