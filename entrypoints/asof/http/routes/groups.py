"""Canonical group ids: tools that name the same scope and key share one memory.

The id is a pure function of scope and key: all services and all releases give the same one.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from asof.http.routes.authorization import may_read
from asof.http.routes.routers import KEY, graphiti_router
from asof.http.schemas.body import Body
from asof.operations.messages import canonical_group

router = graphiti_router("groups", KEY)

_FOLDED = "github_login:"  # GitHub takes a login in any case


class Resolve(Body):
    """The owner of a memory: a scope, and a key within it."""

    scope: Literal["user", "workspace", "session"]
    key: str = Field(min_length=1, max_length=1_000, description="Such as github_login:octocat.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"scope": "user", "key": "github_login:octocat"}]})

    @field_validator("key")
    @classmethod
    def _tidy(cls, key: str) -> str:
        tidy = key.strip()
        if not tidy:
            raise ValueError("it must not be empty")
        return tidy.lower() if tidy.lower().startswith(_FOLDED) else tidy


class Resolved(BaseModel):
    """The group of an owner."""

    group_id: str = Field(examples=["user-f8215d6c-cd87-5967-abd7-4f653da7214c"])


@router.post("/groups/resolve", dependencies=[may_read])
async def resolve(given: Resolve) -> Resolved:
    """Return the group id of a key within a scope. It never changes, and the group need not have a memory."""
    return Resolved(group_id=canonical_group(given.scope, given.key))
