"""A small server that speaks OpenAI's chat completions, for replies: it says what it is told, and keeps the prompts."""

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from openai_server import OpenAIServer, started

Said = str | None | tuple[int, str]  # the content of an answer, none, or a status and a body


class ReplyServer(OpenAIServer):
    """First it says what is in `says`, one a call; then a reply that repeats the message.

    latency: seconds a call takes. structured: whether it knows schemas; one that does not answers 400 to them.
    reads: called for what is no reply, in which it then finds nothing.
    """

    path = "/chat/completions"

    def __init__(self) -> None:
        super().__init__()
        self.says: list[Said] = []
        self.latency = 0.0
        self.reads: Callable[[], object] = lambda: None
        self.structured = True

    @property
    def prompts(self) -> list[str]:
        return [asked["messages"][-1]["content"] for asked in self.requests]

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        self.requests.append(asked)
        if _asks_for(asked) not in (None, "reply"):
            self.reads()
            return _completed(json.dumps({"entities": [], "facts": [], "attributes": []}))
        time.sleep(self.latency)
        if "response_format" in asked and not self.structured:
            return 400, json.dumps({"error": {"message": "response_format json_schema is not supported"}})
        said = self.says.pop(0) if self.says else "Thank you for telling me."
        if isinstance(said, tuple):
            return said
        if "response_format" in asked and said is not None and not said.startswith("{"):
            said = json.dumps({"reply": said, "next_proactive_in_minutes": None})
        return _completed(said)


def _asks_for(asked: dict[str, Any]) -> str | None:
    """Return the name of the schema of an answer."""
    name: str | None = asked.get("response_format", {}).get("json_schema", {}).get("name")
    return name


def _completed(content: str | None) -> tuple[int, str]:
    message = {"role": "assistant", "content": content}
    return 200, json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def replying() -> AbstractContextManager[ReplyServer]:
    return started(ReplyServer())


if __name__ == "__main__":  # python tests/reply_server.py LATENCY READING
    with replying() as server:
        server.latency, reading = map(float, sys.argv[1:])
        server.reads = partial(time.sleep, reading)
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
