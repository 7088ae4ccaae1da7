"""Access tokens: JSON Web Tokens that an authorization server signed for this resource, and what their scopes allow.

`asof:read`, `asof:write` and `asof:admin` are the permissions of API keys. `asof:group:PREFIX` allows the groups whose
id begins so, `asof:groups` all of them; a token without either allows none.
"""

from hashlib import sha256
from typing import Any, Final

from asof.mcp.oauth.signing_keys import SigningKeys
from asof.service.api_keys import Caller, Permission
from asof.settings import OauthConfig

SCOPES: Final = ("asof:read", "asof:write", "asof:admin", "asof:groups")
WANTED: Final = "asof:write asof:groups"  # what clients ask for, unless the server grants less
_GROUP: Final = "asof:group:"
_ALL_GROUPS: Final = "asof:groups"
_PERMISSIONS: Final = {f"asof:{one.name.lower()}": one for one in Permission}
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY_SECONDS: Final = 30
_LONGEST: Final = 16_384  # characters


class TokenRefused(Exception):
    """A token that cannot be used here. `reason` is a code of RFC 6750."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AccessTokens:
    """Verifies the access tokens of one authorization server."""

    def __init__(self, config: OauthConfig, keys: SigningKeys | None = None) -> None:
        self.config: Final = config
        self._keys = SigningKeys(config) if keys is None else keys

    def caller(self, token: str) -> Caller:
        """Return whose token it is, with the permission and groups of its scopes. It may ask the server for its keys.

        TokenRefused: it is none of this server for this resource, or expired, or its scopes allow nothing here.
        UnavailableError: the server's keys cannot be fetched.
        """
        claims = self._claims(token)
        scopes = _scopes_of(claims)
        permission = max((_PERMISSIONS[scope] for scope in scopes if scope in _PERMISSIONS), default=None)
        groups = "" if _ALL_GROUPS in scopes else _group_of(scopes)
        if permission is None or groups is None:
            raise TokenRefused("insufficient_scope")
        whose = f"{claims['iss']}\n{claims.get('sub') or claims.get('client_id') or ''}"
        return Caller(f"oauth-{sha256(whose.encode()).hexdigest()[:16]}", permission, groups)

    def _claims(self, token: str) -> dict[str, Any]:
        import jwt

        if len(token) > _LONGEST:
            raise TokenRefused("invalid_token")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in _ALGORITHMS:
                raise TokenRefused("invalid_token")
            key = self._keys.key(header.get("kid"))
            if key is None:
                raise TokenRefused("invalid_token")
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[header["alg"]],
                issuer=self.config.issuer,
                audience=self.config.resource,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):  # a key of another kind than the algorithm is a TypeError
            raise TokenRefused("invalid_token") from None
        return claims


def _scopes_of(claims: dict[str, Any]) -> frozenset[str]:
    """Return the scopes: a text with spaces between them, or a list, as some servers have it."""
    found = claims.get("scope", claims.get("scp", ""))
    words = found.split() if isinstance(found, str) else found if isinstance(found, list) else ()
    return frozenset(word for word in words if isinstance(word, str))


def _group_of(scopes: frozenset[str]) -> str | None:
    """Return what the id of each allowed group begins with; None: none is named, or several are."""
    named = [scope.removeprefix(_GROUP) for scope in scopes if scope.startswith(_GROUP) and scope != _GROUP]
    return named[0] if len(named) == 1 else None
