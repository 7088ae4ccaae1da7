"""A client of any language model with OpenAI's chat completions API, OpenAI's own or a local server's."""

import json
import time
from typing import Any, Final

from asof_agents.extraction.llm.schemas import object_of
from asof_agents.extraction.llm.usage import Meter
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_projections.embedding.endpoint import Endpoint
from asof_streams.backoff import Backoff
from asof_streams.errors import ModelUnavailable

BACKOFF: Final = Backoff(1.0, retries=1)
_SETTINGS: Final = {401: "the key is refused", 403: "the key may not use it", 404: "there is no such model or address"}
_NO_SCHEMA: Final = {400, 415, 422, 501}  # answers of servers that do not know the response format


class ChatModel:
    """Requests structured output, or plain JSON if the server does not support that. Used from any thread.

    A failed call is repeated after each pause of the backoff; the last failure gives a reply without an answer.
    ModelUnavailable: the key, the model's name or the address is wrong, so every request would fail.
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

    @property
    def model_id(self) -> str:
        """The model's name and its server."""
        return self._endpoint.model_id

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return the model's reply, and count its usage. After two failed calls it is a failure without an answer."""
        try:
            reply = self._call_again(request)
        except ModelUnavailable:
            self.usage.count(request, ModelReply(None))
            raise
        self.usage.count(request, reply)
        return reply

    def _call_again(self, request: ModelRequest) -> ModelReply:
        calls = prompt_tokens = completion_tokens = 0
        failure = ""
        begun = time.perf_counter()
        for calls, pause in enumerate((0.0, *self._backoff.pauses()), 1):
            time.sleep(pause)
            body, failure = self._call(request)
            content, failure = (None, failure) if failure else _content(body)
            read, written = _tokens(body)
            prompt_tokens, completion_tokens = prompt_tokens + read, completion_tokens + written
            if content is not None:
                latency_ms = round(1000 * (time.perf_counter() - begun))
                return ModelReply(content, "", calls, prompt_tokens, completion_tokens, latency_ms)
        return ModelReply(None, failure, calls, prompt_tokens, completion_tokens)

    def _call(self, request: ModelRequest) -> tuple[Any, str]:
        """Return the body of the response, or the failure. A server that refuses a schema once gets none again."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415 - an extra, and seconds

        try:
            if self._plain_json:
                return self._json(request), ""
            try:
                return self._structured(request), ""
            except APIStatusError as error:
                if error.status_code not in _NO_SCHEMA:
                    raise
                body = self._json(request)
                self._plain_json = True
                return body, ""
        except APITimeoutError:
            return None, "timeout"
        except APIConnectionError:
            return None, "unreachable"
        except APIStatusError as error:
            if error.status_code in _SETTINGS:
                raise ModelUnavailable(f"the model {self.model_id}: {_SETTINGS[error.status_code]}") from None
            return None, f"status {error.status_code}"
        except ValueError:
            return None, "malformed"

    def _structured(self, request: ModelRequest) -> Any:
        answer = self._endpoint.client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=[{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
            temperature=request.temperature,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": request.prompt, "strict": True, "schema": json.loads(request.schema)},
            },
        )
        return json.loads(answer.http_response.content)

    def _json(self, request: ModelRequest) -> Any:
        system = f"{request.system}\nThe schema of the JSON object to answer with:\n{request.schema}"
        answer = self._endpoint.client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": request.user}],
            temperature=request.temperature,
            response_format={"type": "json_object"},
        )
        return json.loads(answer.http_response.content)


def _content(body: Any) -> tuple[str | None, str]:
    """Return the text of a response, or its failure."""
    try:
        choice = body["choices"][0]
        content = choice["message"].get("content")
        if not isinstance(content, str):
            return None, "declined"
        if choice.get("finish_reason") == "length":
            return None, "cut short"
        content.encode()
    except (AttributeError, IndexError, KeyError, TypeError, UnicodeEncodeError):
        return None, "malformed"
    return (content, "") if object_of(content) is not None else (None, "not JSON")


def _tokens(body: Any) -> tuple[int, int]:
    """Return the tokens of prompt and completion by the server's count; 0, if it gives none."""
    usage = body.get("usage") if isinstance(body, dict) else None
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    read, written = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return read, written
