"""A client of any language model with OpenAI's chat completions API, OpenAI's own or a local server's."""

import json
import time
from collections.abc import Mapping
from math import inf
from typing import Any, Final, NamedTuple

from asof_agents.extraction.llm.schemas import object_of
from asof_agents.extraction.llm.usage import Meter
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_projections.embedding.endpoint import Endpoint
from asof_streams.backoff import Backoff

BACKOFF: Final = Backoff(1.0, retries=4)  # of a server that is away or refuses; 15 seconds
_PATIENCE_SECONDS: Final = 120.0  # after which no other call about a request begins
_GARBLED: Final = 1  # answers that cannot be used after which it is called again: it mostly says the same
_NO_SCHEMA: Final = {400, 415, 422, 501}  # answers of servers that do not know the response format


class ChatModel:
    """Requests structured output, or plain JSON if the server does not support that. Used from any thread.

    A failed call is repeated after each pause of the backoff, or after what the server's Retry-After says, within two
    minutes of the first call; the last failure gives a reply without an answer. From then on each request is one call,
    without a pause, until one succeeds: a server that is away holds no queue up.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        timeout_seconds: float = 60.0,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self.usage = Meter()
        self._endpoint = Endpoint(base_url, model, api_key, timeout_seconds)
        self._backoff = backoff
        self._plain_json = False
        self._is_away = False  # the last request failed after all its calls

    @property
    def model_id(self) -> str:
        """The model's name and its server."""
        return self._endpoint.model_id

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return the model's reply, an answer or a failure, and count its usage."""
        reply = self._call_again(request)
        self.usage.count(request, reply)
        return reply

    def _call_again(self, request: ModelRequest) -> ModelReply:
        calls = prompt_tokens = completion_tokens = garbled = 0
        failure = _GARBLED_ANSWER
        begun = time.perf_counter()
        for calls, pause in enumerate((*self._backoff.pauses(), inf), 1):
            body = self._call(request)
            content = body if isinstance(body, _Failure) else _content(body)
            read, written = _tokens(body)
            prompt_tokens, completion_tokens = prompt_tokens + read, completion_tokens + written
            seconds = time.perf_counter() - begun
            if isinstance(content, str):
                self._is_away = False
                return ModelReply(content, "", calls, prompt_tokens, completion_tokens, round(1000 * seconds))
            failure = content
            garbled += failure.is_garbled
            wait = max(pause, failure.retry_after)
            if self._is_away or garbled > _GARBLED or seconds + wait > _PATIENCE_SECONDS:
                break
            time.sleep(wait)
        self._is_away = not failure.is_garbled
        return ModelReply(None, failure.reason, calls, prompt_tokens, completion_tokens)

    def _call(self, request: ModelRequest) -> "Any | _Failure":
        """Return the body of the response, or the failure. A server that refuses a schema once gets none again."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415 - an extra, and seconds

        try:
            if self._plain_json:
                return self._json(request)
            try:
                return self._structured(request)
            except APIStatusError as error:
                if error.status_code not in _NO_SCHEMA:
                    raise
                body = self._json(request)
                self._plain_json = True
                return body
        except APITimeoutError:
            return _Failure("timeout")
        except APIConnectionError:
            return _Failure("unreachable")
        except APIStatusError as error:
            return _Failure(f"status {error.status_code}", _retry_after(error.response.headers))
        except ValueError:
            return _GARBLED_ANSWER

    def _structured(self, request: ModelRequest) -> Any:
        schema = {"name": request.prompt, "strict": True, "schema": json.loads(request.schema)}
        return self._post(request, request.system, {"type": "json_schema", "json_schema": schema})

    def _json(self, request: ModelRequest) -> Any:
        system = f"{request.system}\nThe schema of the JSON object to answer with:\n{request.schema}"
        return self._post(request, system, {"type": "json_object"})

    def _post(self, request: ModelRequest, system: str, response_format: dict[str, Any]) -> Any:
        asked = {
            "model": self._endpoint.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": request.user}],
            "temperature": request.temperature,
            "response_format": response_format,
        }
        return json.loads(self._endpoint.post("/chat/completions", asked))


class _Failure(NamedTuple):
    """Why a call gave no answer.

    retry_after: the seconds that the server asks for before the next call. is_garbled: it answered, but not usefully.
    """

    reason: str
    retry_after: float = 0.0
    is_garbled: bool = False


_GARBLED_ANSWER: Final = _Failure("malformed", is_garbled=True)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds of the header Retry-After; 0, if there is none or it is a date."""
    seconds = headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() else 0.0


def _content(body: Any) -> str | _Failure:
    """Return the text of a response, or its failure."""
    try:
        choice = body["choices"][0]
        content = choice["message"].get("content")
        if not isinstance(content, str):
            return _Failure("declined", is_garbled=True)
        if choice.get("finish_reason") == "length":
            return _Failure("cut short", is_garbled=True)
        content.encode()
    except (AttributeError, IndexError, KeyError, TypeError, UnicodeEncodeError):
        return _GARBLED_ANSWER
    return content if object_of(content) is not None else _Failure("not JSON", is_garbled=True)


def _tokens(body: Any) -> tuple[int, int]:
    """Return the tokens of prompt and completion by the server's count; 0, if it gives none."""
    usage = body.get("usage") if isinstance(body, dict) else None
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    read, written = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return read, written
