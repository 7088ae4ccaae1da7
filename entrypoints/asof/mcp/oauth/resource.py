"""The metadata of the protected resource (RFC 9728), by which clients find the authorization server, and challenges."""

import json
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from asof.mcp.oauth.tokens import SCOPES, WANTED
from asof.settings import OauthConfig

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def metadata_paths(config: OauthConfig) -> tuple[str, ...]:
    """Return the paths of the metadata: that of the resource, and the one of the whole host, where old clients look."""
    path = urlsplit(config.resource).path.rstrip("/")
    return tuple(dict.fromkeys((WELL_KNOWN + path, WELL_KNOWN)))


def metadata_routes(config: OauthConfig) -> list[Route]:
    """Return the routes of the metadata, which need no token."""
    text = json.dumps(
        {
            "resource": config.resource,
            "authorization_servers": [config.issuer],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "asof",
        }
    )

    async def metadata(request: Request) -> Response:
        del request
        return Response(text, media_type="application/json", headers={"Access-Control-Allow-Origin": "*"})

    return [Route(path, metadata, methods=["GET"], name="oauth") for path in metadata_paths(config)]


def challenge(config: OauthConfig, reason: str | None) -> str:
    """Return the WWW-Authenticate of a refusal: where the metadata is, and which scopes to ask for."""
    parts = urlsplit(config.resource)
    address = f"{parts.scheme}://{parts.netloc}{metadata_paths(config)[0]}"
    error = "" if reason is None else f', error="{reason}"'
    return f'Bearer realm="asof"{error}, resource_metadata="{address}", scope="{WANTED}"'
