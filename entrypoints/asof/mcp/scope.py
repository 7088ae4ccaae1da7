"""The scope of a client: whose memory its tools may read and write. It comes from the address and the key."""

from collections.abc import Sequence
from dataclasses import dataclass

from asof.operations.errors import InvalidInput
from asof.operations.messages import check_group
from asof.operations.queries import DEFAULT_GROUP
from asof.service.api_keys import EVERYBODY, Caller, Permission


@dataclass(frozen=True, slots=True)
class ClientScope:
    """The caller, and the group of the address; None: any group that is the caller's."""

    group: str | None = None
    caller: Caller = EVERYBODY
    read_only: bool = False

    def may(self, needed: Permission) -> bool:
        """Whether the caller has a permission here."""
        return self.caller.permission >= needed and (needed is Permission.READ or not self.read_only)

    def one(self, asked: str | None) -> str:
        """Return the group of a call; none named means the one of the address, or `default`. InvalidInput."""
        return self._own(asked or self.group or DEFAULT_GROUP, "group_id")

    def several(self, asked: Sequence[str]) -> tuple[str, ...]:
        """Return the groups of a call, each once, as `one` does."""
        groups = [group for group in asked if group] or [self.group or DEFAULT_GROUP]
        return tuple(dict.fromkeys(self._own(group, "group_ids") for group in groups))

    def owns(self, group: str) -> bool:
        """Whether something of a group may be shown."""
        return group == self.group if self.group is not None else self.caller.owns(group)

    def _own(self, group: str, field: str) -> str:
        try:
            check_group(group)
        except InvalidInput as error:
            raise error.within(field) from None
        if self.group is not None and group != self.group:
            raise InvalidInput("this address is of one group, and this is another one: leave it out", field=field)
        if not self.caller.owns(group):
            raise InvalidInput("the key is for other groups: name one whose id begins as those of the key", field=field)
        return group
