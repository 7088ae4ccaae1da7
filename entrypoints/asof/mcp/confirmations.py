"""Confirmations of what cannot be taken back: by the user, where the client can ask, else by a token of the dry run."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest, digest
from secrets import token_bytes
from typing import Any, Final

from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from asof.mcp.scope import ClientScope

_KEY: Final = token_bytes(32)  # of this process: what another one showed is shown again
_QUESTION: Final = "confirmation"  # the one that is asked
_FIELD: Final = "confirmed"


class InputNeeded(Exception):
    """The client has to ask its user, and to send the call again with the answer."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("the client has to ask its user")
        self.result: Final = result


def token_of(scope: ClientScope, kind: str, *shown: str | int | Sequence[int] | None) -> str:
    """Return the token of what was shown to a caller: it is of no other caller, address, kind, or thing shown."""
    whole = json.dumps([kind, scope.caller.name, scope.group, *shown])
    return urlsafe_b64encode(digest(_KEY, whole.encode(), sha256)[:24]).decode()


def is_token(given: str, token: str) -> bool:
    """Whether a text is a token. It takes as long, whatever of it is right."""
    return compare_digest(given.encode("utf-8", "replace"), token.encode())


class Confirmation:
    """The way to the user of a client, for one call."""

    def __init__(self, context: Any = None, params: types.CallToolRequestParams | None = None) -> None:
        self._session = None if context is None else context.session
        self._request_id = None if context is None else context.request_id
        self._params = params

    async def asked(self, question: str, token: str) -> bool | None:
        """Ask the user; return whether they confirm. None: this client cannot ask. `token`: of what is asked about.

        InputNeeded: the client asks, and calls again; an answer about anything else is not taken for one.
        """
        if self._session is None or not _can_ask(self._session):
            return None
        form: Any = {
            "type": "object",
            "properties": {_FIELD: {"type": "boolean", "title": "Erase this for ever", "default": False}},
            "required": [_FIELD],
        }
        if self._session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer = self._answer(token)
            if answer is None:
                params = types.ElicitRequestFormParams(message=question, requested_schema=form)
                requests: Any = {_QUESTION: types.ElicitRequest(params=params)}
                raise InputNeeded(types.InputRequiredResult(input_requests=requests, request_state=token))
            return _is_confirmed(answer)
        if not self._session.can_send_request:
            return None
        try:
            return _is_confirmed(await self._session.elicit_form(question, form, self._request_id))
        except MCPError:  # it cannot, after all
            return None

    def _answer(self, token: str) -> Any:
        """Return the answer to the question that has a token; None: there is none."""
        if self._params is None or not is_token(self._params.request_state or "", token):
            return None
        return (self._params.input_responses or {}).get(_QUESTION)


def _can_ask(session: Any) -> bool:
    capabilities = session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _is_confirmed(answer: Any) -> bool:
    is_accepted = isinstance(answer, types.ElicitResult) and answer.action == "accept"
    return is_accepted and (answer.content or {}).get(_FIELD) is True
