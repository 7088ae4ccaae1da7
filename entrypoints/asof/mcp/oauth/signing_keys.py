"""The public keys of an authorization server, fetched when a token names one that is not known."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from asof.operations.errors import UnavailableError
from asof.settings import OauthConfig

if TYPE_CHECKING:
    from jwt import PyJWK

_SECONDS: Final = 10.0  # for an answer
_PAUSE_SECONDS: Final = 30.0  # between two fetches: strangers may name any key
_LIFETIME_SECONDS: Final = 3_600.0  # after which a key that was withdrawn is known no longer
_MOST_BYTES: Final = 1_000_000
_UNREACHED: Final = "the authorization server's keys cannot be fetched"


class SigningKeys:
    """The keys by id, of which each caller sees the same. Thread-safe."""

    def __init__(self, config: OauthConfig, now: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._now = now
        self._lock = threading.Lock()
        self._keys: Mapping[str | None, PyJWK] = {}
        self._fetched: float | None = None

    def key(self, id_: str | None) -> "PyJWK | None":
        """Return a key by id; None: the server has none of it. A token without an id means the only key that there is.

        UnavailableError: the server cannot be asked, and nothing is known of it.
        """
        with self._lock:
            age = None if self._fetched is None else self._now() - self._fetched
            wanted = age is None or age > _LIFETIME_SECONDS or (id_ not in self._keys and age > _PAUSE_SECONDS)
            if wanted:
                self._fetch()
            return self._keys.get(id_)

    def _fetch(self) -> None:
        from jwt import PyJWKSet
        from jwt.exceptions import PyJWTError

        try:
            found = [key for key in PyJWKSet.from_dict(_read(self._url())).keys if key.key_type in {"RSA", "EC", "OKP"}]
        except (OSError, ValueError, PyJWTError):
            if not self._keys:
                raise UnavailableError(_UNREACHED) from None
            self._fetched = self._now()  # the keys that are known serve on
            return
        keys: dict[str | None, PyJWK] = {key.key_id: key for key in found}
        if len(found) == 1:
            keys[None] = found[0]
        self._keys, self._fetched = keys, self._now()

    def _url(self) -> str:
        """Return the address of the keys: the one that is set, or that of the issuer's metadata (RFC 8414, OIDC)."""
        if self._config.jwks_url is not None:
            return self._config.jwks_url
        issuer = self._config.issuer
        parts = urlsplit(issuer)
        path = parts.path.rstrip("/")
        root = f"{parts.scheme}://{parts.netloc}"
        for address in (
            f"{root}/.well-known/oauth-authorization-server{path}",
            f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        ):
            try:
                metadata = _read(address)
            except (OSError, ValueError):
                continue
            found = metadata.get("jwks_uri")
            if metadata.get("issuer") == issuer and isinstance(found, str):
                return found
        raise ValueError


def _read(url: str) -> dict[str, Any]:
    """Return a JSON object from an address. OSError, ValueError: there is none."""
    from urllib.request import urlopen

    if not url.startswith(("https://", "http://")):
        raise ValueError
    with urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 - checked above
        value = json.loads(answer.read(_MOST_BYTES))
    if not isinstance(value, dict):
        raise ValueError  # noqa: TRY004 - as of text that is no JSON
    return value
