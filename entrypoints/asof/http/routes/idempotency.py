"""Idempotency: a write that a client sends again under its `Idempotency-Key` is done once.

The same key with another request is answered 422. Keys are kept for a day; callers do not share them.
"""

from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Header, Request

from asof.http.routes.authorization import Writing
from asof.operations.messages import KeyedRequest as Asked

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same request under the same key is done once within a day, and answered alike.",
        examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ),
]


async def _once(request: Request, caller: Writing, key: Key = None) -> Asked | None:
    if key is None:
        return None
    # The key is part of both, and stored nowhere: nobody can guess suppressed content by a digest.
    said = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return Asked(_digest(caller.name.encode(), key.encode()), _digest(key.encode(), said, await request.body()))


Once = Annotated[Asked | None, Depends(_once)]


def _digest(*parts: bytes) -> bytes:
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.digest()
