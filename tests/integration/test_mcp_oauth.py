"""`/mcp` as a resource server of OAuth 2.1: a client finds the authorization server, and no wrong token passes."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from anyio.from_thread import start_blocking_portal
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from api_keys import TEAM_READ, sent, written
from asof.mcp.oauth.signing_keys import SigningKeys
from asof.mcp.oauth.tokens import AccessTokens, TokenRefused
from asof.operations.errors import InvalidInput, UnavailableError
from asof.service.api_keys import Permission
from asof.settings import OauthConfig, read
from http_server import Server, serving
from mcp_agent import Agent, agent_at
from oauth_server import CLIENT_ID, CLIENT_SECRET, AuthorizationServer, authorizing
from patience import SECONDS

RESOURCE = "https://memory.example.org/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTED = {"Accept": "application/json, text/event-stream", "Host": "memory.example.org"}
ALL = "asof:admin asof:groups"


@pytest.fixture(scope="module")
def issuer() -> Iterator[AuthorizationServer]:
    with authorizing() as server:
        yield server


@pytest.fixture(scope="module")
def served(issuer: AuthorizationServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("mcp-oauth")
    oauth = json.dumps({"issuer": issuer.issuer, "resource": RESOURCE})
    keys = str(written(folder / "keys.toml"))
    with serving(folder / "data", ASOF_MCP_OAUTH=oauth, ASOF_KEYS_FILE=keys) as running:
        yield running


def post(served: Server, token: str | None, path: str = "/mcp") -> httpx2.Response:
    headers = ACCEPTED if token is None else {**ACCEPTED, **sent(token)}
    return served.client.post(path, json=LIST, headers=headers)


# What a client finds.


def test_the_metadata_of_the_resource_names_the_authorization_server(
    served: Server, issuer: AuthorizationServer
) -> None:
    for path in (METADATA, "/.well-known/oauth-protected-resource"):
        answer = served.client.get(path, headers={"Host": "memory.example.org"})
        assert answer.status_code == 200
        told = answer.json()
        assert (told["resource"], told["authorization_servers"]) == (RESOURCE, [issuer.issuer])
        assert {"asof:read", "asof:write", "asof:groups"} <= {*told["scopes_supported"]}
    assert served.client.get("/.well-known/oauth-protected-resource/other").status_code == 401


@pytest.mark.parametrize("path", ["/mcp", "/mcp/team-a"])
def test_who_sends_no_token_is_told_where_the_metadata_is(served: Server, path: str) -> None:
    answer = post(served, None, path)

    assert answer.status_code == 401
    challenge = answer.headers["WWW-Authenticate"]
    assert f'resource_metadata="https://memory.example.org{METADATA}"' in challenge
    assert 'scope="asof:write asof:groups"' in challenge
    assert "error=" not in challenge


def test_a_page_is_served_at_the_public_address_alone(served: Server, issuer: AuthorizationServer) -> None:
    token = sent(issuer.token(RESOURCE, ALL))
    for origin, status in (("https://memory.example.org", 200), ("https://evil.example", 403)):
        answer = served.client.post("/mcp", json=LIST, headers={**ACCEPTED, **token, "Origin": origin})
        assert answer.status_code == status, answer.text


class _Near(httpx2.AsyncHTTPTransport):
    """Sends what is for the public address to this machine."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._near = httpx2.URL(url)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.host == "memory.example.org":
            request.url = request.url.copy_with(scheme="http", host=self._near.host, port=self._near.port)
        return await super().handle_async_request(request)


class _Storage:
    """Keeps a client's token while it runs."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


def test_the_official_client_finds_its_way_to_a_token(served: Server, issuer: AuthorizationServer) -> None:
    provider = ClientCredentialsOAuthProvider(
        server_url=RESOURCE,
        storage=_Storage(),
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        scope="asof:write asof:groups",
        issuer=issuer.issuer,
    )
    sender = httpx2.AsyncClient(auth=provider, transport=_Near(served.url), timeout=SECONDS)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(sender),
        portal.wrap_async_context_manager(Client(streamable_http_client(RESOURCE, http_client=sender))) as client,
    ):
        agent = Agent(portal, client)
        agent.tell("I live in Berlin.", group_id="team-o")
        assert "Berlin" in agent.ask("recall", query="Where does Ana live?", group_id="team-o")["text"]
    assert issuer.asked["/token"] == 1


# What a token allows.


def test_scopes_are_permissions_and_groups(served: Server, issuer: AuthorizationServer) -> None:
    def agent(scope: str, path: str = "/mcp") -> Any:
        return agent_at(f"{served.url}{path}", **sent(issuer.token(RESOURCE, scope)))

    with agent("asof:read asof:group:team-") as reader:
        assert "add_memory" not in reader.tools
        assert "lacks the permission" in reader.refused("add_memory", episode_body="x", group_id="team-a")
        assert reader.ask("get_status", group_id="team-a")["group_ids"] == ["team-a"]
        assert "the key is for other groups" in reader.refused("get_status", group_id="other")
    with agent("asof:write asof:group:team-", "/mcp/team-a") as writer:
        writer.tell("I live in Rome.")
    with agent("asof:write asof:group:team-", "/mcp/other") as writer:
        assert "the key is for other groups" in writer.refused("add_memory", episode_body="x")
    with agent("openid asof:admin asof:groups") as everybody:
        assert "Rome" in everybody.text("recall", query="Where does Ana live?", group_id="team-a")


@pytest.mark.parametrize(
    "scope", ["", "openid", "asof:read", "asof:groups", "asof:write asof:group:", "asof:read asof:group:a asof:group:b"]
)
def test_a_token_without_a_permission_or_a_group_is_refused(
    served: Server, issuer: AuthorizationServer, scope: str
) -> None:
    answer = post(served, issuer.token(RESOURCE, scope))

    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]


def test_a_token_is_for_agents_alone_and_keys_are_for_both(served: Server, issuer: AuthorizationServer) -> None:
    token = issuer.token(RESOURCE, ALL)

    assert post(served, token).status_code == 200
    assert served.client.get("/v1/facts", headers=sent(token)).status_code == 401
    assert served.client.get("/mcpx", headers=sent(token)).status_code == 401
    assert post(served, TEAM_READ).status_code == 200
    assert post(served, "unknown-key-0123456789").status_code == 401


# Tokens that are none.


def test_no_wrong_token_passes(served: Server, issuer: AuthorizationServer) -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    now = int(time.time())
    claims = jwt.decode(issuer.token(RESOURCE, ALL), options={"verify_signature": False})
    kid = jwt.get_unverified_header(issuer.token(RESOURCE, ALL))["kid"]
    head, body, signature = issuer.token(RESOURCE, ALL).split(".")
    wrong = {
        "expired": issuer.token(RESOURCE, ALL, exp=now - 3_600),
        "without an end": issuer.token(RESOURCE, ALL, exp=None),
        "not yet": issuer.token(RESOURCE, ALL, nbf=now + 3_600),
        "for another resource": issuer.token("https://memory.example.org/other", ALL),
        "for the host": issuer.token("https://memory.example.org", ALL),
        "for none": issuer.token(RESOURCE, ALL, aud=None),
        "of another issuer": issuer.token(RESOURCE, ALL, iss="https://evil.example"),
        "of another key": jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid}),
        "of an unknown key": jwt.encode(claims, key, algorithm="RS256", headers={"kid": "other"}),
        "unsigned": jwt.encode(claims, None, algorithm="none", headers={"kid": kid}),
        "symmetric": jwt.encode(claims, "x" * 64, algorithm="HS256", headers={"kid": kid}),
        "with another signature": f"{head}.{body}.{signature[::-1]}",
        "without one": f"{head}.{body}.",
        "cut": f"{head}.{body}",
        "too long": "a" * 20_000,
        "no token": "a.b.c",
    }
    for name, token in wrong.items():
        answer = post(served, token)
        assert answer.status_code == 401, name
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"], name
        assert token not in answer.text, name
    assert all(token not in served.log for token in wrong.values())
    assert post(served, issuer.token(RESOURCE, ALL)).status_code == 200


# Its keys.


def tokens(issuer: str, now: list[float]) -> AccessTokens:
    config = OauthConfig(issuer=issuer, resource=RESOURCE)
    return AccessTokens(config, SigningKeys(config, lambda: now[0]))


def test_a_new_key_is_fetched_once_and_strangers_make_nobody_ask_again() -> None:
    now = [0.0]
    with authorizing() as issuer:
        verified = tokens(issuer.issuer, now)
        old = issuer.token(RESOURCE, ALL)
        assert verified.caller(old).permission is Permission.ADMIN
        assert verified.caller(old) == verified.caller(issuer.token(RESOURCE, ALL))
        issuer.rotate()
        new = issuer.token(RESOURCE, ALL)
        for _ in range(5):
            with pytest.raises(TokenRefused):  # the server was asked just now
                verified.caller(new)
        assert issuer.asked["/keys"] == 1
        now[0] += 31
        assert verified.caller(new).groups == ""
        assert issuer.asked["/keys"] == 2
        with pytest.raises(TokenRefused):
            verified.caller(old)  # its key was withdrawn
    now[0] += 4_000
    assert verified.caller(new).name.startswith("oauth-")  # the server is gone, and its keys serve on


def test_a_server_that_cannot_be_asked_is_said_to_be_away() -> None:
    with authorizing() as issuer:
        token = issuer.token(RESOURCE, ALL)
    with pytest.raises(UnavailableError, match="keys cannot be fetched"):
        tokens(issuer.issuer, [0.0]).caller(token)


@pytest.mark.parametrize("address", ["http://auth.example.org", "ftp://x", "auth.example.org", "https://a?b=c"])
def test_an_address_that_is_not_safe_is_refused(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASOF_MCP_OAUTH", json.dumps({"issuer": address, "resource": RESOURCE}))
    with pytest.raises(InvalidInput, match="https address"):
        read()
