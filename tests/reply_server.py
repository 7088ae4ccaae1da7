"""A small server that speaks OpenAI's chat completions, for replies: it says what it is told, and keeps the prompts."""

import json
import time
from contextlib import AbstractContextManager
from typing import Any

from openai_server import OpenAIServer, started

Said = str | None | tuple[int, str]  # the content of an answer, none, or a status and a body


class ReplyServer(OpenAIServer):
    """First it says what is in `says`, one a call; then a reply that repeats the message.

    latency: seconds a call takes. structured: whether it knows schemas; one that does not answers 400 to them.
    """

    path = "/chat/completions"

    def __init__(self) -> None:
        super().__init__()
        self.says: list[Said] = []
        self.latency = 0.0
        self.structured = True

    @property
    def prompts(self) -> list[str]:
        return [asked["messages"][-1]["content"] for asked in self.requests]

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        self.requests.append(asked)
        time.sleep(self.latency)
        if "response_format" in asked and not self.structured:
            return 400, json.dumps({"error": {"message": "response_format json_schema is not supported"}})
        said = self.says.pop(0) if self.says else "Thank you for telling me."
        if isinstance(said, tuple):
            return said
        if "response_format" in asked and said is not None and not said.startswith("{"):
            said = json.dumps({"reply": said, "next_proactive_in_minutes": None})
        message = {"role": "assistant", "content": said}
        return 200, json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def replying() -> AbstractContextManager[ReplyServer]:
    return started(ReplyServer())
