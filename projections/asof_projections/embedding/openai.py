"""An embedder for any endpoint with OpenAI's embeddings API: OpenAI itself, or a server of one's own."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from asof_projections.embedding.endpoint import Endpoint
from asof_projections.embedding.ports import Vectors
from asof_streams.backoff import Backoff
from asof_streams.errors import ModelUnavailable
from asof_streams.json_document import read_json

BATCH: Final = 256  # texts a request
BACKOFF: Final = Backoff(0.5, retries=3)
WORTH_A_RETRY: Final = {408, 409, 429, 500, 502, 503, 504}


class _FailedForNow(ModelUnavailable):
    """The same request may succeed later."""


class OpenAIEmbedder:
    """Embeds by requests. dimensions: a number to request from the model; None: the model's own.

    A request that failed temporarily is retried, as often as the backoff has pauses.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout_seconds: float = 60.0,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._endpoint = Endpoint(base_url, model, api_key, timeout_seconds)
        self._requested_dimensions = dimensions
        self._backoff = backoff

    @cached_property
    def model_id(self) -> str:
        """The model's name, its server, and the requested dimensions."""
        return (
            f"{self._endpoint.model_id}#{self._requested_dimensions}"
            if self._requested_dimensions
            else self._endpoint.model_id
        )

    @cached_property
    def dimensions(self) -> int:
        return self._requested_dimensions or self._request(["length"]).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), BATCH):
            # the API takes no empty text
            rows = self._request([text or " " for text in texts[start : start + BATCH]])
            if rows.shape[1] != self.dimensions:
                raise self._failed(f"answered with {rows.shape[1]} dimensions instead of {self.dimensions}")
            vectors[start : start + BATCH] = rows
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        return self._backoff.retry(partial(self._try, texts), _FailedForNow)

    def _try(self, texts: list[str]) -> Vectors:
        from openai import APIConnectionError, APIStatusError, OpenAIError  # noqa: PLC0415 - an extra, and seconds

        asked: dict[str, Any] = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        if self._requested_dimensions:
            asked["dimensions"] = self._requested_dimensions
        try:
            answer = self._endpoint.post("/embeddings", asked)
        except APIConnectionError as error:
            raise self._failed(f"cannot be reached ({type(error).__name__})", _FailedForNow) from None
        except APIStatusError as error:
            kind = _FailedForNow if error.status_code in WORTH_A_RETRY else ModelUnavailable
            raise self._failed(f"answered status {error.status_code}", kind) from None
        except OpenAIError as error:
            raise self._failed(f"failed ({type(error).__name__})") from None
        return self._rows(answer, len(texts))

    def _rows(self, body: bytes, count: int) -> Vectors:
        try:
            data = sorted(read_json(body)["data"], key=lambda item: item["index"])
            rows = np.array([item["embedding"] for item in data], np.float32)
            lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        except (ValueError, TypeError, KeyError):
            raise self._failed("sent an answer that has no embeddings") from None
        if len(rows) != count or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._failed(f"did not answer with {count} valid embeddings")
        rows /= lengths
        return rows

    def _failed(self, how: str, kind: type[ModelUnavailable] = ModelUnavailable) -> ModelUnavailable:
        return kind(f"the embedding model {self.model_id} {how}")
