"""Idempotency: a write that is sent again under its key, after an answer that was lost, is done once.

The same key with anything else is refused with 422. Keys are kept for a day, each caller's apart from those of others.
"""

from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header, Request

from asof.http.routes.authorization import Writing
from asof_streams.sqlite_requests import KeyedRequest as Asked

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Sent again with the same request within a day, nothing is done again; the answer is the same.",
        examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ),
]


async def _once(request: Request, caller: Writing, key: Key = None) -> Asked | None:
    if key is None:
        return None
    said = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return Asked(_digest(caller.name.encode(), key.encode()), _digest(said, await request.body()))


Once = Annotated[Asked | None, Depends(_once)]


def _digest(*parts: bytes) -> bytes:
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.digest()
