"""A model behind an endpoint with OpenAI's API: its id, and requests to it."""

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from asof_projections.embedding.extras import require
from asof_streams.distribution import install_command

if TYPE_CHECKING:
    from openai import OpenAI


_CONNECT_SECONDS: Final = 5.0


class Endpoint:
    """One model of one endpoint, for use from any thread. ModelUnavailable: the package openai is missing."""

    def __init__(self, base_url: str, model: str, api_key: str | None, timeout_seconds: float) -> None:
        require("openai", command=install_command("openai"))
        self.model = model
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._lock = Lock()

    @cached_property
    def model_id(self) -> str:
        """The model's name and its server, in place of a digest of weights, which an endpoint does not show."""
        place = urlsplit(self._base_url)  # without a password in the address
        port = f":{place.port}" if place.port else ""
        return f"{self.model}@{place.hostname}{port}{place.path.rstrip('/')}"

    def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Return the body of the answer to a request. The client's errors pass through; none is retried.

        The client's own functions look at every field of a request first, which takes a fifth of the time of a call.
        """
        from openai import HttpxBinaryResponseContent  # noqa: PLC0415 - an extra, and seconds of import

        with self._lock:
            client = self._made
        return client.post(path, body=body, cast_to=HttpxBinaryResponseContent).content

    @cached_property
    def _made(self) -> "OpenAI":
        from openai import OpenAI, Timeout  # noqa: PLC0415 - an extra, and seconds of import

        return OpenAI(
            base_url=self._base_url,
            api_key=self._api_key or "none",  # a server of one's own asks for no key; the client does
            timeout=Timeout(self._timeout_seconds, connect=min(self._timeout_seconds, _CONNECT_SECONDS)),
            max_retries=0,
        )
