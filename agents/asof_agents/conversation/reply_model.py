"""A client of a language model that answers people: one call for a reply, since somebody waits for it."""

import json
from typing import Any, Final, NamedTuple

from asof_agents.conversation.replies import SCHEMA
from asof_projections.embedding.endpoint import Endpoint

_NO_SCHEMA: Final = {400, 415, 422, 501}  # answers of servers that do not know the response format


class ModelAnswer(NamedTuple):
    """What a model answered; or None, and why: fixed words, never the server's."""

    content: str | None
    failure: str | None = None


class ReplyModel:
    """A model behind OpenAI's chat completions API, used from any thread. ModelUnavailable: the package is missing.

    It is asked for structured output; a server that refuses that once is asked for text from then on.
    """

    def __init__(self, *, base_url: str, model: str, api_key: str | None, timeout_seconds: float) -> None:
        self._endpoint = Endpoint(base_url, model, api_key, timeout_seconds)
        self._plain_text = False

    @property
    def model_id(self) -> str:
        """The model's name and its server."""
        return self._endpoint.model_id

    def ask(self, prompt: str, temperature: float, max_tokens: int) -> ModelAnswer:
        """Return what the model answers to a prompt; a failure is an answer, too."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415 - an extra, and seconds

        asked = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        try:
            if not self._plain_text:
                try:
                    return _content(self._post(asked | {"response_format": _FORMAT}))
                except APIStatusError as error:
                    if error.status_code not in _NO_SCHEMA:
                        raise
            body = self._post(asked)
        except APITimeoutError:
            return ModelAnswer(None, "timeout")
        except APIConnectionError:
            return ModelAnswer(None, "unreachable")
        except APIStatusError as error:
            return ModelAnswer(None, f"status {error.status_code}")
        except (ValueError, RecursionError):
            return ModelAnswer(None, "malformed")
        self._plain_text = True
        return _content(body)

    def _post(self, asked: dict[str, Any]) -> Any:
        return json.loads(self._endpoint.post("/chat/completions", asked))


_FORMAT: Final = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}


def _content(body: Any) -> ModelAnswer:
    try:
        content = body["choices"][0]["message"].get("content")
        if not isinstance(content, str):
            return ModelAnswer(None, "declined")
        content.encode()
    except (AttributeError, IndexError, KeyError, TypeError, UnicodeEncodeError):
        return ModelAnswer(None, "malformed")
    return ModelAnswer(content)
