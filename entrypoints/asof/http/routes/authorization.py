"""Authorization: a route names the permission that it needs by the type of its `caller`, and checks each group.

The authentication middleware has identified the caller before a route runs.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from asof.service.api_keys import Caller, Permission


def _at_least(needed: Permission) -> Callable[[Request], Awaitable[Caller]]:
    async def permitted(request: Request) -> Caller:
        caller: Caller = request.scope["caller"]
        if caller.permission < needed:
            raise HTTPException(
                403, f"This key lacks the permission {needed.name.lower()}: it has {caller.permission.name.lower()}."
            )
        return caller

    return permitted


may_read, may_write, may_administer = (Depends(_at_least(needed)) for needed in Permission)
Reading = Annotated[Caller, may_read]
Writing = Annotated[Caller, may_write]
Administering = Annotated[Caller, may_administer]


def expect_own(caller: Caller, *groups: str | None) -> None:
    """Answer 403 unless every group is the caller's. None, or no group at all, means all groups."""
    if not all(caller.owns(group or "") for group in groups or [None]):
        raise HTTPException(403, "this key is for some groups only: name one whose id begins as the key's groups do")
