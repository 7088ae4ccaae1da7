"""What a caller may do. A route says what it needs by the type of its `caller`, and asks it about each group.

The guard has found out who it is before any route is reached.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from asof.service.api_keys import Caller, Permission


def _at_least(needed: Permission) -> Callable[[Request], Awaitable[Caller]]:
    async def permitted(request: Request) -> Caller:
        caller: Caller = request.scope["caller"]
        if caller.permission < needed:
            raise HTTPException(403, f"this key may {caller.permission.name.lower()}: this needs {needed.name.lower()}")
        return caller

    return permitted


may_read, may_write, may_administer = (Depends(_at_least(needed)) for needed in Permission)
Reading = Annotated[Caller, may_read]
Writing = Annotated[Caller, may_write]
Administering = Annotated[Caller, may_administer]


def expect_own(caller: Caller, *groups: str | None) -> None:
    """Refuse, with 403, groups that are not the caller's. None, or no group at all, means all that there are."""
    if not all(caller.owns(group or "") for group in groups or [None]):
        raise HTTPException(403, "this key is for some groups only: name one whose id begins as the key's groups do")
