"""An authorization server: it has metadata and keys, and gives signed tokens to a client that shows its secret."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID: Final = "agent"
CLIENT_SECRET: Final = "a-secret-of-a-client"
FOREVER: Final = 100_000  # seconds


class AuthorizationServer:
    """Signs tokens with one key after another; `asked` counts by path what it was asked for."""

    def __init__(self) -> None:
        self.issuer = ""
        self.asked: dict[str, int] = {}
        self.rotate()

    def rotate(self) -> None:
        """Sign with a new key from now on; the old one is withdrawn."""
        self._number = getattr(self, "_number", 0) + 1
        self._key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    @property
    def _kid(self) -> str:
        return f"key-{self._number}"

    def token(self, resource: str, scope: str, **claims: Any) -> str:
        """Return a token; claims may be wrong, and None leaves one out."""
        right = {
            "iss": self.issuer,
            "aud": resource,
            "sub": "ana",
            "scope": scope,
            "exp": int(time.time()) + FOREVER,
        }
        whole = {name: value for name, value in {**right, **claims}.items() if value is not None}
        return jwt.encode(whole, self._key, algorithm="RS256", headers={"kid": self._kid})

    def answer(self, path: str, form: dict[str, list[str]], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the status and body of a request."""
        self.asked[path] = self.asked.get(path, 0) + 1
        if path == "/.well-known/oauth-authorization-server":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
            return 200, {"keys": [{**public, "kid": self._kid, "use": "sig", "alg": "RS256"}]}
        if path == "/token":
            shown = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
            if authorization != f"Basic {shown}" or form.get("grant_type") != ["client_credentials"]:
                return 401, {"error": "invalid_client"}
            given = self.token(form["resource"][0], form["scope"][0])
            return 200, {"access_token": given, "token_type": "Bearer", "expires_in": FOREVER}
        return 404, {}


@contextmanager
def authorizing() -> Iterator[AuthorizationServer]:
    """Run an authorization server on this machine."""
    server = AuthorizationServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._answer(parse_qs(self.rfile.read(length).decode()))

        def _answer(self, form: dict[str, list[str]]) -> None:
            status, body = server.answer(self.path, form, self.headers.get("Authorization", ""))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.issuer = f"http://127.0.0.1:{listening.server_port}"
        thread = Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
